"""A process for each run: the one that serves pages neither computes nor holds what a run puts together.

The child evaluates with a gateway of its own over the same cache; what is not in the cache it asks of the parent's
backend, so that all runs share the workers fairly. It is forked from a server that has imported the libraries, so that
it starts within milliseconds, and it ends with the run: its memory goes back. If it dies, the run is started once more,
and what was computed is in the cache.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from engine.datasets import reader_process
from engine.errors import Cancelled, EngineError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared import dictionaries
from engine.inference.backend import Backend
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.messages.message import Message
from engine.processes.fork_server import forking_context
from engine.processes.garbage_collection import spare_garbage_collection
from engine.processes.import_path import leave_folders_of_packages
from engine.runs.execution import Ending, RunFiles, evaluated
from engine.runs.operation.logs import set_up_logs
from engine.runs.relayed_backend import RelayedBackend
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.run_record import RunRecord

ENDED = Message(
    "The process of this run {reason}, {starts:,} times. What was computed until then is kept: submit it "
    "again, with fewer rows or models if memory is short."
)
STARTS = 2
STOP_SECONDS = 5.0  # for a run to stop by itself before its process is killed
CHUNK_SECONDS = 2.0  # for the chunk that is being computed when a run stops; it takes about one
POLL_SECONDS = 0.1
RESTART_SECONDS = 1.0  # memory and file descriptors that are short may be free again
FAULT_SECONDS = 1.0  # between two looks at the backend's state
# Linux should end a run before the server when memory runs out (0 = neutral, 1000 = first), and a worker before a run.
OOM_SCORE = 300
# A server answers pages before it computes: processes of runs and workers have a lower priority.
NICENESS = 10
PRELOADED = "engine.runs.preloaded"

Report = Callable[[int, int, str], None]


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
        reason = ""
        for _ in range(STARTS):
            try:
                with self._process(run) as (process, connection):
                    ending = _Conversation(connection, self._backend, run, report, files).hold(process, is_stopped)
                    if ending is not None:
                        return ending
                    process.join(STOP_SECONDS)
                    reason = _how_it_ended(process.exitcode)
            except _NotStartedError as error:
                reason = Message("could not be started ({error})", error=error)
                time.sleep(RESTART_SECONDS)
            if is_stopped():
                return Ending("cancelled", Message("Cancelled."))
        return Ending("failed", ENDED.format(reason=reason, starts=STARTS))

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


class _Conversation:
    """The parent's side: answers what the child asks until it says how the run ended."""

    def __init__(
        self, connection: Connection, backend: Backend, run: RunRecord, report: Report, files: RunFiles
    ) -> None:
        self._connection, self._backend, self._run = connection, backend, run
        self._report, self._files = report, files
        # No thread of the backend waits for the child to read.
        self._outbox: SimpleQueue[tuple[Any, ...] | None] = SimpleQueue()
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="run-requests")
        self._over = threading.Event()  # the run was stopped, or its process has ended

    def hold(self, process: Any, is_stopped: Callable[[], bool]) -> Ending | None:
        """How the run ended; None where its process died."""
        sender = threading.Thread(target=self._send, daemon=True)
        sender.start()
        stopped_at, fault, next_look = 0.0, "", 0.0
        try:
            while True:
                now = time.monotonic()
                if is_stopped() and not stopped_at:
                    stopped_at = now
                    self._over.set()
                    self._outbox.put(("stop",))
                if stopped_at and now - stopped_at > STOP_SECONDS:
                    process.kill()
                    return Ending("cancelled", "Cancelled.")
                if now >= next_look:
                    next_look = now + FAULT_SECONDS
                    if (present := self._backend.fault()) != fault:
                        fault = present
                        self._outbox.put(("fault", fault))
                if self._connection.poll(POLL_SECONDS) and (ending := self._answer(*self._connection.recv())):
                    return ending
        except (EOFError, OSError):  # OSError: it ended in the middle of a message
            return None
        finally:
            self._over.set()
            self._backend.cancel(self._run.id)
            self._outbox.put(None)
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, kind: str, *values: Any) -> Ending | None:
        if kind == "ended":
            ending, hits, misses = values
            self._backend.statistics.record_lookups(hits, misses)
            return ending  # type: ignore[no-any-return]
        if kind == "progress":
            self._report(*values)
        elif kind == "cancel":
            self._backend.cancel(self._run.id)
        else:
            number, arguments = values
            self._asked(kind, number, arguments).add_done_callback(
                lambda future: self._outbox.put(("answer", number, *_outcome(future)))
            )
        return None

    def _asked(self, kind: str, number: int, arguments: tuple[Any, ...]) -> Future[Any]:
        if kind == "run":
            operation, request = arguments
            try:
                return self._backend.run(operation, request, self._run.id)
            except Exception as error:  # it is the run's: the thread that answers continues
                refused: Future[Any] = Future()
                refused.set_exception(error)
                return refused
        work: dict[str, Callable[..., Any]] = {
            "locate": lambda model, revision: self._backend.locate(model, revision, partial(self._downloaded, number)),
            "entry": self._files.entry,
            "room": self._files.room,
        }
        return self._pool.submit(work[kind], *arguments)

    def _downloaded(self, number: int, *progress: Any) -> None:
        if self._over.is_set():
            raise Cancelled(Message("The run was cancelled."))  # ends the download
        self._outbox.put(("report", number, progress))

    def _send(self) -> None:
        with contextlib.suppress(OSError):
            while (message := self._outbox.get()) is not None:
                try:
                    self._connection.send(message)
                except OSError:
                    raise
                except Exception as error:  # an answer that cannot be pickled: nobody may wait for it
                    self._connection.send(("answer", message[1], False, _readable(error)))


def _outcome(future: Future[Any]) -> tuple[bool, Any]:
    if future.cancelled():
        return False, None
    error = future.exception()
    if error is None:
        return True, future.result()
    return False, _readable(error)


def _readable(error: BaseException) -> Exception:
    """An error that the child can read: one of the engine's own, and the words of any other."""
    if isinstance(error, EngineError) and type(error).__module__ == EngineError.__module__:
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")


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


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        names = {member.value: member.name for member in signal.Signals}
        name = names.get(-code, Message("signal {code}", code=-code))
        return (
            Message("was ended by {name}, as the system does when memory runs out", name=name)
            if -code == signal.SIGKILL
            else Message("was ended by {name}", name=name)
        )
    return Message("ended with exit code {code}", code=code)
