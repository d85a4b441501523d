"""A sample on the home page: a figure of its run, with what it says in a sentence."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.shared import run_progress, run_view, samples
from dashboard.shared.face import AnyFace, HomeFigure
from dashboard.shared.run_links import run_link
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError
from engine.messages.languages import tr, translated
from engine.runs.storage.run_record import RunRecord


def sample_card(face: AnyFace, home: HomeFigure[Any], view: RunRecord) -> None:
    """Draw a figure of a sample's run with its meaning and the door to its page, or its progress or error."""
    with st.container(border=True):
        st.markdown(f"**{tr(face.page.title)}** :gray[{tr(home.question)}]")  # untranslated
        if view.state == "done":
            try:
                result = run_view.load_result(view.id)
                home.draw(result, view.id)
                st.caption(verbatim(translated(face.found(result))))
            except EngineError as error:
                show_error(error)
        elif view.state in run_progress.ACTIVE:
            run_progress.progress(view)
        else:
            st.warning(
                verbatim(translated(view.message) if view.message else tr("This run was stopped.")),
                icon=":material/error:",
            )
            if st.button(tr("Try again"), key=f"sample-again-{face.kind}", icon=":material/refresh:"):
                samples.forget()
                st.rerun()
        run_link(view, tr("Open the result") if view.state == "done" else tr("Open the page"))
