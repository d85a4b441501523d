"""A process for each run: the one that serves pages neither computes nor holds what a run puts together.

The child evaluates with a gateway of its own over the same cache; what is not in the cache it asks of the parent's
backend, so that all runs share the workers fairly. It is forked from a server that has imported the libraries, so that
it starts within milliseconds, and it ends with the run: its memory goes back. If it dies, the run is started once more,
and what was computed is in the cache. If it was killed from outside, or the server that it is forked from was, that is
not the run's fault, and it is started again KILLS times.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from engine.datasets import reader_process
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared import dictionaries
from engine.inference.backend import Backend
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.messages.message import Message, together
from engine.processes.deaths import BY_ITSELF, KILLED, OUT_OF_MEMORY, cause, how_it_ended, out_of_memory_kills
from engine.processes.fork_server import forking_context
from engine.processes.garbage_collection import spare_garbage_collection
from engine.processes.import_path import leave_folders_of_packages
from engine.runs.execution import Ending, RunFiles, evaluated
from engine.runs.operation.logs import set_up_logs
from engine.runs.relayed_backend import RelayedBackend
from engine.runs.run_conversation import POLL_SECONDS, STOP_SECONDS, Conversation, Report, SilentError
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.run_record import RunRecord

STARTS = 2
KILLS = 10  # from outside, or of the server that processes are forked from
BEAT_SECONDS = 5.0  # between two signs of life
CHUNK_SECONDS = 2.0  # for the chunk that is being computed when a run stops; it takes about one
RESTART_SECONDS = 1.0  # memory and file descriptors that are short may be free again
# Linux should end a run before the server when memory runs out (0 = neutral, 1000 = first), and a worker before a run.
OOM_SCORE = 300
# A server answers pages before it computes: processes of runs and workers have a lower priority.
NICENESS = 10
PRELOADED = "engine.runs.preloaded"

logger = logging.getLogger(__name__)


class _NotStartedError(Exception):
    """The system does not start a process; the message says why."""


@dataclass(frozen=True)
class _Task:
    """What the child needs: the run, the places, whose pieces answer all, the backend's devices and the environment."""

    run: RunRecord
    data_dir: Path
    cache_file: Path
    cache_bytes: int
    public_owner: str | None
    devices: tuple[str, ...]
    environment: dict[str, str]


class RunProcesses:
    """Starts a process for each run. Thread-safe."""

    def __init__(
        self, data_dir: Path, cache_file: Path, cache_bytes: int, backend: Backend, public_owner: str | None = None
    ) -> None:
        """Start the server that the processes are forked from; its imports go on beside. public_owner: of `Gateway`."""
        self._places = data_dir, cache_file, cache_bytes, public_owner
        self._backend = backend
        self._pids: set[int] = set()  # of the runs' processes; adding and discarding one is atomic
        self._context = forking_context([__name__, PRELOADED, *reader_process.PRELOAD])

    def pids(self) -> list[int]:
        """The ids of the processes that runs have at the moment."""
        return list(self._pids)

    def evaluate(self, run: RunRecord, report: Report, files: RunFiles, is_stopped: Callable[[], bool]) -> Ending:
        """Evaluate a run in a process of its own and return how it ended, as `execution.evaluated` does."""
        why, reason = BY_ITSELF, Message("")
        n_ends = n_kills = 0  # by its own doing, and not
        while n_ends < STARTS and n_kills < KILLS:
            kills_before = out_of_memory_kills()
            try:
                with self._process(run) as (process, connection):
                    ending = Conversation(connection, self._backend, run, report, files).hold(process, is_stopped)
                    if ending is not None:
                        return ending
                    process.join(STOP_SECONDS)
                    why = cause(process.exitcode, kills_before)
                    reason = how_it_ended(process.exitcode, why)
            except _NotStartedError as error:
                why, reason = KILLED, Message("could not be started ({error})", error=error)
                until = time.monotonic() + RESTART_SECONDS * (1 + n_kills)
                while time.monotonic() < until and not is_stopped():
                    time.sleep(POLL_SECONDS)
            except SilentError as error:
                why, reason = BY_ITSELF, error.args[0]
            n_kills, n_ends = n_kills + (why == KILLED), n_ends + (why != KILLED)
            logger.warning("The process of run %s ended and is started again: %s.", run.id, reason)
            if is_stopped():
                return Ending("cancelled", Message("Cancelled."))
        ended = Message(
            "The process of this run {reason}, {starts:,} times. What was computed until then is kept: submit it again.",
            reason=reason,
            starts=n_ends + n_kills,
        )
        advice = Message("Fewer rows or models need less memory.")
        return Ending("failed", together(" ", [ended, advice]) if why == OUT_OF_MEMORY else ended)

    @contextlib.contextmanager
    def _process(self, run: RunRecord) -> Iterator[tuple[Any, Connection]]:
        try:
            connection, child_connection = self._context.Pipe()
        except OSError as error:
            raise _NotStartedError(error) from error
        # While this process holds a copy of the child's end, it never sees end of file.
        with connection, child_connection:
            process = self._started(run, child_connection)
            child_connection.close()
            self._pids.add(process.pid)
            try:
                yield process, connection
            finally:
                process.kill()
                process.join(STOP_SECONDS)
                self._pids.discard(process.pid)

    def _started(self, run: RunRecord, child_connection: Connection) -> Any:
        task = _Task(run, *self._places, tuple(self._backend.devices), dict(os.environ))
        process = self._context.Process(
            target=_serve, args=(child_connection, task), daemon=True, name=f"hakari-run-{run.id}"
        )
        try:
            process.start()
        except (OSError, EOFError) as error:  # no memory, no file descriptor; the server that forks has ended
            raise _NotStartedError(str(error) or Message("the process that starts it has ended")) from error
        return process


def _beat(backend: RelayedBackend) -> None:
    """Give signs of life, whatever the thread that evaluates does, until the other side hangs up."""
    with contextlib.suppress(OSError):
        while True:
            time.sleep(BEAT_SECONDS)
            backend.alive()


def _serve(connection: Connection, task: _Task) -> None:
    """The child's side: evaluate the run of the task, and say how it ended."""
    leave_folders_of_packages()
    # Ctrl-C in a terminal signals the whole process group; the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE))
    spare_garbage_collection()
    os.environ.clear()
    os.environ.update(task.environment)
    set_up_logs()
    backend = RelayedBackend(connection, task.devices)
    threading.Thread(target=_beat, args=(backend,), daemon=True).start()
    dictionaries.look_in(task.data_dir / "dictionaries")
    cache = Cache(task.cache_file, task.cache_bytes)
    try:
        gateway = Gateway(backend, cache, task.public_owner)
        ending = evaluated(
            task.run,
            EVALUATIONS,
            Artifacts(task.data_dir),
            gateway,
            backend.progress,
            RunFiles(backend.entry, backend.room),
            backend.is_stopped,
        )
        backend.await_chunks(CHUNK_SECONDS)
    finally:
        cache.close()
    counts = backend.statistics.read()
    backend.end(ending, counts.hits, counts.misses)
