"""One run's client of the backend: submits chunks, yields them as they complete, and stops when it is cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, Future
from functools import partial
from queue import Empty, SimpleQueue

from engine.errors import Cancelled
from engine.inference.backend import Backend, Piece, Request
from engine.messages.message import Message

# (items done, items in total, label of the step); while a model is downloaded, its bytes.
Progress = Callable[[int, int, str], None]

# (index of the request, its pieces) of a chunk that finished after its run had stopped.
OnLate = Callable[[int, list[Piece]], None]

# How often a run that waits for a chunk checks whether it was cancelled.
POLL_SECONDS = 0.1
# How often a lasting fault of the backend is reported.
FAULT_SECONDS = 10.0


class RunClient:
    """Every method raises Cancelled within `POLL_SECONDS` of `is_cancelled` becoming true."""

    def __init__(
        self, backend: Backend, run_id: str, on_progress: Progress | None, is_cancelled: Callable[[], bool] | None
    ) -> None:
        """`on_progress` and `is_cancelled` are called from any thread that works for the run, one at a time."""
        self.backend = backend
        self._run_id = run_id
        self._on_progress = on_progress
        self._is_cancelled = is_cancelled
        self._callback_lock = threading.RLock()
        self._last_progress = (0, 0, "")
        self._fault, self._fault_reported_at = "", 0.0

    def raise_if_cancelled(self) -> None:
        """Raise Cancelled if the run was cancelled."""
        if self._is_cancelled is not None:
            with self._callback_lock:
                is_cancelled = self._is_cancelled()
            if is_cancelled:
                raise Cancelled(Message("The run was cancelled."))

    def report(self, done: int, total: int, label: str) -> None:
        """Report the progress of the run."""
        self.raise_if_cancelled()
        self._last_progress, self._fault = (done, total, label), ""
        self._notify(done, total, label)

    def _notify(self, done: int, total: int, label: str) -> None:
        if self._on_progress is not None:
            with self._callback_lock:
                self._on_progress(done, total, label)

    def as_completed(
        self, operation: str, requests: Sequence[Request], on_late: OnLate | None = None
    ) -> Generator[tuple[int, list[Piece]], None, None]:
        """Submit every request; yields (index of the request, its pieces) in the order of completion.

        Raises what a chunk raised, after the run's queued chunks were cancelled. A chunk that was being computed when
        this ends early is passed to `on_late`, from another thread, if it still completes.
        """
        completed: SimpleQueue[Future[list[Piece]]] = SimpleQueue()
        index_by_future: dict[Future[list[Piece]], int] = {}
        try:
            for index, request in enumerate(requests):
                future = self.backend.run(operation, request, self._run_id)
                index_by_future[future] = index
                future.add_done_callback(completed.put)
            for _ in requests:
                future = self._next(completed)
                pieces = future.result()
                index = index_by_future.pop(future)
                n_items = len(requests[index]["items"])
                if len(pieces) != n_items:
                    raise RuntimeError(f"{operation} returned {len(pieces)} pieces for {n_items} items.")
                yield index, pieces
        except CancelledError:
            raise Cancelled(Message("The run was cancelled.")) from None
        finally:
            if index_by_future:  # not all chunks completed: an error, or the run was cancelled
                self.backend.cancel(self._run_id)
                for future, index in index_by_future.items() if on_late else ():
                    future.add_done_callback(partial(_deliver_late, on_late, index))

    def _next(self, completed: SimpleQueue[Future[list[Piece]]]) -> Future[list[Piece]]:
        while True:
            self.raise_if_cancelled()
            try:
                return completed.get(timeout=POLL_SECONDS)
            except Empty:
                self._report_fault()

    def _report_fault(self) -> None:
        """Report the backend's fault as the progress label, and the previous label again once the fault is over."""
        fault, now = self.backend.fault(), time.monotonic()
        if fault == self._fault and not (fault and now - self._fault_reported_at >= FAULT_SECONDS):
            return
        self._fault, self._fault_reported_at = fault, now
        done, total, label = self._last_progress
        self._notify(done, total, fault or label)


def _deliver_late(on_late: OnLate | None, index: int, future: Future[list[Piece]]) -> None:
    if on_late is not None and not future.cancelled() and future.exception() is None:
        on_late(index, future.result())
