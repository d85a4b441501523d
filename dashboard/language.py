"""The language of the pages: the browser's at first, then the one that was chosen at the top of a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine.translation import ENGLISH, LANGUAGES, chosen_by, known, tr

KEY = "language"
COOKIE = "hakari_language"
COOKIE_SECONDS = 400 * 86_400  # the longest that browsers keep one
CHANGED = "language-changed"
SCRIPT = """// A cookie of the browser can only be set there.  # untranslated
export default function ({ data }) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${data.name}=${data.value}; path=/; max-age=${data.seconds}; SameSite=Lax${secure}`;
}"""


def follow_reader() -> None:
    """Show every text from now on in the language of the browser that asks for it."""
    if KEY not in st.session_state:
        st.session_state[KEY] = known(str(st.context.cookies.get(COOKIE) or st.context.locale))
    chosen_by(_of_session)


def switch() -> None:
    """The choice of the language. The page keeps its state; the browser remembers the choice."""
    st.segmented_control(tr("Language"), list(LANGUAGES), format_func=LANGUAGES.__getitem__, key=KEY, required=True,
                         label_visibility="collapsed", on_change=_remember)
    if st.session_state.get(CHANGED):
        _component()(data={"name": COOKIE, "value": st.session_state[KEY], "seconds": COOKIE_SECONDS},
                     key=f"language-cookie-{st.session_state[KEY]}", height=0)


def _of_session() -> str:
    if get_script_run_ctx(suppress_warning=True) is None:  # a thread that draws no page
        return ENGLISH
    return str(st.session_state.get(KEY) or ENGLISH)


def _remember() -> None:
    st.session_state[CHANGED] = True


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    return st.components.v2.component("hakari_language", js=SCRIPT)
