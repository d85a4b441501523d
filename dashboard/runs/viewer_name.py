"""The name under which the others of an instance without sign-in see the runs of a browser."""

from __future__ import annotations

import streamlit as st

from dashboard.shared import session
from dashboard.shared.headlines import owner_word
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError
from engine.messages.languages import tr
from engine.runs.access.access import MAX_VIEWER_NAME_CHARACTERS
from engine.runs.storage.searching import BROWSER_PREFIX


def name_popover() -> None:
    """Draw the present name and a form that changes it; nothing where the viewer is no browser with a cookie."""
    access = session.access()
    viewer = access.viewer.id
    if not viewer.startswith(BROWSER_PREFIX):
        return
    name = owner_word(viewer, access.owner_names([viewer])[viewer])
    with (
        st.popover(
            tr("You: {name}", name=verbatim(name)), type="tertiary", icon=":material/person:", key="runs-my-name"
        ),
        st.form("runs-my-name-form", border=False),
    ):
        wanted = st.text_input(
            tr("Your name in the lists of others"),
            max_chars=MAX_VIEWER_NAME_CHARACTERS,
            key="runs-my-name-text",
            placeholder=name,
            help=tr("This browser is recognised by a cookie. Without the cookie its runs stay in “All runs here”."),
        )
        if st.form_submit_button(tr("Save"), type="primary", key="runs-my-name-save"):
            try:
                access.name_myself(wanted)
            except EngineError as error:
                show_error(error)
                return
            st.rerun()
