"""The reports of pages that are drawn for a site: what *Export* would write, handed over as a page is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dashboard.shared.exports.report import Report
from engine.runs.storage.run_record import RunRecord


@dataclass(frozen=True)
class Collected:
    """A run with its report in the language of the page. tables: writes all of them as a zip, with the signature."""

    run: RunRecord
    report: Report
    tables: Callable[[], bytes]


_kept: list[Collected] | None = None


def is_collecting() -> bool:
    """Whether pages are drawn for their reports."""
    return _kept is not None


def collect(collected: Collected) -> None:
    """Hand over a report. Raises RuntimeError where none are collected."""
    if _kept is None:
        raise RuntimeError("no reports are collected")  # untranslated
    _kept.append(collected)


@contextmanager
def collecting() -> Iterator[list[Collected]]:
    """Give the list of all that is handed over in the block, by whatever thread draws."""
    global _kept
    _kept = []
    try:
        yield _kept
    finally:
        _kept = None
