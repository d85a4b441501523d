"""One spawned process that holds models, and the line to it.

A process of our own with a pipe of its own, rather than `ProcessPoolExecutor`: that one waits for ever when
its process is killed while it writes a large result (it holds the writing end of the result pipe itself, so
the end of the stream never comes), and it leaves its process behind when the parent is killed. Here the pipe
closes with either end, whichever way that end died.
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
from engine.inference.worker_state import ResidentModel

ChunkFunction = Callable[[str, Request], list[Piece]]

# Of the processes of this machine a worker is the one to lose when memory runs out (0 = neutral, 1000 = first).
OOM_SCORE = 500
END_SECONDS = 2.0


class WorkerGoneError(Exception):
    """The process ended before it answered: `reason` says how."""


class WorkerProcess:
    """A process that computes one chunk at a time. To be used by one thread; `kill` by any."""

    def __init__(self, device: str, n_workers: int, chunk_function: ChunkFunction) -> None:
        """Start the process, one of `n_workers`; it answers once Python and the models' libraries are loaded."""
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        # A daemon ends with the interpreter that started it, however that one leaves.
        self._process = context.Process(
            target=_serve, args=(theirs, device, n_workers, chunk_function), daemon=True,
            name=f"hakari-worker-{device}",
        )
        self._process.start()
        # With our copy of its end open we would never see that end close.
        theirs.close()
        self._started = False
        self._models: tuple[ResidentModel, ...] = ()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid or 0

    @property
    def models(self) -> tuple[ResidentModel, ...]:
        """The models it held when it finished its last chunk. May be read by any thread."""
        return self._models

    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.is_alive()

    def ask(self, operation: str, request: Request) -> list[Piece]:
        """Have one chunk computed. Raises what the computation raised, or WorkerGoneError."""
        answered = False
        try:
            self._send((operation, request))
            while True:
                kind, value = self._receive()
                answered = kind in ("pieces", "error")
                if kind == "pieces":
                    return value  # type: ignore[no-any-return]
                if kind == "error":
                    raise value
                if kind == "residents":
                    self._models = tuple(ResidentModel(**model) for model in value)
                self._started = True
        finally:
            # Its late answer to this request would be taken for the answer to the next.
            if not answered:
                self.kill()

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def end(self) -> None:
        """End a process that has nothing to do: it gets a moment to put its things away."""
        self._connection.close()
        self._process.join(timeout=END_SECONDS)
        self._process.kill()
        self._process.join(timeout=END_SECONDS)

    def _send(self, message: object) -> None:
        try:
            self._connection.send(message)
        except OSError as error:
            raise WorkerGoneError(self._how_it_ended()) from error

    def _receive(self) -> tuple[str, Any]:
        try:
            return self._connection.recv()  # type: ignore[no-any-return]
        except (EOFError, OSError) as error:  # OSError: it ended in the middle of a message
            raise WorkerGoneError(self._how_it_ended()) from error

    def _how_it_ended(self) -> str:
        self._process.join(timeout=5)
        code = self._process.exitcode
        if not self._started:
            return (f"it could not start (exit code {code}; its own words are on stderr). A script that uses the "
                    'engine must do so under `if __name__ == "__main__":`, since a worker imports it again')
        if code is not None and code < 0:
            name = signal.Signals(-code).name if -code in signal.Signals.__members__.values() else f"signal {-code}"
            hint = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
            return f"it was ended by {name}{hint}"
        return f"it ended with exit code {code}"


def run_chunk(operation: str, request: Request) -> list[Piece]:
    """The real work, in the worker: only here torch is imported."""
    from engine.models import worker

    return worker.run_chunk(operation, request)


def _serve(connection: Connection, device: str, n_workers: int, chunk_function: ChunkFunction) -> None:
    """The worker's whole life: one request, one answer, until the other end closes."""
    # Ctrl-C in a terminal reaches every process of the group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Read by engine.models: where to compute, and with how many it shares the memory.
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
        message = ("error", described(error, operation, request))
    try:
        _tell_residents(connection)
        connection.send(message)
    except OSError:
        return
    except Exception as error:  # not picklable: nothing of it was sent
        connection.send(("error", described(error, operation, request)))


def _tell_residents(connection: Connection) -> None:
    """Say with every answer which models are in memory: whoever wants to know need not wait for a turn.

    A worker that never asked a model has not imported their library, and does not do so for this.
    """
    worker = sys.modules.get("engine.models.worker")
    if worker is not None:
        connection.send(("residents", worker.models_in_memory()))


def described(error: Exception, operation: str, request: Request) -> Exception:
    """An error any process can read: to unpickle torch's own would import torch in the web process."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return RunError(f"There is not enough memory for {operation} with {request.get('model')}, even in small "
                        f"batches: {error}. Use a smaller model or shorter sentences.")
    text = "".join(traceback.format_exception(error))
    return RuntimeError(f"{type(error).__name__} in a worker during {operation}: {error}\n{text}")


def _end_with_parent() -> None:
    """Leave when the parent is gone, in the middle of a chunk too: nobody would hear the answer."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
