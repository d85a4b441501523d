"""What stands around every page: the language of the document, and what Streamlit's widgets lack in accessibility."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from engine.messages.languages import language

STYLE, SCRIPT = (Path(__file__).with_suffix(suffix) for suffix in (".css", ".js"))


def draw() -> None:
    """Put the style and the script into the page; neither takes room."""
    script = SCRIPT.read_text(encoding="utf-8").replace("LANGUAGE", language())
    st.html(
        f"<style>{STYLE.read_text(encoding='utf-8')}</style><script>{script}</script>", unsafe_allow_javascript=True
    )
