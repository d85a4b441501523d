"""A spawned worker process that holds models, and the pipe to it.

One process with one pipe, instead of `ProcessPoolExecutor`: the executor blocks for ever when its process is killed
while writing a large result (the parent holds the write end of the result pipe too, so it never sees end of file), and
it leaves its process running when the parent is killed. Here the pipe closes when either process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from engine.errors import EngineError, RunError
from engine.inference.backend import Piece, Request
from engine.inference.worker_state import ModelInMemory

ChunkFunction = Callable[[str, Request], list[Piece]]
# What can be done for a chunk while another one is computed, in a thread beside it; its errors are ignored.
PrepareFunction = Callable[[str, Request], None]

# Linux should kill a worker before other processes when memory runs out (0 = neutral, 1000 = first).
OOM_SCORE = 500
JOIN_SECONDS = 2.0


class WorkerExitedError(Exception):
    """The process ended before it returned a result; the message says how."""


class WorkerProcess:
    """A process that computes one chunk at a time and prepares those that follow. For use by one thread, but `kill`.

    A chunk is sent (`send`), begun (`begin`) once the one before it is computed, and received (`receive`); it is known
    by a number of the caller's. What is sent and not yet begun is prepared meanwhile.
    """

    def __init__(self, device: str, n_workers: int, chunk_function: ChunkFunction, prepare_function: PrepareFunction
                 ) -> None:
        """Start the process, one of `n_workers`."""
        context = multiprocessing.get_context("spawn")
        self._connection, child_connection = context.Pipe()
        # A daemon process is ended when the interpreter that started it exits.
        self._process = context.Process(
            target=_serve, args=(child_connection, device, n_workers, chunk_function, prepare_function), daemon=True,
            name=f"hakari-worker-{device}",
        )
        self._process.start()
        # While this process holds a copy of the child's end, it never sees end of file.
        child_connection.close()
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
        """Send a chunk, to be prepared until it is begun. Raises WorkerExitedError, and what pickling the request did.
        """
        self._send(("chunk", number, operation, request))

    def begin(self, number: int) -> None:
        """Let a chunk that was sent be computed after those that were begun. Raises WorkerExitedError."""
        self._send(("begin", number, None, None))

    def forget(self, number: int) -> None:
        """Drop a chunk that was sent and not begun. Raises WorkerExitedError."""
        self._send(("forget", number, None, None))

    def receive(self, number: int, on_computed: Callable[[], None]) -> list[Piece]:
        """Wait for a chunk that was begun. Raises what the computation raised, or WorkerExitedError.

        on_computed: called when the device is free for another chunk, before the pieces of this one have arrived.
        """
        is_complete = False
        try:
            while True:
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

    def _send(self, message: object) -> None:
        try:
            self._connection.send(message)
        except OSError as error:
            raise WorkerExitedError(self._exit_reason()) from error

    def _receive(self) -> tuple[str, int, Any]:
        try:
            return self._connection.recv()  # type: ignore[no-any-return]
        except (EOFError, OSError) as error:  # OSError: it ended in the middle of a message
            raise WorkerExitedError(self._exit_reason()) from error

    def _exit_reason(self) -> str:
        self._process.join(timeout=5)
        code = self._process.exitcode
        if not self._started:
            return (f"it could not start (exit code {code}; its error output is on stderr). A script that uses the "
                    'engine must do so under `if __name__ == "__main__":`, since a worker imports it again')
        if code is not None and code < 0:
            name = signal.Signals(-code).name if -code in signal.Signals.__members__.values() else f"signal {-code}"
            hint = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
            return f"it was ended by {name}{hint}"
        return f"it ended with exit code {code}"


def run_chunk(operation: str, request: Request) -> list[Piece]:
    """Run the models on one chunk, in the worker process: only there torch is imported."""
    from engine.models import worker

    return worker.run_chunk(operation, request)


def prepare_chunk(operation: str, request: Request) -> None:
    """Tokenize the texts of a chunk that is computed later, if a model has been loaded."""
    if (worker := sys.modules.get("engine.models.worker")) is not None:
        worker.prepare_chunk(operation, request)


def _serve(
    connection: Connection, device: str, n_workers: int, chunk_function: ChunkFunction,
    prepare_function: PrepareFunction,
) -> None:
    """Main loop of the worker process: one answer per chunk, until the other end of the pipe closes.

    The models compute in this thread. Others receive chunks and prepare them, and send answers.
    """
    # Ctrl-C in a terminal signals the whole process group; the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Read by engine.models: the device, and the number of workers that share the memory.
    os.environ["HAKARI_WORKERS"] = str(n_workers)
    if device != "auto":
        os.environ["HAKARI_DEVICE"] = device
    answers: SimpleQueue[_Answer | None] = SimpleQueue()
    answers.put(("started", -1, None))
    sender = threading.Thread(target=_send_answers, args=(connection, answers), daemon=True)
    sender.start()
    inbox = _Inbox(connection, prepare_function)
    while (chunk := inbox.next_begun()) is not None:
        _answer(answers, chunk_function, *chunk)
        del chunk  # its items may be large
    answers.put(None)
    sender.join()


_Answer = tuple[str, int, Any]
_Chunk = tuple[int, str, Request]


class _Inbox:
    """The chunks of a worker process: received and prepared by two threads of its own."""

    def __init__(self, connection: Connection, prepare_function: PrepareFunction) -> None:
        self._connection = connection
        self._prepare_function = prepare_function
        self._chunks: dict[int, _Chunk] = {}
        self._begun: SimpleQueue[_Chunk | None] = SimpleQueue()
        self._to_prepare: SimpleQueue[int] = SimpleQueue()
        self._preparing = threading.Lock()
        for work in (self._receive, self._prepare):
            threading.Thread(target=work, daemon=True).start()

    def next_begun(self) -> _Chunk | None:
        """Wait for the next chunk to compute; None when there will be none."""
        chunk = self._begun.get()
        # A chunk whose preparation has begun is left to it: the tokens would be made twice.
        with self._preparing:
            return chunk

    def _receive(self) -> None:
        while True:
            try:
                kind, number, operation, request = self._connection.recv()
            except (EOFError, OSError):
                self._begun.put(None)
                return
            if kind == "chunk":
                self._chunks[number] = (number, operation, request)
                self._to_prepare.put(number)
            elif kind == "begin":
                self._begun.put(self._chunks.pop(number))
            else:
                self._chunks.pop(number, None)

    def _prepare(self) -> None:
        while True:
            number = self._to_prepare.get()
            with self._preparing:
                chunk = self._chunks.get(number)  # absent once it was begun or forgotten
                if chunk is not None:
                    with contextlib.suppress(Exception):  # the computation itself will raise and report it
                        self._prepare_function(*chunk[1:])


def _answer(
    answers: SimpleQueue[_Answer | None], chunk_function: ChunkFunction, number: int, operation: str, request: Request
) -> None:
    message: _Answer
    try:
        message = ("pieces", number, chunk_function(operation, request))
    except EngineError as error:
        message = ("error", number, error)
    except Exception as error:
        message = ("error", number, portable_error(error, operation, request))
    answers.put(("computed", number, None))
    # The models in memory, with every answer, so that they are known without waiting for the worker; not as long as
    # the library of the models is not imported.
    if (worker := sys.modules.get("engine.models.worker")) is not None:
        answers.put(("models", number, worker.models_in_memory()))
    answers.put(message)


def _send_answers(connection: Connection, answers: SimpleQueue[_Answer | None]) -> None:
    """Pickle and send answers while the next chunk is computed."""
    while (message := answers.get()) is not None:
        try:
            connection.send(message)
        except OSError:
            return
        except Exception as error:  # the result cannot be pickled: nothing was sent
            text = "".join(traceback.format_exception(error))
            connection.send(("error", message[1], RuntimeError(
                f"{type(error).__name__} in a worker while it sent its answer: {error}\n{text}")))
        del message


def portable_error(error: Exception, operation: str, request: Request) -> Exception:
    """The error as one that any process can unpickle: torch's own would import torch in the web process."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return RunError(f"There is not enough memory for {operation} with {request.get('model')}, even in small "
                        f"batches: {error}. Use a smaller model or shorter sentences.")
    text = "".join(traceback.format_exception(error))
    return RuntimeError(f"{type(error).__name__} in a worker during {operation}: {error}\n{text}")


def _end_with_parent() -> None:
    """Exit when the parent process ends, also in the middle of a chunk: nobody would receive the result."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
