"""Names of runs, and the error for an id without a run."""

from __future__ import annotations

from engine.errors import InputError, RunError
from engine.messages.message import Message

MAX_NAME_CHARACTERS = 200


def run_name(name: str) -> str:
    """A valid name of a run, stripped of white space. Raises InputError for an empty or too long one."""
    name = name.strip()
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
