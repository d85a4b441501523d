"""Worker processes on this machine: one per device, shared fairly by runs, replaced when they die."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial

import psutil

from engine.errors import InputError, RunError, WorkerDied
from engine.inference.backend import DownloadProgress, Piece, Request
from engine.inference.fair_queue import FairQueue
from engine.inference.local.job import Job
from engine.inference.local.worker_loop import ChunkFunction, PrepareFunction, prepare_chunk, run_chunk
from engine.inference.local.worker_process import WorkerExitedError, WorkerProcess
from engine.inference.statistics import Statistics
from engine.inference.worker_state import WorkerState
from engine.messages.message import Message, list_of, together
from engine.models.sources.model_location import LocatedModel, locate
from engine.processes.deaths import KILLED, OUT_OF_MEMORY

# A chunk is retried once after its worker died: another process may have exhausted the memory.
TRIES = 2
KILLS = 10  # from outside, with memory to spare: not the chunk's fault
CLOSE_SECONDS = 5.0
GRACE_SECONDS = 10.0  # a chunk is about a second of work


class LocalWorkers:
    """The backend of one machine. Its threads and processes start with the first chunk.

    A worker computes one chunk at a time; the next one is sent meanwhile and prepared, and begins before the answer to
    the first has arrived. When a worker dies, the chunk whose answer was awaited is retried once in a new process, with
    no other beside it, and then fails alone with WorkerDied, while the other chunks go on.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        *,
        chunk_function: ChunkFunction = run_chunk,
        prepare_function: PrepareFunction = prepare_chunk,
        grace_seconds: float = GRACE_SECONDS,
        niceness: int = 0,
    ) -> None:
        """`devices`: one worker each, by torch's names; default: the comma-separated HAKARI_DEVICES, or one "auto".

        Raises InputError for devices of several kinds, such as cuda:0,cpu.
        `grace_seconds`: how long running chunks may continue after `close`. `niceness`: how far the workers stand back
        behind other processes, 0 to 19.
        """
        listed = [name.strip() for name in os.environ.get("HAKARI_DEVICES", "").split(",")]
        self._devices = tuple(devices or filter(None, listed)) or ("auto",)
        kinds = sorted({name.partition(":")[0] for device in self._devices for name in device.split("+")})
        if len(kinds) > 1:  # a precision is chosen by the kind, and what one worker computed serves all
            raise InputError(
                Message("The devices of HAKARI_DEVICES are of one kind; got {kinds}.", kinds=list_of(kinds))
            )
        self._functions = (chunk_function, prepare_function)
        self._grace_seconds, self._niceness = grace_seconds, niceness
        self.statistics = Statistics()
        self._queue: FairQueue[Job] = FairQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._workers: dict[int, WorkerProcess] = {}
        # The current chunk of a worker, and its start time.
        self._busy: dict[int, tuple[Job, float]] = {}
        # The chunk that follows it, taken from the queue; and the workers that wait for one.
        self._reserved: dict[int, Job] = {}
        self._idle: set[int] = set()
        self._closed = False
        atexit.register(self._close_at_exit)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices, one worker each."""
        return self._devices

    def locate(self, model: str, revision: str | None = None, report: DownloadProgress | None = None) -> LocatedModel:
        """Where a model is. It is downloaded in the caller's thread, so that a download blocks no worker."""
        return locate(model, revision, report)

    def pids(self) -> list[int]:
        """The process ids of the live workers; none before the first chunk."""
        with self._lock:
            return [worker.pid for worker in self._workers.values() if worker.is_alive()]

    def fault(self) -> str:
        """Why nothing can be computed at the moment, "" when it can; a dead worker is no fault, one that hangs is."""
        with self._lock:
            if self._closed:
                return Message("the workers were closed")
            silent = next(filter(None, (worker.fault() for worker in self._workers.values())), "")
            dead_threads = [thread.name for thread in self._threads if not thread.is_alive()]
        return f"{', '.join(dead_threads)} ended" if dead_threads else silent

    def workers(self) -> tuple[WorkerState, ...]:
        """The state of the live workers, with the models that each held after its last finished chunk."""
        with self._lock:
            alive = [(slot, worker) for slot, worker in self._workers.items() if worker.is_alive()]
            return tuple(self._state(slot, worker) for slot, worker in alive)

    def run(self, operation: str, request: Request, run_id: str) -> Future[list[Piece]]:
        """Queue one chunk. Its future fails with what the worker raised, or WorkerDied after two deaths."""
        job = Job(operation, request, run_id)
        self._start_threads()
        if not self._queue.put(run_id, job):
            raise RunError(Message("The workers were closed; nothing more can be computed."))
        with self._lock:
            for slot in self._busy.keys() - self._reserved.keys():
                self._workers[slot].wake()
        return job.future

    def cancel(self, run_id: str) -> None:
        """Drop the queued chunks of a run; a chunk that is being computed is finished."""
        with self._lock:
            prepared = [job for job in self._reserved.values() if job.run_id == run_id]
        for job in (*self._queue.drop(run_id), *prepared):
            job.future.cancel()

    def close(self, grace_seconds: float | None = None) -> None:
        """End every worker. Running chunks may finish within `grace_seconds`; then they fail with RunError.

        Queued chunks are cancelled. `grace_seconds`: default as passed to the constructor.
        """
        atexit.unregister(self._close_at_exit)
        with self._lock:
            prepared = list(self._reserved.values())
        for job in (*self._queue.close(), *prepared):
            job.future.cancel()
        deadline = time.monotonic() + (self._grace_seconds if grace_seconds is None else grace_seconds)
        with self._lock:
            serving_threads = list(self._threads)
        for thread in serving_threads:
            if thread is not threading.current_thread():
                thread.join(timeout=max(0.0, deadline - time.monotonic()))
        with self._lock:
            self._closed = True
            for slot in self._busy:
                self._workers[slot].kill()
            threads = list(self._threads)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(timeout=CLOSE_SECONDS)

    def _close_at_exit(self) -> None:
        """Close without a grace period: the program exits, so nothing waits for the running chunks."""
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
        """Thread of one device: takes the next chunk, has it computed, and sets the result of its future."""
        following: Job | None = None
        while (job := following or self._next(slot)) is not None:
            if job is not following and not job.begin():
                continue
            following = None

            def begin_next() -> None:
                nonlocal following
                following = self._begin_next(slot)

            try:
                pieces = self._compute_with_retry(slot, job, begin_next)
            except BaseException as error:
                job.future.set_exception(error)
            else:
                self.statistics.record_chunk(time.monotonic() - job.since)
                job.future.set_result(pieces)
            with self._lock:
                if following is None:
                    self._busy.pop(slot, None)
        if slot in self._workers:
            self._workers[slot].end()

    def _compute_with_retry(self, slot: int, job: Job, begin_next: Callable[[], None]) -> list[Piece]:
        n_deaths = n_kills = 0
        while n_deaths < TRIES and n_kills < KILLS:
            worker = self._worker(slot, job)
            try:
                job.begin_on(worker)
                if (
                    n_deaths or n_kills
                ):  # alone until its answer has arrived, so that no other chunk can end its process
                    return worker.receive(job.number, _nothing, _nothing)
                prepare_next = partial(self._prepare_next, slot, worker)
                prepare_next()
                return worker.receive(job.number, begin_next, prepare_next)
            except WorkerExitedError as error:
                why, reason = error.why, error.args[0]
                n_kills, n_deaths = n_kills + (why == KILLED), n_deaths + (why != KILLED)
        n_items = len(job.request.get("items", ()))
        ended = Message(
            "The worker process on device {slot!r} ended {n} times during {operation} of {n_items} items "
            "with {get}: {reason}.",
            slot=self._devices[slot],
            n=n_deaths + n_kills,
            operation=job.operation,
            n_items=n_items,
            get=job.request.get("model"),
            reason=reason,
        )
        advice = Message("A smaller model, shorter sentences or bf16 precision need less memory.")
        raise WorkerDied(together(" ", [ended, advice]) if why == OUT_OF_MEMORY else ended)

    def _next(self, slot: int) -> Job | None:
        """Wait for the next chunk; None once the queue is closed. What another device has reserved serves as well."""
        with self._lock:
            job = self._reserved.pop(slot, None) or self._queue.try_take()
            if job is None and self._reserved:
                _, job = self._reserved.popitem()
            if job is None:
                self._idle.add(slot)
        if job is not None:
            self._queue.touch(job.run_id)
            return job
        job = self._queue.take()
        with self._lock:
            self._idle.discard(slot)
        return job

    def _prepare_next(self, slot: int, worker: WorkerProcess) -> None:
        """Reserve the next chunk for a device that is busy and send it there, unless another device is idle."""
        with self._lock:
            if slot not in self._reserved and not self._idle and (job := self._queue.try_take()) is not None:
                self._reserved[slot] = job
            reserved = self._reserved.get(slot)
        if reserved is not None:
            with contextlib.suppress(Exception):  # raised again when it begins
                reserved.send_to(worker)

    def _begin_next(self, slot: int) -> Job | None:
        """Begin the next chunk on a worker that has computed the one before; None where there is none, or it failed."""
        worker = self._workers[slot]
        while (job := self._reserved_or_queued(slot)) is not None:
            try:
                if not job.begin():
                    continue
                with self._lock:
                    self._busy[slot] = (job, job.since)
                job.begin_on(worker)
                self._prepare_next(slot, worker)
            except WorkerExitedError:  # it will begin again on another
                pass
            except Exception as error:  # it cannot be pickled
                job.future.set_exception(error)
                continue
            return job
        return None

    def _reserved_or_queued(self, slot: int) -> Job | None:
        with self._lock:
            job = self._reserved.pop(slot, None) or self._queue.try_take()
        if job is not None:
            self._queue.touch(job.run_id)
        return job

    def _state(self, slot: int, worker: WorkerProcess) -> WorkerState:
        job, since = self._busy.get(slot, (None, 0.0))
        computing = f"{job.operation} {job.request.get('model', '')}".strip() if job else ""
        try:
            memory: int | None = psutil.Process(worker.pid).memory_info().rss
        except psutil.Error:
            memory = None
        return WorkerState(
            self._devices[slot], worker.pid, memory, computing, time.monotonic() - since if job else 0.0, worker.models
        )

    def _worker(self, slot: int, job: Job) -> WorkerProcess:
        with self._lock:
            if self._closed:
                raise RunError(Message("The workers were closed while the chunk was computed."))
            worker = self._workers.get(slot)
            if worker is None or not worker.is_alive():
                worker = WorkerProcess(self._devices[slot], len(self._devices), *self._functions)
                if self._niceness:
                    with contextlib.suppress(OSError):  # it has ended
                        own = os.getpriority(os.PRIO_PROCESS, 0)  # no worker goes before what it works for
                        os.setpriority(os.PRIO_PROCESS, worker.pid, max(own, self._niceness))
                self._workers[slot] = worker
            self._busy[slot] = (job, job.since)
            return worker


def _nothing() -> None:
    """Neither begin nor prepare another chunk."""
