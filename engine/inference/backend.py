"""The compute seam: what the gateway asks of whoever holds the models.

`LocalWorkers` fills it with processes on this machine, tests fill it with a fake.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

from engine.inference.statistics import Statistics
from engine.inference.worker_state import WorkerState
from engine.models.sources.model_location import LocatedModel

# What is known of one item once it was computed: named arrays, strings, numbers and lists of strings.
Piece = dict[str, Any]
# What to compute: {"model": str, "revision": str | None, "items": [...], "settings": {...}}.
Request = dict[str, Any]
# Told while a model is fetched: bytes done, bytes in all, what is going on.
Report = Callable[[int, int, str], None]


class Backend(Protocol):
    """Finds models, and computes chunks of items: one piece per item, in their order."""

    statistics: Statistics

    @property
    def devices(self) -> tuple[str, ...]:
        """What it computes on ("auto", "cpu", "cuda:0"); numbers may differ by it in their last digits."""

    def locate(self, model: str, revision: str | None, report: Report | None) -> LocatedModel:
        """Where a model is, fetched where that is needed. Waits; raises ModelError when there is no such model."""

    def run(self, operation: str, request: Request, run_id: str) -> Future[list[Piece]]:
        """Queue one chunk for a run; the future fails with what the computation raised, or with WorkerDied."""

    def cancel(self, run_id: str) -> None:
        """Drop the run's chunks that nobody has started on; their futures are cancelled."""

    def pids(self) -> list[int]:
        """The processes that live now, where they are on this machine."""

    def fault(self) -> str:
        """Why nothing can be computed at the moment; "" when it can, which needs no process before there is work."""

    def workers(self) -> tuple[WorkerState, ...]:
        """What is in memory where, and who computes what. Answers at once, behind no chunk."""

    def close(self) -> None:
        """End the work at once, running chunks too; nothing can be queued after."""
