"""Bounds on what a reader yields, counted while it reads, and how far it has come.

A small file may hold a large table: columns that every row has, repeated texts that compress well. So the cells of a
table are counted as they are read, over all tables of one file, whatever the size of the file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from engine.errors import BadRow, InputError
from engine.messages.message import Message

MAX_CELLS = 5_000_000  # rows x columns of all tables of one file; a million rows of five columns
MAX_BAD_ROWS = 100_000  # each is kept with its reason
REPORT_SECONDS = 0.5

Report = Callable[[int, int], None]  # bytes read, and bytes in all; 0 where that is not known


class Meter:
    """Counts what one file yields. `on_progress` is called at most every REPORT_SECONDS."""

    def __init__(self, on_progress: Report | None = None) -> None:
        self._on_progress = on_progress
        self._next_report = 0.0
        self._max_cells = max_cells()
        self.n_cells = 0

    def count_cells(self, n: int, name: str) -> None:
        """Count `n` further cells of the file `name`. Raises InputError when there are too many."""
        self.n_cells += n
        if self.n_cells > self._max_cells:
            raise InputError(
                Message(
                    "{name} holds more than {max_cells:,} cells (rows x columns), the most that are "
                    "read of one file. Split it into several files, leave out columns that are not "
                    "needed, or raise the bound with HAKARI_MAX_CELLS.",
                    name=name,
                    max_cells=self._max_cells,
                )
            )

    def report(self, done: int, total: int = 0) -> None:
        """Report how far the reader has come."""
        if self._on_progress is not None and (now := time.monotonic()) >= self._next_report:
            self._next_report = now + REPORT_SECONDS
            self._on_progress(done, total)


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered(on_progress: Report | None = None) -> Iterator[Meter]:
    """Count what is read inside; inside another such block that one's count goes on."""
    outer = _meter.get()
    if outer is not None:
        yield outer
        return
    meter = Meter(on_progress)
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def current_meter() -> Meter:
    """The meter of the block that this is called in; outside of any a new one."""
    return _meter.get() or Meter()


def report(done: int, total: int = 0) -> None:
    """Report how far the reader has come; without effect outside of `metered`."""
    meter = _meter.get()
    if meter is not None:
        meter.report(done, total)


def refuse_bad_rows(name: str, bad: list[BadRow], expected: str) -> None:
    """Raise InputError once there are more than MAX_BAD_ROWS; `expected` says what every row needs."""
    if len(bad) > MAX_BAD_ROWS:
        raise InputError(
            Message(
                "{name} has more than {MAX_BAD_ROWS:,} rows that cannot be read; the rest of it was "
                "not looked at. {expected}",
                name=name,
                MAX_BAD_ROWS=MAX_BAD_ROWS,
                expected=expected,
            ),
            bad,
        )


def max_cells() -> int:
    """The largest number of cells that is read of one file: MAX_CELLS, or HAKARI_MAX_CELLS."""
    return int(number_of_environment("HAKARI_MAX_CELLS", MAX_CELLS, "cells"))


def number_of_environment(variable: str, default: float, unit: str) -> float:
    """A number above 0 from an environment variable. Raises InputError for anything else."""
    raw_value = os.environ.get(variable, "").strip()
    try:
        value = float(raw_value) if raw_value else default
        if not 0 < value < float("inf"):
            raise ValueError
    except ValueError as error:
        raise InputError(
            Message(
                "{variable} must be a number of {unit} above 0; got {raw_value!r}.",
                variable=variable,
                unit=unit,
                raw_value=raw_value,
            )
        ) from error
    return value
