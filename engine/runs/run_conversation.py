"""What a server and the process of one of its runs say to each other: requests, answers, progress, signs of life."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from engine.errors import Cancelled, EngineError
from engine.inference.backend import Backend
from engine.messages.message import Message
from engine.runs.execution import Ending, RunFiles
from engine.runs.storage.run_record import RunRecord

STOP_SECONDS = 5.0  # for a run to stop by itself before its process is killed
FAULT_SECONDS = 1.0  # between two looks at the backend's state
SILENT_SECONDS = 120.0  # without a sign of life until a process is taken to hang
POLL_SECONDS = 0.1

Report = Callable[[int, int, str], None]


class SilentError(Exception):
    """The process gives no sign of life; the message says for how long."""


class Conversation:
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
        stopped_at, fault, next_look, heard = 0.0, "", 0.0, time.monotonic()
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
                if self._connection.poll(POLL_SECONDS):
                    if ending := self._answer(*self._connection.recv()):
                        return ending
                    heard = time.monotonic()
                elif now - heard > SILENT_SECONDS:
                    process.kill()
                    raise SilentError(
                        Message("gave no answer for {seconds:,.0f} seconds and was ended", seconds=now - heard)
                    )
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
        if kind == "alive":
            pass
        elif kind == "progress":
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
