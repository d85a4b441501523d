"""Worker processes on this machine: one per device, shared fairly by runs, replaced when they die."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import psutil

from engine.errors import RunError, WorkerDied
from engine.inference.backend import Piece, Report, Request
from engine.inference.fair_queue import FairQueue
from engine.inference.local.worker_process import ChunkFunction, WorkerGoneError, WorkerProcess, run_chunk
from engine.inference.statistics import Statistics
from engine.inference.worker_state import WorkerState
from engine.models.sources.model_location import LocatedModel, locate

# A chunk is tried once more after its worker died: the cause may have been another tenant of the memory.
TRIES = 2
CLOSE_SECONDS = 5.0
GRACE_SECONDS = 10.0  # a chunk is about a second of work


@dataclass(frozen=True, eq=False)
class _Job:
    operation: str
    request: Request
    future: Future[list[Piece]] = field(default_factory=Future)


class LocalWorkers:
    """The backend of one machine. Threads and processes start with the first chunk.

    A worker has one chunk at a time and gets the next when it has answered (chunks are about a second of work,
    the way between them a few milliseconds), so when it dies the chunk to blame is known: that chunk is tried
    once more in a new process and then fails alone with WorkerDied, while the queue goes on.
    """

    def __init__(self, devices: Sequence[str] | None = None, *, chunk_function: ChunkFunction = run_chunk,
                 grace_seconds: float = GRACE_SECONDS) -> None:
        """`devices`: one worker each, as torch names them; default the comma list HAKARI_DEVICES, or one "auto".

        `grace_seconds`: how long chunks that run may go on when this is closed.
        """
        given = devices or [name.strip() for name in os.environ.get("HAKARI_DEVICES", "").split(",") if name.strip()]
        self._devices = tuple(given) or ("auto",)
        self._chunk_function = chunk_function
        self._grace_seconds = grace_seconds
        self.statistics = Statistics()
        self._queue: FairQueue[_Job] = FairQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._workers: dict[int, WorkerProcess] = {}
        # The chunk that a worker has now, and since when.
        self._busy: dict[int, tuple[_Job, float]] = {}
        self._closed = False
        atexit.register(self._close_at_exit)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices, one worker each."""
        return self._devices

    def locate(self, model: str, revision: str | None = None, report: Report | None = None) -> LocatedModel:
        """Where a model is. The caller's thread fetches it: a download keeps no worker from computing."""
        return locate(model, revision, report)

    def pids(self) -> list[int]:
        """The processes that live now; none before the first chunk."""
        with self._lock:
            return [worker.pid for worker in self._workers.values() if worker.is_alive()]

    def fault(self) -> str:
        """Why nothing can be computed at the moment, "" when it can: a worker that died is replaced when needed."""
        with self._lock:
            if self._closed:
                return "the workers were closed"
            dead = [thread.name for thread in self._threads if not thread.is_alive()]
        return f"{', '.join(dead)} ended" if dead else ""

    def workers(self) -> tuple[WorkerState, ...]:
        """The processes that live now, with the models they held when each finished its last chunk."""
        with self._lock:
            alive = [(slot, worker) for slot, worker in self._workers.items() if worker.is_alive()]
            return tuple(self._state(slot, worker) for slot, worker in alive)

    def run(self, operation: str, request: Request, run_id: str) -> Future[list[Piece]]:
        """Queue one chunk. Its future fails with what the worker raised, or WorkerDied after two deaths."""
        job = _Job(operation, request)
        self._start_threads()
        if not self._queue.put(run_id, job):
            raise RunError("The workers were closed; nothing more can be computed.")
        return job.future

    def cancel(self, run_id: str) -> None:
        """Drop the queued chunks of a run; one that is being computed is left to finish."""
        for job in self._queue.drop(run_id):
            job.future.cancel()

    def close(self, grace_seconds: float | None = None) -> None:
        """End every worker. Chunks that run may finish within the grace; then what is left fails with RunError.

        Chunks that nobody has started on are cancelled. `grace_seconds`: another than the one it was made with.
        """
        atexit.unregister(self._close_at_exit)
        for job in self._queue.close():
            job.future.cancel()
        end = time.monotonic() + (self._grace_seconds if grace_seconds is None else grace_seconds)
        with self._lock:
            serving = list(self._threads)
        for thread in serving:
            if thread is not threading.current_thread():
                thread.join(timeout=max(0.0, end - time.monotonic()))
        with self._lock:
            self._closed = True
            for slot in self._busy:
                self._workers[slot].kill()
            threads = list(self._threads)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(timeout=CLOSE_SECONDS)

    def _close_at_exit(self) -> None:
        """Nobody closed it, so nobody waits for what it computes."""
        self.close(grace_seconds=0)

    def _start_threads(self) -> None:
        with self._lock:
            if self._threads or self._closed:
                return
            self._threads = [
                threading.Thread(target=self._serve, args=(slot,), name=f"hakari-{device}", daemon=True)
                for slot, device in enumerate(self._devices)
            ]
            for thread in self._threads:
                thread.start()

    def _serve(self, slot: int) -> None:
        """One device's thread: take the next chunk, have it computed, hand on what came of it."""
        while (job := self._queue.take()) is not None:
            if not job.future.set_running_or_notify_cancel():
                continue
            begun = time.monotonic()
            try:
                pieces = self._computed(slot, job)
            except BaseException as error:
                job.future.set_exception(error)
            else:
                self.statistics.computed(time.monotonic() - begun)
                job.future.set_result(pieces)
        if slot in self._workers:
            self._workers[slot].end()

    def _computed(self, slot: int, job: _Job) -> list[Piece]:
        for _ in range(TRIES):
            worker = self._worker(slot, job)
            try:
                return worker.ask(job.operation, job.request)
            except WorkerGoneError as gone:
                reason = str(gone)
            finally:
                with self._lock:
                    self._busy.pop(slot, None)
        n_items = len(job.request.get("items", ()))
        raise WorkerDied(
            f"The worker process on device {self._devices[slot]!r} ended {TRIES} times during {job.operation} of "
            f"{n_items} items with {job.request.get('model')}: {reason}. A smaller model, shorter sentences or "
            "bf16 precision need less memory.")

    def _state(self, slot: int, worker: WorkerProcess) -> WorkerState:
        job, since = self._busy.get(slot, (None, 0.0))
        computing = f"{job.operation} {job.request.get('model', '')}".strip() if job else ""
        try:
            memory: int | None = psutil.Process(worker.pid).memory_info().rss
        except psutil.Error:
            memory = None
        return WorkerState(self._devices[slot], worker.pid, memory, computing,
                           time.monotonic() - since if job else 0.0, worker.models)

    def _worker(self, slot: int, job: _Job) -> WorkerProcess:
        with self._lock:
            if self._closed:
                raise RunError("The workers were closed while the chunk was computed.")
            worker = self._workers.get(slot)
            if worker is None or not worker.is_alive():
                worker = WorkerProcess(self._devices[slot], len(self._devices), self._chunk_function)
                self._workers[slot] = worker
            self._busy[slot] = (job, time.monotonic())
            return worker
