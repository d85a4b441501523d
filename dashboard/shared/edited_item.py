"""An item that was edited on a result's page and evaluated again: a small run, shown below the run it came from.

Its id is part of the page's address (`…&edited=<id>&of=<the run shown>`), so a reload keeps it.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.shared import run_progress, run_view, session
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError
from engine.messages.languages import tr, translated

POLL_SECONDS = 0.3
EDITED, OF = "edited", "of"


def submit_edited(kind: str, run_id: str, settings: Any, dataset: Any) -> None:
    """Submit what was edited on the page of `run_id`, and redraw the page with its address. Raises EngineError."""
    submission = session.access().submit(kind, settings, dataset)
    st.query_params.update({EDITED: submission.run_id, OF: run_id})
    st.rerun()


def edited_result(kind: str, run_id: str) -> tuple[str, Any] | None:
    """Id and result of the edited run that the address names, with its heading drawn; None where there is none.

    Until it is done this draws its progress, or its error. `kind` and `run_id` are those of the run shown.
    """
    edited = st.query_params.get(EDITED)
    if not edited or st.query_params.get(OF) != run_id:
        return None
    view = session.access().get(edited)
    if view is None or view.kind != kind:
        return None
    if view.state in run_progress.ACTIVE:
        _watch(edited)
        return None
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"**{tr('Edited')}**", width="content")
        if st.button(tr("Close"), key=f"{kind}-edited-close", type="tertiary", icon=":material/close:"):
            del st.query_params[EDITED], st.query_params[OF]
            st.rerun()
    if view.state != "done":
        message = translated(view.message) if view.message else tr("This run was stopped.")
        st.error(verbatim(message), icon=":material/error:")
        return None
    try:
        return edited, run_view.load_result(edited)
    except EngineError as error:
        show_error(error)
        return None


@st.fragment(run_every=POLL_SECONDS)
def _watch(edited: str) -> None:
    """The progress of the small run, redrawn at intervals."""
    view = run_progress.still_active(edited)
    if view is not None:
        run_progress.progress(view)
