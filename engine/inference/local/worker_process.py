"""A spawned worker process that holds models, and the pipe to it.

One process with one pipe, instead of `ProcessPoolExecutor`: the executor blocks for ever when its process is killed
while writing a large result (the parent holds the write end of the result pipe too, so it never sees end of file), and
it leaves its process running when the parent is killed. Here the pipe closes when either process ends, however it ends.
"""

from __future__ import annotations

import logging
import multiprocessing
import pickle
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

from engine.inference.backend import Piece, Request
from engine.inference.local.worker_loop import BEAT_SECONDS, ChunkFunction, PrepareFunction, serve
from engine.inference.worker_state import ModelInMemory
from engine.messages.message import Message
from engine.processes.deaths import BY_ITSELF, KILLED, cause, how_it_ended, out_of_memory_kills
from engine.processes.garbage_collection import garbage_collection_paused
from engine.processes.import_path import leave_folders_of_packages

JOIN_SECONDS = 2.0
logger = logging.getLogger(__name__)


UNHEARD_SECONDS = 20.0  # without a sign of life until it is a fault; a few beats
SILENT_SECONDS = 120.0  # without a sign of life while it computes
STARTING_SECONDS = 300.0  # the same before its first: it imports
LONGEST_SECONDS = 3600.0  # for one chunk, about a second of work after its model was loaded


class WorkerExitedError(Exception):
    """The process ended before it returned a result; the message says how. why: of `engine.processes.deaths`."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(reason)
        self.why = why


class WorkerProcess:
    """A process that computes one chunk at a time and prepares those that follow.

    For use by one thread, but `kill` and `wake`, which any thread may call.

    A chunk is sent (`send`), begun (`begin`) once the one before it is computed, and received (`receive`); it is known
    by a number of the caller's. What is sent and not yet begun is prepared meanwhile.
    """

    def __init__(
        self, device: str, n_workers: int, chunk_function: ChunkFunction, prepare_function: PrepareFunction
    ) -> None:
        """Start the process, one of `n_workers`."""
        leave_folders_of_packages()  # they would be on the path of the process, too
        context = multiprocessing.get_context("spawn")
        self._kills_before = out_of_memory_kills()
        self._connection, child_connection = context.Pipe()
        # A daemon process is ended when the interpreter that started it exits.
        self._process = context.Process(
            target=serve,
            args=(child_connection, device, n_workers, chunk_function, prepare_function),
            daemon=True,
            name=f"hakari-worker-{device}",
        )
        self._process.start()
        # While this process holds a copy of the child's end, it never sees end of file.
        child_connection.close()
        self._wakes, self._wake_sender = context.Pipe(duplex=False)
        self._waking = threading.Lock()
        self._is_woken = False
        self._started = False
        self._awaited_since = self._heard = 0.0
        self._models: tuple[ModelInMemory, ...] = ()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid or 0

    @property
    def models(self) -> tuple[ModelInMemory, ...]:
        """The models it held after its last finished chunk. May be read by any thread."""
        return self._models

    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.is_alive()

    def send(self, number: int, operation: str, request: Request) -> None:
        """Send a chunk, to be prepared until it is begun. Raises WorkerExitedError, and what pickling the request did."""
        self._send(("chunk", number, operation, request))

    def begin(self, number: int) -> None:
        """Let a chunk be computed after those that were begun; others that were sent before it never will.

        Raises WorkerExitedError.
        """
        self._send(("begin", number, None, None))

    def wake(self) -> None:
        """Let the thread that waits in `receive` call its `on_wake` soon; without effect while no thread does."""
        with self._waking:
            if not self._is_woken:
                self._is_woken = True
                self._wake_sender.send_bytes(b"wake")

    def receive(self, number: int, on_computed: Callable[[], None], on_wake: Callable[[], None]) -> list[Piece]:
        """Wait for a chunk that was begun. Raises what the computation raised, or WorkerExitedError.

        on_computed: called when the device is free for another chunk, before the pieces of this one have arrived.
        on_wake: called after `wake`.
        """
        is_complete = False
        self._awaited_since = self._heard = time.monotonic()
        try:
            while True:
                self._wait(on_wake)
                kind, number_of_answer, value = self._receive()
                if kind == "models":
                    self._models = tuple(ModelInMemory(**model) for model in value)
                self._started = True
                if kind == "computed":
                    on_computed()
                is_complete = kind in ("pieces", "error")
                if is_complete and number_of_answer != number:
                    raise RuntimeError(f"Chunk {number_of_answer} was answered where {number} was awaited.")
                if kind == "pieces":
                    return value  # type: ignore[no-any-return]
                if kind == "error":
                    raise value
        finally:
            self._awaited_since = 0.0
            # A late answer to this chunk would be taken for the answer to the next one.
            if not is_complete:
                self.kill()

    def fault(self) -> str:
        """That it has given no sign of life for a while, though it is awaited; else "". For any thread."""
        silent = time.monotonic() - self._heard if self._awaited_since and self._started else 0.0
        if silent <= UNHEARD_SECONDS:
            return ""
        return Message(
            "{worker} has given no sign of life for {seconds:,.0f} seconds; it is replaced after {limit:,.0f}",
            worker=self._process.name,
            seconds=silent,
            limit=SILENT_SECONDS,
        )

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()

    def end(self) -> None:
        """End an idle process; it has `JOIN_SECONDS` to exit by itself before it is killed."""
        self._connection.close()
        self._process.join(timeout=JOIN_SECONDS)
        self._process.kill()
        self._process.join(timeout=JOIN_SECONDS)

    def _wait(self, on_wake: Callable[[], None]) -> None:
        """Wait until there is something to receive, also the end of the process."""
        while self._connection not in (ready := wait([self._connection, self._wakes], timeout=BEAT_SECONDS)):
            now = time.monotonic()
            self._require_life(now - self._heard, SILENT_SECONDS if self._started else STARTING_SECONDS)
            self._require_life(now - self._awaited_since, LONGEST_SECONDS)
            if ready:
                self._wakes.recv_bytes()
                with self._waking:
                    self._is_woken = False
                on_wake()

    def _require_life(self, seconds: float, most: float) -> None:
        """End a process that hangs: it was stopped, or its device does not answer. Raises WorkerExitedError then."""
        if seconds <= most:
            return
        logger.warning("The worker on %s was ended: no answer for %.0f seconds.", self._process.name, seconds)
        self._process.kill()
        self._process.join(timeout=JOIN_SECONDS)
        raise WorkerExitedError(
            Message("it gave no answer for {seconds:,.0f} seconds and was ended", seconds=seconds), BY_ITSELF
        )

    def _send(self, message: object) -> None:
        try:
            self._connection.send(message)
        except OSError as error:
            raise self._exited() from error

    def _receive(self) -> tuple[str, int, Any]:
        try:
            packed = self._connection.recv_bytes()
            self._heard = time.monotonic()
        except (EOFError, OSError) as error:  # OSError: it ended in the middle of a message
            raise self._exited() from error
        with garbage_collection_paused():
            return pickle.loads(packed)  # type: ignore[no-any-return]

    def _exited(self) -> WorkerExitedError:
        self._process.join(timeout=5)
        code = self._process.exitcode
        why = cause(code, self._kills_before)
        if not self._started and why != KILLED:
            reason = Message(
                "it could not start (exit code {code}; its error output is on stderr). A script that uses "
                'the engine must do so under `if __name__ == "__main__":`, since a worker imports it again',
                code=code,
            )
            return WorkerExitedError(reason, why)
        return WorkerExitedError(Message("it {ended}", ended=how_it_ended(code, why)), why)
