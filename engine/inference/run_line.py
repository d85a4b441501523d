"""One run's line to the backend: queue its chunks, hear of each as it finishes, stop at once when told to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, Future
from functools import partial
from queue import Empty, SimpleQueue

from engine.errors import Cancelled
from engine.inference.backend import Backend, Piece, Request

# (items done, items in all, what is being computed); while a model is fetched, its bytes.
Progress = Callable[[int, int, str], None]

# (number of the request, its pieces), of a chunk that finished after its run had stopped.
Late = Callable[[int, list[Piece]], None]

# How long a run waits for a chunk before it asks again whether it was cancelled.
POLL_SECONDS = 0.1
# How often it says, while it lasts, why nothing is computed.
FAULT_SECONDS = 10.0


class RunLine:
    """Every method raises Cancelled within a moment of `is_cancelled` becoming true."""

    def __init__(
        self, backend: Backend, run_id: str, on_progress: Progress | None, is_cancelled: Callable[[], bool] | None
    ) -> None:
        """`on_progress` and `is_cancelled` are called from whichever thread works for the run, never two at once."""
        self.backend = backend
        self._run_id = run_id
        self._on_progress = on_progress
        self._is_cancelled = is_cancelled
        self._asking = threading.RLock()
        self._told = (0, 0, "")
        self._fault, self._fault_told = "", 0.0

    def stop_if_cancelled(self) -> None:
        """Raise Cancelled when somebody asked for that."""
        if self._is_cancelled is not None:
            with self._asking:
                stopped = self._is_cancelled()
            if stopped:
                raise Cancelled("The run was cancelled.")

    def tell(self, done: int, total: int, label: str) -> None:
        """Say how far the run is."""
        self.stop_if_cancelled()
        self._told, self._fault = (done, total, label), ""
        self._pass_on(done, total, label)

    def _pass_on(self, done: int, total: int, label: str) -> None:
        if self._on_progress is not None:
            with self._asking:
                self._on_progress(done, total, label)

    def finished(
        self, operation: str, requests: Sequence[Request], on_late: Late | None = None
    ) -> Generator[tuple[int, list[Piece]], None, None]:
        """Queue every request; then the number and the pieces of each as it finishes, in whatever order.

        Raises what a chunk raised, after the run's other chunks were taken out of the queue. What was being computed
        when this ends early is handed to `on_late`, from another thread, if it still comes to an end.
        """
        done: SimpleQueue[Future[list[Piece]]] = SimpleQueue()
        number_by_future: dict[Future[list[Piece]], int] = {}
        try:
            for number, request in enumerate(requests):
                future = self.backend.run(operation, request, self._run_id)
                number_by_future[future] = number
                future.add_done_callback(done.put)
            for _ in requests:
                future = self._next(done)
                pieces = future.result()
                number = number_by_future.pop(future)
                n_items = len(requests[number]["items"])
                if len(pieces) != n_items:
                    raise RuntimeError(f"{operation} gave {len(pieces)} pieces for {n_items} items.")
                yield number, pieces
        except CancelledError:
            raise Cancelled("The run was cancelled.") from None
        finally:
            if number_by_future:  # not all has come: an error, or somebody asked to stop
                self.backend.cancel(self._run_id)
                for future, number in number_by_future.items() if on_late else ():
                    future.add_done_callback(partial(_hand_on, on_late, number))

    def _next(self, done: SimpleQueue[Future[list[Piece]]]) -> Future[list[Piece]]:
        while True:
            self.stop_if_cancelled()
            try:
                return done.get(timeout=POLL_SECONDS)
            except Empty:
                self._tell_fault()

    def _tell_fault(self) -> None:
        """Say why the run waits, where the backend cannot compute; and what it does again once that is over."""
        fault, now = self.backend.fault(), time.monotonic()
        if fault == self._fault and not (fault and now - self._fault_told >= FAULT_SECONDS):
            return
        self._fault, self._fault_told = fault, now
        done, total, label = self._told
        self._pass_on(done, total, fault or label)


def _hand_on(on_late: Late | None, number: int, future: Future[list[Piece]]) -> None:
    if on_late is not None and not future.cancelled() and future.exception() is None:
        on_late(number, future.result())
