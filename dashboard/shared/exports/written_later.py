"""Files that are written when their button is pressed, in the language that the page had when the button was drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from engine.messages.languages import in_language, language

Content = TypeVar("Content")


def in_readers_language(write: Callable[[], Content]) -> Callable[[], Content]:
    """`write` for a download: Streamlit calls it outside of the page, where no reader and so no language is known."""
    wanted = language()

    def written() -> Content:
        with in_language(wanted):
            return write()

    return written
