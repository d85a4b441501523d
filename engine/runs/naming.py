"""Names of runs, and the error for an id without a run."""

from __future__ import annotations

import re

from engine.errors import InputError, RunError
from engine.messages.message import Message

MAX_NAME_CHARACTERS = 200
# Control characters, which a database may refuse, and those that turn the direction of all that follows on a page; not
# the end of a line.
_INVISIBLE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


def shown_text(text: str) -> str:
    """A text that somebody typed, or the name of a file, as others may be shown it: spaces for control characters.

    >>> shown_text("a\\0b\\u202ec")
    'a b c'
    """
    return _INVISIBLE.sub(" ", text.replace("\r\n", "\n")) if _INVISIBLE.search(text) else text


def run_name(name: str) -> str:
    """A valid name of a run, in one line, stripped of white space. Raises InputError for an empty or too long one."""
    name = shown_text(name).replace("\n", " ").strip()
    if not name:
        raise InputError(Message("A run needs a name; got an empty one."))
    if len(name) > MAX_NAME_CHARACTERS:
        raise InputError(
            Message(
                "A name has at most {MAX_NAME_CHARACTERS} characters; got {name}.",
                MAX_NAME_CHARACTERS=MAX_NAME_CHARACTERS,
                name=len(name),
            )
        )
    return name


def unknown_run(run_id: str) -> RunError:
    """The error for an id without a run."""
    return RunError(Message("There is no run {run_id!r}; it may have been deleted.", run_id=run_id))
