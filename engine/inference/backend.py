"""The interface of a compute backend: what the gateway needs from the processes that hold the models.

`LocalWorkers` implements it with processes on this machine, `RayWorkers` with a Ray cluster, tests with a fake.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

from engine.inference.statistics import Statistics
from engine.inference.worker_state import WorkerState
from engine.models.sources.model_location import LocatedModel

# The result for one item: named arrays, strings, numbers and lists of strings.
Piece = dict[str, Any]
# What to compute: {"model": str, "revision": str | None, "items": [...], "settings": {...}}; for a model with code of its
# own that the operator allows also "own_code", the entries of the setting.
Request = dict[str, Any]
# Called while a model is downloaded: bytes done, bytes in total, label of the step.
DownloadProgress = Callable[[int, int, str], None]


class Backend(Protocol):
    """Finds models, and computes chunks of items: one piece per item, in their order."""

    statistics: Statistics

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices it computes on ("auto", "cpu", "cuda:0"); the last digits of numbers may depend on them."""

    def locate(self, model: str, revision: str | None, report: DownloadProgress | None) -> LocatedModel:
        """Where a model is; downloads it if needed. Blocks; raises ModelError when there is no such model."""

    def run(self, operation: str, request: Request, run_id: str) -> Future[list[Piece]]:
        """Queue one chunk for a run; the future fails with what the computation raised, or with WorkerDied."""

    def cancel(self, run_id: str) -> None:
        """Drop the run's queued chunks; their futures are cancelled."""

    def pids(self) -> list[int]:
        """The process ids of the live workers on this machine."""

    def fault(self) -> str:
        """Why nothing can be computed at the moment; "" when it can, even if no process has started yet."""

    def workers(self) -> tuple[WorkerState, ...]:
        """The models in memory and the current chunk of every live worker. Returns without waiting for a chunk."""

    def close(self) -> None:
        """Stop all work, running chunks included; afterwards nothing can be queued."""
