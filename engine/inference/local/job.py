"""A chunk on its way through a worker: sent, begun, and computed or cancelled."""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count

from engine.inference.backend import Piece, Request
from engine.inference.local.worker_process import WorkerProcess

_numbers = count()


@dataclass(eq=False)
class Job:
    """One chunk of a run. It can be cancelled until it begins, also when it was sent to a worker.

    since: when it began. sent_to, begun_on: the worker that has it; a worker that replaces that one does not.
    """

    operation: str
    request: Request
    run_id: str
    future: Future[list[Piece]] = field(default_factory=Future)
    number: int = field(default_factory=lambda: next(_numbers))
    since: float = 0.0
    sent_to: WorkerProcess | None = None
    begun_on: WorkerProcess | None = None

    def begin(self) -> bool:
        """Note that it begins; False where it was cancelled."""
        self.since = time.monotonic()
        return self.future.set_running_or_notify_cancel()

    def send_to(self, worker: WorkerProcess) -> None:
        """Send it, unless this worker has it. Raises as `WorkerProcess.send`."""
        if self.sent_to is not worker:
            worker.send(self.number, self.operation, self.request)
            self.sent_to = worker

    def begin_on(self, worker: WorkerProcess) -> None:
        """Let this worker compute it, unless it has begun there. Raises as `WorkerProcess.send`."""
        self.send_to(worker)
        if self.begun_on is not worker:
            worker.begin(self.number)
            self.begun_on = worker
