"""Every error the engine raises on purpose.

    EngineError
    ├── InputError        what was given is wrong: a file, a row, a setting        exit 2
    ├── ModelError        a model cannot be found, read, or do what was asked      exit 2
    ├── AccessError       who asks may not have or change this                     exit 2
    └── RunError          the work failed although the input was right             exit 1
        ├── WorkerDied    a worker process ended twice on the same chunk
        └── Cancelled     somebody asked for the run to stop

A message says what is wrong, where, what was given and what would do. A page or a command catches
`EngineError` alone; anything else is a bug and surfaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ROWS_IN_MESSAGE = 20


@dataclass(frozen=True)
class BadRow:
    """One row of a file that cannot be used: its number (1 = first data row) and why."""

    row: int
    reason: str


class EngineError(Exception):
    """Root of the tree; never raised itself."""

    exit_code = 1


class InputError(EngineError):
    """What was given is wrong. `rows` lists every bad row of a file, not only the first."""

    exit_code = 2

    def __init__(self, message: str, rows: Sequence[BadRow] = ()) -> None:
        super().__init__(message, tuple(rows))
        self.message = message
        self.rows = tuple(rows)

    def __str__(self) -> str:
        """The message, then the first bad rows; `rows` holds them all."""
        listed = [f"  row {bad.row}: {bad.reason}" for bad in self.rows[:ROWS_IN_MESSAGE]]
        if len(self.rows) > ROWS_IN_MESSAGE:
            listed.append(f"  … and {len(self.rows) - ROWS_IN_MESSAGE} more rows")
        return "\n".join([self.message, *listed])


class ModelError(EngineError):
    """A model cannot be found, read, or do what was asked of it."""

    exit_code = 2


class AccessError(EngineError):
    """Who asks may not have or change this."""

    exit_code = 2


class RunError(EngineError):
    """The work failed although the input was right."""


class WorkerDied(RunError):
    """A worker process ended twice on the same chunk."""


class Cancelled(RunError):
    """Somebody asked for the run to stop."""
