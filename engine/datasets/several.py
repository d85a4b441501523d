"""Several files of one dataset: what is wrong with any of them is told at once, as all bad rows of one file are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.messages.message import Message, together

ERRORS_IN_MESSAGE = 5
IN_FILE = Message("{name}: {reason}")
MORE = Message("There are errors in {files} more.")

Result = TypeVar("Result")
Content = TypeVar("Content")


def read_all(
    sources: Iterable[tuple[str, Content]], read: Callable[[tuple[str, Content]], Result]
) -> list[tuple[str, Result]]:
    """What `read` returns of each source (name, content), with the name.

    Raises InputError, as `error_of` has it, after all sources were tried.
    """
    found: list[tuple[str, Result]] = []
    errors: list[tuple[str, InputError]] = []
    for source in sources:
        try:
            found.append((source[0], read(source)))
        except InputError as error:
            errors.append((source[0], error))
    if errors:
        raise error_of(errors)
    return found


def error_of(errors: Sequence[tuple[str, InputError]]) -> InputError:
    """One error for those of several files, each with the name of its file: of one file its own.

    Of several the messages come one after the other, and their rows, each with the name of its file, file by file.
    """
    if len(errors) == 1:
        return errors[0][1]
    parts = [part for _, error in errors[:ERRORS_IN_MESSAGE] for part in error.message.parts]
    if len(errors) > ERRORS_IN_MESSAGE:
        parts.append(MORE.format(files=count(len(errors) - ERRORS_IN_MESSAGE, "file")))
    rows = [
        BadRow(bad.row, IN_FILE.format(name=name, reason=bad.reason)) for name, error in errors for bad in error.rows
    ]
    combined = InputError(together(" ", dict.fromkeys(parts)), rows)
    combined.can_skip = all(error.can_skip for _, error in errors if error.rows)
    return combined
