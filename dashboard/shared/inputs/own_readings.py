"""The field for a list of readings of one's own."""

from __future__ import annotations

from typing import Any

from dashboard.shared.inputs import settings
from dashboard.shared.wording import show_error
from engine.errors import InputError
from engine.language.readings.own import in_one_line
from engine.options import Option

# An address with a longer list would not pass every proxy: a character of it takes nine.
MOST_CHARACTERS = 700


def own_readings_input(label: str, option: Option, *, key: str, first: Any = None, **look: Any) -> str:
    """Draw a field with an entry on each line; returns the list in one line, "" and an error where it is none."""
    typed = settings.typed_lines(label, option, key=key, first=first, **look)
    try:
        line = in_one_line(typed)
        check_length(line)
    except InputError as error:
        show_error(error)
        return ""
    return line


def check_length(line: str) -> None:
    """Raise InputError where a list in one line is too long for a page."""
    if len(line) > MOST_CHARACTERS:
        raise InputError(f"A list on a page has at most {MOST_CHARACTERS} characters, so that links can hold it; "
                         f"this one has {len(line):,}. A longer one is possible on the command line: "
                         "python -m engine alignment --readings FILE.")
