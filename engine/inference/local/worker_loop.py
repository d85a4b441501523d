"""What happens in a worker process: chunks are received and prepared, computed one at a time, and answered."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from engine.errors import EngineError, RunError
from engine.inference.backend import Piece, Request
from engine.messages.message import Message
from engine.processes.import_path import leave_folders_of_packages

ChunkFunction = Callable[[str, Request], list[Piece]]
# What can be done for a chunk while another one is computed, in a thread beside it; its errors are ignored.
PrepareFunction = Callable[[str, Request], None]

# Linux should kill a worker before other processes when memory runs out (0 = neutral, 1000 = first).
OOM_SCORE = 500
BEAT_SECONDS = 5.0  # between two signs of life while a chunk is computed

# What is sent (kind, number of the chunk, value), and the operation.
_Answers = SimpleQueue[tuple[tuple[str, int, Any], str] | None]
_Chunk = tuple[int, str, Request]


def run_chunk(operation: str, request: Request) -> list[Piece]:
    """Run the models on one chunk, in the worker process: only there torch is imported."""
    from engine.models import worker

    return worker.run_chunk(operation, request)


def prepare_chunk(operation: str, request: Request) -> None:
    """Tokenize the texts of a chunk that is computed later, if a model has been loaded."""
    if (worker := sys.modules.get("engine.models.worker")) is not None:
        worker.prepare_chunk(operation, request)


def serve(
    connection: Connection,
    device: str,
    n_workers: int,
    chunk_function: ChunkFunction,
    prepare_function: PrepareFunction,
) -> None:
    """Main loop of the worker process: one answer per chunk, until the other end of the pipe closes.

    The models compute in this thread. Others receive chunks and prepare them, and send answers.
    """
    leave_folders_of_packages()
    # Ctrl-C in a terminal signals the whole process group; the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Read by engine.models: the device, and the number of workers that share the memory.
    os.environ["HAKARI_WORKERS"] = str(n_workers)
    if device != "auto":
        os.environ["HAKARI_DEVICE"] = device
    answers: _Answers = SimpleQueue()
    answers.put((("started", -1, None), ""))
    sender = threading.Thread(target=_send_answers, args=(connection, answers), daemon=True)
    sender.start()
    inbox = _Inbox(connection, prepare_function)
    threading.Thread(target=_beat, args=(inbox, answers), daemon=True).start()
    while (chunk := inbox.next_begun()) is not None:
        _answer(answers, chunk_function, *chunk)
        del chunk  # its items may be large
        inbox.is_computing = False
    answers.put(None)
    sender.join()


class _Inbox:
    """The chunks of a worker process: received and prepared by two threads of its own."""

    def __init__(self, connection: Connection, prepare_function: PrepareFunction) -> None:
        self._connection = connection
        self._prepare_function = prepare_function
        self._chunks: dict[int, _Chunk] = {}
        self._begun: SimpleQueue[_Chunk | None] = SimpleQueue()
        self._to_prepare: SimpleQueue[int] = SimpleQueue()
        self._prepared = threading.Condition()
        self._in_preparation: int | None = None
        self.is_computing = False  # or about to be
        for work in (self._receive, self._prepare):
            threading.Thread(target=work, daemon=True).start()

    def next_begun(self) -> _Chunk | None:
        """Wait for the next chunk to compute; None when there will be none."""
        chunk = self._begun.get()
        self.is_computing = True
        if chunk is not None:
            with self._prepared:  # what is being done for it already is not done twice
                self._prepared.wait_for(lambda: self._in_preparation != chunk[0])
        return chunk

    def _receive(self) -> None:
        while True:
            try:
                kind, number, operation, request = self._connection.recv()
            except (EOFError, OSError):
                self._begun.put(None)
                return
            except BaseException:  # nothing can be received any more: the process is replaced
                traceback.print_exc()
                os._exit(1)
            if kind == "chunk":
                self._chunks[number] = (number, operation, request)
                self._to_prepare.put(number)
            else:
                with self._prepared:
                    chunk = self._chunks[number]
                    # What was sent before it was cancelled, or another device has begun it.
                    self._chunks.clear()
                self._begun.put(chunk)

    def _prepare(self) -> None:
        while True:
            number = self._to_prepare.get()
            with self._prepared:
                chunk = self._chunks.get(number)  # absent once it was begun
                self._in_preparation = None if chunk is None else number
            if chunk is not None:
                # The computation itself will raise and report it; a panic of a library is no Exception.
                with contextlib.suppress(BaseException):
                    self._prepare_function(*chunk[1:])
                with self._prepared:
                    self._in_preparation = None
                    self._prepared.notify_all()


def _beat(inbox: _Inbox, answers: _Answers) -> None:
    """Give signs of life while somebody waits: a thread beside the one that computes, whatever that does."""
    while True:
        time.sleep(BEAT_SECONDS)
        if inbox.is_computing:
            answers.put((("alive", -1, None), ""))


def _answer(answers: _Answers, chunk_function: ChunkFunction, number: int, operation: str, request: Request) -> None:
    message: tuple[str, int, Any]
    try:
        message = ("pieces", number, chunk_function(operation, request))
    except EngineError as error:
        message = ("error", number, error)
    except Exception as error:
        message = ("error", number, portable_error(error, operation, request))
    answers.put((("computed", number, None), operation))
    # The models in memory, with every answer, so that they are known without waiting for the worker; not as long as
    # the library of the models is not imported.
    if (worker := sys.modules.get("engine.models.worker")) is not None:
        answers.put((("models", number, worker.models_in_memory()), operation))
    answers.put((message, operation))


def _send_answers(connection: Connection, answers: _Answers) -> None:
    """Pickle and send answers while the next chunk is computed."""
    while (answer := answers.get()) is not None:
        message, operation = answer
        try:
            connection.send(message)
        except OSError:
            return
        except Exception as error:  # the result cannot be pickled: nothing was sent
            connection.send(("error", message[1], portable_error(error, operation, {})))
        del answer, message  # it may be large


def portable_error(error: Exception, operation: str, request: Request) -> Exception:
    """The error as one that any process can unpickle: torch's own would import torch in the web process."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return RunError(
            Message(
                "There is not enough memory for {operation} with {get}, even in small batches: "
                "{error}. Use a smaller model or shorter sentences.",
                operation=operation,
                get=request.get("model"),
                error=error,
            )
        )
    text = "".join(traceback.format_exception(error))
    return RuntimeError(f"{type(error).__name__} in a worker during {operation}: {error}\n{text}")


def _end_with_parent() -> None:
    """Exit when the parent process ends, also in the middle of a chunk: nobody would receive the result."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
