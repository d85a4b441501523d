"""Workers on a Ray cluster: replicas on its nodes, more when chunks pile up, replaced when they or a node are lost.

Plain actors of Ray, not Ray Serve. `FairQueue` already lets runs take turns and drops what was cancelled; a router
of Serve would queue the same chunks a second time, in its own order and out of reach, and tell a lost replica from a
chunk that kills its replica no better. So Hakari keeps the queue and gives a replica its next chunk when it has
answered. What Serve calls multiplexing is here the choice of the replica: one that holds the model, where one is
idle; within a replica the models used last are kept, exactly as in a worker of `LocalWorkers`. Each replica asks Ray
for its share of a node, so replicas that find no room are what Ray's own autoscaler adds nodes for.

`ray_dispatch` decides, `ray_driver` is the process that talks to Ray, `ray_replica` is what lives on the nodes.
"""

from __future__ import annotations

import atexit
import importlib.util
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any

from engine.errors import InputError, RunError
from engine.inference.backend import Backend, Piece, Report, Request
from engine.inference.fair_queue import FairQueue
from engine.inference.keys import code_and_libraries
from engine.inference.local.worker_process import ChunkFunction, run_chunk
from engine.inference.local.workers import GRACE_SECONDS, LocalWorkers
from engine.inference.ray.dispatch import CLOSED, Dispatch, Settled
from engine.inference.ray.driver import DriverProcess
from engine.inference.ray.fleet import Job
from engine.inference.ray.replica import unpacked_answer
from engine.inference.ray.settings import ADDRESS, RaySettings, ray_settings
from engine.inference.statistics import Statistics
from engine.inference.worker_state import WorkerState
from engine.models.sources.model_location import LocatedModel, locate

TICK_SECONDS = 0.5
POLL_SECONDS = 0.02
CLOSE_SECONDS = 20.0

MakeDriver = Callable[[RaySettings, ChunkFunction, Callable[[tuple[Any, ...]], None]], Any]


def backend_of_environment() -> Backend:
    """The cluster that HAKARI_RAY_ADDRESS names, or the processes of this machine. Raises InputError."""
    settings = ray_settings()
    if settings is None:
        return LocalWorkers()
    if importlib.util.find_spec("ray") is None:
        raise InputError(f"{ADDRESS} names a Ray cluster, and Ray is not installed. "
                         "Run: pip install -r deploy/requirements-ray.txt")
    return RayWorkers(settings)


class RayWorkers:
    """The backend of a Ray cluster. Nothing is started or connected before the first chunk; then one thread tends all.

    Numbers are those of `LocalWorkers`: a replica runs the same code on the same chunks with as many threads as it
    has processors, and one whose node has other code or libraries is refused.
    """

    def __init__(self, settings: RaySettings, *, chunk_function: ChunkFunction = run_chunk,
                 grace_seconds: float = GRACE_SECONDS, driver: MakeDriver = DriverProcess) -> None:
        """`grace_seconds`: how long chunks that run may go on when this is closed."""
        self._settings = settings
        self._grace_seconds = grace_seconds
        self.statistics = Statistics()
        self._queue: FairQueue[Job] = FairQueue()
        self._events: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._lock = threading.Lock()
        self._dispatch = Dispatch(settings, self._queue, self.statistics, code_and_libraries(),
                                  lambda: driver(settings, chunk_function, self._events.put))
        self._thread: threading.Thread | None = None
        self._closing = False
        atexit.register(self._close_at_exit)

    @property
    def devices(self) -> tuple[str, ...]:
        """The kind of device that every replica asks for."""
        return ("cuda",) if self._settings.gpus else ("cpu",)

    def locate(self, model: str, revision: str | None = None, report: Report | None = None) -> LocatedModel:
        """Where a model is on this machine; each node finds or fetches it by the same name and commit.

        Of a directory the contents are remembered here: a replica whose node has others refuses the chunk.
        """
        located = locate(model, revision, report)
        if located.source == "directory":
            self._dispatch.fingerprints[located.address] = located.fingerprint
        return located

    def pids(self) -> list[int]:
        """The driver, and the replicas that live on this machine."""
        with self._lock:
            driver = self._dispatch.driver
            return [*([driver.pid] if driver else []), *self._dispatch.fleet.pids_here()]

    def workers(self) -> tuple[WorkerState, ...]:
        """The replicas that live now, with the models they held when each finished its last chunk."""
        with self._lock:
            return self._dispatch.fleet.states()

    def fault(self) -> str:
        """Why nothing can be computed at the moment, "" when it can: a replica that is lost is replaced."""
        with self._lock:
            if self._closing:
                return "the workers were closed"
            if self._thread is not None and not self._thread.is_alive():
                return f"{self._thread.name} ended"
            return self._dispatch.fault(time.monotonic())

    def run(self, operation: str, request: Request, run_id: str) -> Future[list[Piece]]:
        """Queue one chunk. Its future fails with what the replica raised, or WorkerDied after two losses."""
        job = Job(operation, request, run_id)
        if not self._queue.put(run_id, job):
            raise RunError(CLOSED)
        with self._lock:
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(target=self._tend, name="hakari-ray", daemon=True)
                self._thread.start()
        self._events.put(("work",))
        return job.future

    def cancel(self, run_id: str) -> None:
        """Drop the queued chunks of a run; one that is being computed is left to finish."""
        for job in self._queue.drop(run_id):
            job.future.cancel()

    def close(self, grace_seconds: float | None = None) -> None:
        """End replicas and driver. Chunks that run may finish within the grace; what is left fails with RunError.

        Chunks that nobody has started on are cancelled. `grace_seconds`: another than the one it was made with.
        """
        atexit.unregister(self._close_at_exit)
        for job in self._queue.close():
            job.future.cancel()
        with self._lock:
            self._closing = True
            thread = self._thread
        if thread is None or thread is threading.current_thread():
            return
        end = time.monotonic() + (self._grace_seconds if grace_seconds is None else grace_seconds)
        while self._computes() and thread.is_alive() and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
        self._events.put(("close",))
        thread.join(timeout=CLOSE_SECONDS)

    def _computes(self) -> bool:
        with self._lock:
            return bool(self._dispatch.fleet.busy())

    def _close_at_exit(self) -> None:
        """Nobody closed it, so nobody waits for what it computes."""
        self.close(grace_seconds=0)

    def _tend(self) -> None:
        message: tuple[Any, ...] = ("work",)
        while message[0] != "close":
            now = time.monotonic()
            with self._lock:
                settled = self._dispatch.heed(message, now)
                if not self._closing:
                    settled += self._dispatch.advance(now)
            for one in settled:
                _settle(*one)
            try:
                message = self._events.get(timeout=TICK_SECONDS)
            except Empty:
                message = ("work",)
        with self._lock:
            closed = RunError("The workers were closed while the chunk was computed.")
            left: list[Settled] = [(one.job, closed) for one in self._dispatch.fleet.busy() if one.job]
            self._dispatch.fleet.replicas.clear()
            driver, self._dispatch.driver = self._dispatch.driver, None
        if driver is not None:
            driver.end()
        for one in left:
            _settle(*one)


def _settle(job: Job, outcome: bytes | Exception) -> None:
    """Hand a chunk's answer to whoever waits for it, unless nobody does."""
    pieces: list[Piece] = []
    error = outcome if isinstance(outcome, Exception) else None
    if isinstance(outcome, bytes):
        try:
            pieces = unpacked_answer(outcome)
        except Exception as raised:
            error = raised
    if not job.future.set_running_or_notify_cancel():
        return
    if error is not None:
        job.future.set_exception(error)
    else:
        job.future.set_result(pieces)
