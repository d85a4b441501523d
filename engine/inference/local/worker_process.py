"""A spawned worker process that holds models, and the pipe to it.

One process with one pipe, instead of `ProcessPoolExecutor`: the executor blocks for ever when its process is killed
while writing a large result (the parent holds the write end of the result pipe too, so it never sees end of file), and
it leaves its process running when the parent is killed. Here the pipe closes when either process ends, however it ends.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

from engine.inference.backend import Piece, Request
from engine.inference.local.worker_loop import ChunkFunction, PrepareFunction, serve
from engine.inference.worker_state import ModelInMemory
from engine.messages.message import Message
from engine.processes.garbage_collection import garbage_collection_paused
from engine.processes.import_path import leave_folders_of_packages

JOIN_SECONDS = 2.0


class WorkerExitedError(Exception):
    """The process ended before it returned a result; the message says how."""


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
            # A late answer to this chunk would be taken for the answer to the next one.
            if not is_complete:
                self.kill()

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
        while self._connection not in (ready := wait([self._connection, self._wakes])):
            if ready:
                self._wakes.recv_bytes()
                with self._waking:
                    self._is_woken = False
                on_wake()

    def _send(self, message: object) -> None:
        try:
            self._connection.send(message)
        except OSError as error:
            raise WorkerExitedError(self._exit_reason()) from error

    def _receive(self) -> tuple[str, int, Any]:
        try:
            packed = self._connection.recv_bytes()
        except (EOFError, OSError) as error:  # OSError: it ended in the middle of a message
            raise WorkerExitedError(self._exit_reason()) from error
        with garbage_collection_paused():
            return pickle.loads(packed)  # type: ignore[no-any-return]

    def _exit_reason(self) -> str:
        self._process.join(timeout=5)
        code = self._process.exitcode
        if not self._started:
            return Message(
                "it could not start (exit code {code}; its error output is on stderr). A script that uses "
                'the engine must do so under `if __name__ == "__main__":`, since a worker imports it again',
                code=code,
            )
        if code is not None and code < 0:
            name = (
                signal.Signals(-code).name
                if -code in signal.Signals.__members__.values()
                else Message("signal {code}", code=-code)
            )
            return (
                Message("it was ended by {name}, as the system does when memory runs out", name=name)
                if -code == signal.SIGKILL
                else Message("it was ended by {name}", name=name)
            )
        return Message("it ended with exit code {code}", code=code)
