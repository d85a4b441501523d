"""The Ray backend: replicas on the nodes of a cluster, scaled with the queue, replaced when they or a node are lost.

It uses plain Ray actors, not Ray Serve. `FairQueue` already schedules runs in turn and drops cancelled chunks; Serve's
router would queue the same chunks a second time, in its own order and without cancellation, and could not distinguish a
lost replica from a chunk that kills its replica either. Therefore Hakari keeps the queue, and gives a replica its next
chunk when it has answered. Serve's model multiplexing corresponds to the choice of the replica: an idle one that holds
the model is preferred; within a replica the most recently used models stay in memory, as in a worker of `LocalWorkers`.
Each replica requests its share of a node from Ray, so pending replicas make Ray's autoscaler add nodes.

`dispatch` schedules the chunks, `driver` is the process that communicates with Ray, `replica` runs on the nodes.
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
from engine.inference.backend import Backend, DownloadProgress, Piece, Request
from engine.inference.fair_queue import FairQueue
from engine.inference.keys import code_and_libraries
from engine.inference.local.worker_loop import ChunkFunction, run_chunk
from engine.inference.local.workers import GRACE_SECONDS, LocalWorkers
from engine.inference.ray.dispatch import CLOSED, Dispatcher
from engine.inference.ray.driver import DriverProcess
from engine.inference.ray.fleet import Job
from engine.inference.ray.replica import unpacked_answer
from engine.inference.ray.settings import ADDRESS, RaySettings, ray_settings
from engine.inference.statistics import Statistics
from engine.inference.worker_state import WorkerState
from engine.messages.message import Message
from engine.models.sources.model_location import LocatedModel, locate

TICK_SECONDS = 0.5
POLL_SECONDS = 0.02
CLOSE_SECONDS = 20.0

MakeDriver = Callable[[RaySettings, ChunkFunction, Callable[[tuple[Any, ...]], None]], Any]


def backend_of_environment(niceness: int = 0) -> Backend:
    """The cluster at HAKARI_RAY_ADDRESS, or else worker processes of this niceness on this machine.

    Raises InputError.
    """
    settings = ray_settings()
    if settings is None:
        return LocalWorkers(niceness=niceness)
    if importlib.util.find_spec("ray") is None:
        raise InputError(
            Message(
                "{ADDRESS} names a Ray cluster, and Ray is not installed. Run: pip install -r "
                "deploy/requirements-ray.txt",
                ADDRESS=ADDRESS,
            )
        )
    return RayWorkers(settings)


class RayWorkers:
    """The backend of a Ray cluster. It connects with the first chunk; then one thread runs the dispatcher.

    Its numbers equal those of `LocalWorkers`: a replica runs the same code on the same chunks, with one thread per
    processor, and a replica whose node has other code or libraries is refused.
    """

    def __init__(
        self,
        settings: RaySettings,
        *,
        chunk_function: ChunkFunction = run_chunk,
        grace_seconds: float = GRACE_SECONDS,
        driver: MakeDriver = DriverProcess,
    ) -> None:
        """`grace_seconds`: how long running chunks may continue after `close`."""
        self._settings = settings
        self._grace_seconds = grace_seconds
        self.statistics = Statistics()
        self._queue: FairQueue[Job] = FairQueue()
        self._events: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._lock = threading.Lock()
        self._dispatcher = Dispatcher(
            settings,
            self._queue,
            self.statistics,
            code_and_libraries(),
            lambda: driver(settings, chunk_function, self._events.put),
        )
        self._thread: threading.Thread | None = None
        self._closing = False
        atexit.register(self._close_at_exit)

    @property
    def devices(self) -> tuple[str, ...]:
        """The kind of device that every replica requests."""
        return ("cuda",) if self._settings.gpus else ("cpu",)

    def locate(self, model: str, revision: str | None = None, report: DownloadProgress | None = None) -> LocatedModel:
        """Where a model is on this machine; each node finds or downloads it by the same name and commit.

        The fingerprint of a local directory is kept: a replica whose node has other files refuses the chunk.
        """
        located = locate(model, revision, report)
        if located.source == "directory":
            self._dispatcher.fingerprints[located.address] = located.fingerprint
        return located

    def pids(self) -> list[int]:
        """The process ids of the driver and of the replicas on this machine."""
        with self._lock:
            driver = self._dispatcher.driver
            return [*([driver.pid] if driver else []), *self._dispatcher.fleet.pids_here()]

    def workers(self) -> tuple[WorkerState, ...]:
        """The state of the started replicas, with the models that each held after its last finished chunk."""
        with self._lock:
            return self._dispatcher.fleet.states()

    def fault(self) -> str:
        """Why nothing can be computed at the moment, "" when it can; a lost replica is no fault, it is replaced."""
        with self._lock:
            if self._closing:
                return Message("the workers were closed")
            if self._thread is not None and not self._thread.is_alive():
                return f"{self._thread.name} ended"
            return self._dispatcher.fault(time.monotonic())

    def run(self, operation: str, request: Request, run_id: str) -> Future[list[Piece]]:
        """Queue one chunk. Its future fails with what the replica raised, or WorkerDied after two losses."""
        job = Job(operation, request, run_id)
        if not self._queue.put(run_id, job):
            raise RunError(CLOSED)
        with self._lock:
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(target=self._run_dispatcher, name="hakari-ray", daemon=True)
                self._thread.start()
        self._events.put(("work",))
        return job.future

    def cancel(self, run_id: str) -> None:
        """Drop the queued chunks of a run; a chunk that is being computed is finished."""
        for job in self._queue.drop(run_id):
            job.future.cancel()

    def close(self, grace_seconds: float | None = None) -> None:
        """End replicas and driver. Running chunks may finish within `grace_seconds`; then they fail with RunError.

        Queued chunks are cancelled. `grace_seconds`: default as passed to the constructor.
        """
        atexit.unregister(self._close_at_exit)
        for job in self._queue.close():
            job.future.cancel()
        with self._lock:
            self._closing = True
            thread = self._thread
        if thread is None or thread is threading.current_thread():
            return
        deadline = time.monotonic() + (self._grace_seconds if grace_seconds is None else grace_seconds)
        while self._is_busy() and thread.is_alive() and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        self._events.put(("close",))
        thread.join(timeout=CLOSE_SECONDS)

    def _is_busy(self) -> bool:
        with self._lock:
            return bool(self._dispatcher.fleet.busy())

    def _close_at_exit(self) -> None:
        """Close without a grace period: the program exits, so nothing waits for the running chunks."""
        self.close(grace_seconds=0)

    def _run_dispatcher(self) -> None:
        message: tuple[Any, ...] = ("work",)
        while message[0] != "close":
            now = time.monotonic()
            with self._lock:
                outcomes = self._dispatcher.handle_message(message, now)
                if not self._closing:
                    outcomes += self._dispatcher.schedule(now)
            for job, outcome in outcomes:
                _resolve(job, outcome)
            try:
                message = self._events.get(timeout=TICK_SECONDS)
            except Empty:
                message = ("work",)
        with self._lock:
            error = RunError(Message("The workers were closed while the chunk was computed."))
            unfinished = [replica.job for replica in self._dispatcher.fleet.busy() if replica.job]
            self._dispatcher.fleet.replicas.clear()
            driver, self._dispatcher.driver = self._dispatcher.driver, None
        if driver is not None:
            driver.end()
        for job in unfinished:
            _resolve(job, error)


def _resolve(job: Job, outcome: bytes | Exception) -> None:
    """Set the result or the error of a chunk's future, unless it was cancelled."""
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
