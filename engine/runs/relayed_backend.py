"""The backend of a run's own process: every request goes through a pipe to the process that holds the workers."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

from engine.errors import Cancelled
from engine.inference.backend import DownloadProgress, Piece, Request
from engine.inference.statistics import Statistics
from engine.inference.worker_state import WorkerState
from engine.models.sources.model_location import LocatedModel

PROGRESS_SECONDS = 0.05  # between two reports of one step
WAITING_SECONDS = 0.02  # between two looks for answers


class RelayedBackend:
    """Implements `engine.inference.backend.Backend`; ends the process when the other end of the pipe closes."""

    def __init__(self, connection: Connection, devices: tuple[str, ...]) -> None:
        self.statistics = Statistics()
        self._connection, self._devices = connection, devices
        self._numbers = count()
        self._futures: dict[int, Future[Any]] = {}
        self._chunks: set[int] = set()  # the numbers of those that are computed
        self._reports: dict[int, DownloadProgress] = {}
        self._sending, self._stopped, self._fault = threading.Lock(), threading.Event(), ""
        self._last_progress: tuple[float, str] = (0.0, "")
        threading.Thread(target=self._receive, daemon=True).start()

    @property
    def devices(self) -> tuple[str, ...]:
        """Those of the backend that computes."""
        return self._devices

    def locate(self, model: str, revision: str | None = None, report: DownloadProgress | None = None) -> LocatedModel:
        """Where a model is; it is downloaded by the other process. Raises ModelError."""
        return self._asked("locate", (model, revision), report).result()  # type: ignore[no-any-return]

    def run(self, operation: str, request: Request, run_id: str) -> Future[list[Piece]]:
        """Queue one chunk with the other process."""
        return self._asked("run", (operation, request))

    def cancel(self, run_id: str) -> None:
        """Drop the queued chunks of this run."""
        self._send(("cancel",))

    def fault(self) -> str:
        """What the other process last said."""
        return self._fault

    def pids(self) -> list[int]:
        """None: the workers are the other process's."""
        return []

    def workers(self) -> tuple[WorkerState, ...]:
        """None: the workers are the other process's."""
        return ()

    def close(self) -> None:
        """Nothing to stop here."""

    def is_stopped(self) -> bool:
        """Whether the run was asked to stop."""
        return self._stopped.is_set()

    def progress(self, done: int, total: int, label: str) -> None:
        """Report the progress of the run; of many reports of one step only some are sent, the last one included."""
        now, (sent_at, sent_label) = time.monotonic(), self._last_progress
        if done >= total or label != sent_label or now - sent_at >= PROGRESS_SECONDS:
            self._last_progress = (now, label)
            self._send(("progress", done, total, label))

    def entry(self) -> bytes:
        """The entry that is stored beside the result."""
        return self._asked("entry", ()).result()  # type: ignore[no-any-return]

    def room(self, n_bytes: int) -> None:
        """Raise what refuses a result of this size."""
        self._asked("room", (n_bytes,)).result()

    def await_chunks(self, seconds: float) -> None:
        """Return once no chunk is being computed, or after so long: one that was when the run stopped is still kept."""
        deadline = time.monotonic() + seconds
        while self._chunks and time.monotonic() < deadline:
            time.sleep(WAITING_SECONDS)

    def alive(self) -> None:
        """Say that this process lives. OSError where nobody listens any more."""
        self._send(("alive",))

    def end(self, ending: object, hits: int, misses: int) -> None:
        """Say how the run ended; the last message."""
        self._send(("ended", ending, hits, misses))

    def _asked(self, kind: str, arguments: tuple[Any, ...], report: DownloadProgress | None = None) -> Future[Any]:
        future: Future[Any] = Future()
        number = next(self._numbers)
        self._futures[number] = future
        if kind == "run":
            self._chunks.add(number)
        if report is not None:
            self._reports[number] = report
        self._send((kind, number, arguments))
        return future

    def _send(self, message: object) -> None:
        with self._sending:
            self._connection.send(message)

    def _receive(self) -> None:
        receivers: dict[str, Callable[..., None]] = {
            "answer": self._answered,
            "report": self._reported,
            "fault": self._faulted,
            "stop": self._stopped.set,
        }
        while True:
            try:
                kind, *values = self._connection.recv()
                receivers[kind](*values)
            except (EOFError, OSError):
                os._exit(1)  # nobody would hear of the result
            except BaseException:  # a message that cannot be read: the run would wait for ever
                traceback.print_exc()
                os._exit(1)

    def _answered(self, number: int, is_result: bool, value: Any) -> None:
        future = self._futures[number]
        self._reports.pop(number, None)
        try:
            if is_result:
                future.set_result(value)
            elif value is None:
                future.cancel()
                future.set_running_or_notify_cancel()
            else:
                future.set_exception(value)
        finally:  # now its callbacks have run
            del self._futures[number]
            self._chunks.discard(number)

    def _reported(self, number: int, progress: tuple[int, int, str]) -> None:
        if report := self._reports.get(number):
            with contextlib.suppress(Cancelled):  # the other process ends the download
                report(*progress)

    def _faulted(self, fault: str) -> None:
        self._fault = fault
