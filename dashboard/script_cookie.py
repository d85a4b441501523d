"""A cookie that the page's script sets, for what a browser is to remember without a request of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

SCRIPT = """// A cookie of the browser can only be set there.  # untranslated
export default function ({ data }) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${data.name}=${data.value}; path=/; max-age=${data.seconds}; SameSite=Lax${secure}`;
}"""


def set_cookie(name: str, value: str, seconds: int) -> None:
    """Have the browser keep `value`, of characters that a cookie may hold, for so many seconds; 0 takes it away."""
    _component()(data={"name": name, "value": value, "seconds": seconds}, key=f"{name}-{value}-{seconds}", height=0)


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    return st.components.v2.component("hakari_cookie", js=SCRIPT)
