"""Every error the engine raises on purpose.

    EngineError
    ├── InputError        the input is wrong: a file, a row, a setting             exit 2
    ├── ModelError        a model cannot be found, read, or used for the task      exit 2
    ├── AccessError       the user may not read or change this                     exit 2
    └── RunError          the run failed although the input was valid              exit 1
        ├── WorkerDied    a worker process ended twice on the same chunk
        └── Cancelled     the run was cancelled

A message says what is wrong, where, what was given and how to correct it. A page or a command catches
`EngineError` alone; anything else is a bug and is not caught.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass

from engine.messages.message import Message, together

ROWS_IN_MESSAGE = 20
EMPTY = Message("")


# What the system says of a fault, by its number.
_REASONS = {
    errno.ENOENT: Message("No such file or directory"),
    errno.EACCES: Message("Permission denied"),
    errno.EISDIR: Message("Is a directory"),
    errno.ENOTDIR: Message("Not a directory"),
    errno.EEXIST: Message("File exists"),
    errno.ENOSPC: Message("No space left on device"),
    errno.EDQUOT: Message("Disk quota exceeded"),
    errno.EROFS: Message("Read-only file system"),
    errno.ENAMETOOLONG: Message("File name too long"),
    errno.ECONNREFUSED: Message("Connection refused"),
}


def reason_of(error: OSError) -> str:
    """Why the system refused, without the name of the file."""
    return _REASONS.get(error.errno or 0) or error.strerror or str(error)


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row of a file that cannot be used: its number (1 = first data row) and why."""

    row: int
    reason: Message


class EngineError(Exception):
    """The base class of all errors of the engine; never raised itself."""

    exit_code = 1

    def __init__(self, message: Message = EMPTY, *further: object) -> None:
        super().__init__(*([message] if message else []), *further)


class InputError(EngineError):
    """The input is wrong. `rows` lists every bad row of a file, not only the first.

    can_skip: whether the setting that skips bad rows would leave them out, as it does with those of data.
    """

    exit_code = 2
    can_skip = True

    def __init__(self, message: Message, rows: Sequence[BadRow] = ()) -> None:
        super().__init__(message, tuple(rows))
        self.message = message
        self.rows = tuple(rows)

    def __str__(self) -> str:
        """The message, then the first bad rows; `rows` holds them all."""
        listed = [
            Message("  row {row}: {reason}", row=bad.row, reason=bad.reason) for bad in self.rows[:ROWS_IN_MESSAGE]
        ]
        if len(self.rows) > ROWS_IN_MESSAGE:
            listed.append(Message("  … and {n} more rows", n=len(self.rows) - ROWS_IN_MESSAGE))
        return together("\n", [self.message, *listed])


class ModelError(EngineError):
    """A model cannot be found, read, or used for the task."""

    exit_code = 2


class AccessError(EngineError):
    """The user may not read or change this."""

    exit_code = 2


class RunError(EngineError):
    """The run failed although the input was valid."""


class WorkerDied(RunError):
    """A worker process ended twice on the same chunk."""


class Cancelled(RunError):
    """The run was cancelled."""
