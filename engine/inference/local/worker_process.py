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
from typing import Any

from engine.errors import EngineError, RunError
from engine.inference.backend import Piece, Request
from engine.inference.worker_state import ModelInMemory

ChunkFunction = Callable[[str, Request], list[Piece]]

# Linux should kill a worker before other processes when memory runs out (0 = neutral, 1000 = first).
OOM_SCORE = 500
JOIN_SECONDS = 2.0


class WorkerExitedError(Exception):
    """The process ended before it returned a result; the message says how."""


class WorkerProcess:
    """A process that computes one chunk at a time. For use by one thread; `kill` may be called by any."""

    def __init__(self, device: str, n_workers: int, chunk_function: ChunkFunction) -> None:
        """Start the process, one of `n_workers`."""
        context = multiprocessing.get_context("spawn")
        self._connection, child_connection = context.Pipe()
        # A daemon process is ended when the interpreter that started it exits.
        self._process = context.Process(
            target=_serve, args=(child_connection, device, n_workers, chunk_function), daemon=True,
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

    def compute(self, operation: str, request: Request) -> list[Piece]:
        """Compute one chunk. Raises what the computation raised, or WorkerExitedError."""
        is_complete = False
        try:
            self._send((operation, request))
            while True:
                kind, value = self._receive()
                is_complete = kind in ("pieces", "error")
                if kind == "pieces":
                    return value  # type: ignore[no-any-return]
                if kind == "error":
                    raise value
                if kind == "models":
                    self._models = tuple(ModelInMemory(**model) for model in value)
                self._started = True
        finally:
            # A late answer to this request would be taken for the answer to the next one.
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

    def _receive(self) -> tuple[str, Any]:
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


def _serve(connection: Connection, device: str, n_workers: int, chunk_function: ChunkFunction) -> None:
    """Main loop of the worker process: one answer per request, until the other end of the pipe closes."""
    # Ctrl-C in a terminal signals the whole process group; the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Read by engine.models: the device, and the number of workers that share the memory.
    os.environ["HAKARI_WORKERS"] = str(n_workers)
    if device != "auto":
        os.environ["HAKARI_DEVICE"] = device
    connection.send(("started", None))
    while True:
        try:
            operation, request = connection.recv()
        except (EOFError, OSError):
            return
        _answer(connection, chunk_function, operation, request)


def _answer(connection: Connection, chunk_function: ChunkFunction, operation: str, request: Request) -> None:
    message: tuple[str, Any]
    try:
        message = ("pieces", chunk_function(operation, request))
    except EngineError as error:
        message = ("error", error)
    except Exception as error:
        message = ("error", portable_error(error, operation, request))
    try:
        _send_models_in_memory(connection)
        connection.send(message)
    except OSError:
        return
    except Exception as error:  # the result cannot be pickled: nothing was sent
        connection.send(("error", portable_error(error, operation, request)))


def _send_models_in_memory(connection: Connection) -> None:
    """Send the models in memory with every answer, so that they are known without waiting for the worker.

    Skipped as long as the worker has not imported the library of the models.
    """
    worker = sys.modules.get("engine.models.worker")
    if worker is not None:
        connection.send(("models", worker.models_in_memory()))


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
