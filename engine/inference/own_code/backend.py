"""A backend that computes models with code of their own itself, confined, and passes everything else to another backend.

Each run has a process of its own for each such model, so that code of others never sees two members' texts: it starts
with the run's first chunk and ends soon after its last. A few are alive at once; further ones wait for one to end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

import psutil

from engine.errors import EngineError, ModelError, RunError
from engine.inference.backend import Backend, DownloadProgress, Piece, Request
from engine.inference.own_code.process import Bounds, ConfinedProcess
from engine.inference.worker_state import WorkerState
from engine.messages.message import Message
from engine.models.sources.model_location import LocatedModel, locate
from engine.models.sources.own_code.trusted import trusted_code

AT_ONCE = 2
# Without a chunk until a process ends: as long as nobody waits for its place, and if somebody does.
IDLE_SECONDS, YIELD_SECONDS = 20.0, 2.0
CLOSE_SECONDS = 5.0
CLOSED = Message("The workers were closed; nothing more can be computed.")

_Key = tuple[str, str | None, str]  # model, revision, run


@dataclass(eq=False)
class _Job:
    operation: str
    request: Request
    future: Future[list[Piece]] = field(default_factory=Future)


@dataclass(eq=False)
class _Lane:
    """The chunks of one run for one model, and the process that computes them."""

    key: _Key
    jobs: SimpleQueue[_Job] = field(default_factory=SimpleQueue)
    process: ConfinedProcess | None = None
    computing: str = ""
    since: float = 0.0
    thread: threading.Thread | None = None


class WithOwnCode:
    """Implements `engine.inference.backend.Backend`. A thread for each run and model, as long as there are chunks."""

    def __init__(self, backend: Backend, protected: Sequence[Path], bounds: Bounds | None = None) -> None:
        """protected: directories that no code of others may be able to read."""
        self.statistics = backend.statistics
        self._backend, self._protected, self._bounds = backend, tuple(protected), bounds or Bounds()
        self._lock = threading.Lock()
        self._lanes: dict[_Key, _Lane] = {}
        self._alive = threading.BoundedSemaphore(AT_ONCE)
        self._n_waiting = 0
        self._closed = False

    @property
    def devices(self) -> tuple[str, ...]:
        """Those of the other backend."""
        return self._backend.devices

    def locate(self, model: str, revision: str | None = None, report: DownloadProgress | None = None) -> LocatedModel:
        """As the other backend."""
        return self._backend.locate(model, revision, report)

    def run(self, operation: str, request: Request, run_id: str) -> Future[list[Piece]]:
        """Queue one chunk."""
        if not request.get("own_code"):
            return self._backend.run(operation, request, run_id)
        key, job = (str(request["model"]), request.get("revision"), run_id), _Job(operation, request)
        with self._lock:
            if self._closed:
                raise RunError(CLOSED)
            lane = self._lanes.get(key)
            if lane is None:
                lane = self._lanes[key] = _Lane(key)
                lane.thread = threading.Thread(target=self._serve, args=(lane,), name="hakari-own-code", daemon=True)
                lane.thread.start()
            lane.jobs.put(job)
        return job.future

    def cancel(self, run_id: str) -> None:
        """Drop the run's queued chunks, and end its processes: what they compute, nobody waits for."""
        self._backend.cancel(run_id)
        with self._lock:
            lanes = [lane for key, lane in self._lanes.items() if key[2] == run_id]
        for lane in lanes:
            _drop(lane, lambda job: job.future.cancel())
            if lane.process is not None and lane.computing:
                lane.process.kill(Message("was ended with its run"))

    def pids(self) -> list[int]:
        """Those of the other backend and of the confined processes."""
        return [*self._backend.pids(), *(process.pid for process in self._processes())]

    def fault(self) -> str:
        """That of the other backend."""
        return self._backend.fault()

    def workers(self) -> tuple[WorkerState, ...]:
        """Those of the other backend, and the confined processes; what these hold is not asked of them."""
        with self._lock:
            lanes = [lane for lane in self._lanes.values() if lane.process is not None]
        return (*self._backend.workers(), *(state for lane in lanes if (state := _state(lane)) is not None))

    def close(self) -> None:
        """End every confined process, and close the other backend."""
        with self._lock:
            self._closed = True
            lanes = list(self._lanes.values())
        for lane in lanes:
            _drop(lane, lambda job: job.future.cancel())
            if lane.process is not None:
                lane.process.kill(Message("was ended with the server"))
        deadline = time.monotonic() + CLOSE_SECONDS
        for lane in lanes:
            if lane.thread is not None:
                lane.thread.join(max(0.0, deadline - time.monotonic()))
        self._backend.close()

    def _processes(self) -> list[ConfinedProcess]:
        with self._lock:
            return [lane.process for lane in self._lanes.values() if lane.process and lane.process.is_alive()]

    def _serve(self, lane: _Lane) -> None:
        """Thread of one run and model: computes its chunks until there are none for a while."""
        with self._lock:
            self._n_waiting += 1
        with self._alive:
            with self._lock:
                self._n_waiting -= 1
            try:
                while (job := self._next(lane)) is not None:
                    if job.future.set_running_or_notify_cancel():
                        self._answer(lane, job)
            finally:
                if lane.process is not None:
                    lane.process.end()

    def _next(self, lane: _Lane) -> _Job | None:
        """The next chunk; None once there was none for a while, after which the lane is no more."""
        idle_since = time.monotonic()
        while True:
            try:
                return lane.jobs.get(timeout=YIELD_SECONDS)
            except Empty:
                with self._lock:
                    patience = 0.0 if self._n_waiting or self._closed else IDLE_SECONDS
                    if time.monotonic() - idle_since >= patience and lane.jobs.empty():
                        del self._lanes[lane.key]
                        return None

    def _answer(self, lane: _Lane, job: _Job) -> None:
        start = lane.since = time.monotonic()
        lane.computing = f"{job.operation} {lane.key[0]}"
        try:
            pieces = self._process(lane, job.request).compute(job.operation, job.request)
        except EngineError as error:
            job.future.set_exception(error)
        except Exception as error:
            job.future.set_exception(RuntimeError(f"{type(error).__name__} during {job.operation}: {error}"))
        else:
            self.statistics.record_chunk(time.monotonic() - start)
            job.future.set_result(pieces)
        finally:
            lane.computing = ""

    def _process(self, lane: _Lane, request: Request) -> ConfinedProcess:
        if lane.process is not None:
            if lane.process.is_alive():
                return lane.process
            lane.process.end()
            lane.process = None
        located = locate(*lane.key[:2])
        if located.own_code is None or located.own_code.entries != tuple(request["own_code"]):
            raise ModelError(
                Message(
                    "The own code of {name} is no longer that with which the run began. Run it again.",
                    name=located.name,
                )
            )
        lane.process = ConfinedProcess(located, located.own_code, self._protected, self._bounds)
        return lane.process


def with_own_code(backend: Backend, protected: Sequence[Path]) -> Backend:
    """A backend that also computes the models whose code HAKARI_TRUST_REMOTE_CODE allows; the backend itself without any.

    protected: directories that such code must not be able to read. Raises InputError for an entry that cannot be, after
    the backend was closed.
    """
    try:
        trusted = trusted_code()
    except EngineError:
        backend.close()
        raise
    return WithOwnCode(backend, protected) if trusted else backend


def _drop(lane: _Lane, each: Callable[[_Job], object]) -> None:
    while True:
        try:
            each(lane.jobs.get_nowait())
        except Empty:
            return


def _state(lane: _Lane) -> WorkerState | None:
    process = lane.process
    if process is None or not process.is_alive():
        return None
    try:
        memory: int | None = psutil.Process(process.pid).memory_info().rss
    except psutil.Error:
        memory = None
    seconds = time.monotonic() - lane.since if lane.computing else 0.0
    return WorkerState("cpu", process.pid, memory, lane.computing, seconds, ())
