"""What stands around every page: the language of the document and of Streamlit's widgets, and what these lack in
accessibility."""

from __future__ import annotations

import json
import re
from pathlib import Path

import streamlit as st

from engine.messages.languages import language, mark, tr

STYLE, SCRIPT = (Path(__file__).with_suffix(suffix) for suffix in (".css", ".js"))
# What Streamlit's own widgets say, each text as their JavaScript has it, with {} for a value of theirs.
WIDGET_TEXTS = (
    mark("Upload"),
    mark("{} per file"),
    mark("Drag and drop a file here"),
    mark("Drag and drop files here"),
    mark("Add files"),
    mark("File must be {} or smaller."),
    mark("{} files are not allowed."),
    mark("Only one file is allowed."),
    mark("Upload failed"),
    mark("Press Enter to apply"),
    mark("Press Enter to submit form"),
    mark("Press {}+Enter to apply"),
    mark("Press {}+Enter to submit form"),
    mark("Choose an option"),
    mark("Choose options"),
    mark("No options to select"),
    mark("No results"),
    mark("Show/hide columns"),
    mark("Download as CSV"),
    mark("Search"),
    mark("Fullscreen"),
    mark("Close fullscreen"),
    mark("Sort ascending"),
    mark("Sort descending"),
    mark("Statistics"),
    mark("Format"),
    mark("Autosize"),
    mark("Pin column"),
    mark("Unpin column"),
    mark("Hide column"),
    mark("System"),
    mark("Light"),
    mark("Dark"),
    mark("Print"),
    mark("Record screen"),
)


def draw() -> None:
    """Put the style and the script into the page; neither takes room."""
    st.html(
        f"<style>{STYLE.read_text(encoding='utf-8')}</style><script>{script()}</script>", unsafe_allow_javascript=True
    )


def script() -> str:
    """The script in the reader's language."""
    text = SCRIPT.read_text(encoding="utf-8")
    return text.replace('"LANGUAGE"', json.dumps(language())).replace('"WORDS"', json.dumps(_words()))


def _words() -> list[tuple[str, str]]:
    """JavaScript's expressions for the texts that the reader's language has others for, and those."""
    words = ((text, tr(text)) for text in WIDGET_TEXTS)
    return [
        (re.escape(text).replace(re.escape("{}"), "(.+)"), said.replace("{}", "$1"))
        for text, said in words
        if said != text
    ]
