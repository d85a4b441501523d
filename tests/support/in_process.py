"""Backends with the real models that start no processes of their own: in the calling thread, or in kept workers."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from engine.errors import EngineError
from engine.inference.local.workers import LocalWorkers
from engine.inference.statistics import Statistics
from engine.models import worker
from engine.models.sources.model_location import LocatedModel, locate


class InProcess:
    """Implements `engine.inference.backend.Backend` on the CPU."""

    devices = ("cpu",)

    def __init__(self) -> None:
        self.statistics = Statistics()
        self.cancelled: list[str] = []
        self.is_closed = False

    def locate(self, model: str, revision: str | None = None, report: Any = None) -> LocatedModel:
        return locate(model, revision, report)

    def run(self, operation: str, request: dict[str, Any], run_id: str) -> Future[list[dict[str, Any]]]:
        future: Future[list[dict[str, Any]]] = Future()
        try:
            future.set_result(worker.run_chunk(operation, request))
        except EngineError as error:
            future.set_exception(error)
        return future

    def cancel(self, run_id: str) -> None:
        self.cancelled.append(run_id)

    def pids(self) -> list[int]:
        return [1]

    def fault(self) -> str:
        return "of the other"

    def workers(self) -> tuple[()]:
        return ()

    def close(self) -> None:
        self.is_closed = True


class KeptWorkers(LocalWorkers):
    """The worker processes of all commands of a test session: each new one imports torch and transformers.

    An engine that is closed leaves them alone. A new process for each command is what the examples of the documents
    and the browser's tests have.
    """

    def close(self, grace_seconds: float | None = None) -> None:
        """Do nothing; `end` closes them."""

    def end(self) -> None:
        """Close them."""
        super().close()
