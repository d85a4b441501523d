"""The language of the pages: the browser's at first, then the one that was chosen at the top of a page."""

from __future__ import annotations

import streamlit as st

from dashboard.script_cookie import set_cookie
from dashboard.streamlit_internals import is_drawing
from engine.messages.catalogues import ENGLISH
from engine.messages.languages import LANGUAGES, chosen_by, known, tr

KEY = "language"
BUTTONS = "language-buttons"  # the widget; its state ends with every page that it stood on
COOKIE = "hakari_language"
COOKIE_SECONDS = 400 * 86_400  # the longest that browsers keep one
CHANGED = "language-changed"


def follow_reader() -> None:
    """Show every text from now on in the language of the browser that asks for it."""
    if KEY not in st.session_state:
        st.session_state[KEY] = known(str(st.context.cookies.get(COOKIE) or st.context.locale))
    chosen_by(_of_session)


def switch() -> None:
    """The choice of the language. The page keeps its state; the browser remembers the choice."""
    st.session_state[BUTTONS] = st.session_state[KEY]
    st.segmented_control(
        tr("Language"),
        list(LANGUAGES),
        format_func=LANGUAGES.__getitem__,
        key=BUTTONS,
        required=True,
        label_visibility="collapsed",
        on_change=_choose,
    )
    if st.session_state.get(CHANGED):
        set_cookie(COOKIE, st.session_state[KEY], COOKIE_SECONDS)


def _of_session() -> str:
    if not is_drawing():
        return ENGLISH
    return str(st.session_state.get(KEY) or ENGLISH)


def _choose() -> None:
    st.session_state[KEY] = st.session_state[BUTTONS]
    st.session_state[CHANGED] = True
