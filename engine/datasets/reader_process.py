"""Files are read in a process of their own, with bounds on its memory and time: a small file may unpack to a large one.

    table = read(files.read_table, path)                           waits for the result, as a command does
    reader = Reader(files.read_table, upload, name="mine.xlsx")    a page asks now and then: wait, progress, cancel

The process is forked, so that it starts within milliseconds. The system bounds it: it gets no more memory than
MEMORY_MB beyond what it starts with, and ends after SECONDS even if nobody waits for it. Its result comes back through
a file. A small text (SMALL_TEXT_BYTES) cannot become large and is read here. So many files are read at once as
HAKARI_READERS says; the process of a further one starts when it is its turn (`engine.datasets.reader_turns`).
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from engine.datasets.formats.bounds import number_of_environment
from engine.datasets.formats.files import JSON_SUFFIXES, TEXT_SUFFIXES, max_file_bytes
from engine.datasets.hub.fetching import fetch
from engine.datasets.hub.names import is_hub_name
from engine.datasets.reader_child import JOIN_SECONDS, Child, Task
from engine.datasets.reader_turns import TURNS, readers_of_environment
from engine.errors import Cancelled, InputError, reason_of
from engine.messages.message import Message
from engine.processes.fork_server import forking_context
from engine.processes.private_folders import private_folder

MEMORY_MB = 512.0
SECONDS = 300.0
RESULT_MB = 256  # of what a result takes in its file, and about as much in memory
SMALL_TEXT_BYTES = 2**18
SMALL_SUFFIXES = (*TEXT_SUFFIXES, *JSON_SUFFIXES, ".review", ".xml")
# What the server that processes are forked from should have imported.
PRELOAD = (__name__, "openpyxl", "chardet", "defusedxml.ElementTree")

_MIB = 2**20
_TURN_SECONDS = 0.1  # between two questions whether it is a reader's turn

Result = TypeVar("Result")
Room = TypeVar("Room")
Source = Path | bytes | Sequence[tuple[str, Path | bytes]]


class Progress(NamedTuple):
    """How far a reader has come: bytes or rows read, and bytes in all, 0 where that is not known."""

    done: int
    total: int


def read(function: Callable[..., Result], source: Source, *, name: str = "", **arguments: Any) -> Result:
    """What `function(source, name, **arguments)` returns, read in a process of its own unless it is small text.

    `source` is a path, bytes, or several of them with their names, (name, path or bytes); then `function` gets no name
    beside. Raises what `function` raises of the engine's errors, and InputError as `Reader.result`.
    """
    source = _fetched(source)
    if is_small(source, name):
        return _called(function, source, name, arguments)
    with contextlib.closing(Reader(function, source, name=name, **arguments)) as reader:
        reader.wait(None)
        return reader.result()


def is_small(source: Source, name: str = "") -> bool:
    """Whether all of `source` is text of so few bytes that what is read of it is small, too."""
    named = [(name, source)] if isinstance(source, Path | bytes) else source
    sizes = [_small_size(content, file_name) for file_name, content in named]
    return None not in sizes and sum(size or 0 for size in sizes) <= SMALL_TEXT_BYTES


class Reader(Generic[Result]):
    """A process that reads one file, or several. It ends with this object."""

    def __init__(
        self, function: Callable[..., Result], source: Source, *, name: str = "", owner: str = "", **arguments: Any
    ) -> None:
        """Start the process if it is its turn; else `wait` does.

        owner: who waits for it, for whom others that wait for fewer files go first.
        Raises InputError when the system does not start it, or has no room for the file.
        """
        self.title = name or _title(source)
        self._seconds = number_of_environment("HAKARI_READER_SECONDS", SECONDS, "seconds")
        self._memory_mb = number_of_environment("HAKARI_READER_MB", MEMORY_MB, "MiB")
        self._n_readers, self._owner = readers_of_environment(), owner
        self._progress = Progress(0, 0)
        self._begun = 0.0
        self._ending: tuple[str, Any] | None = None
        self._starting = threading.Lock()
        self._folder = self._room_for(private_folder)
        self._child = Child(self._folder)
        self._close = weakref.finalize(self, self._child.end)
        try:
            self._task = Task(
                function,
                self._room_for(lambda: self._on_disk(source)),
                {**({"name": name} if name else {}), **arguments},
                int(self._memory_mb * _MIB),
                self._seconds,
                self._folder / "result",
                RESULT_MB * _MIB,
                dict(os.environ),
            )
            self._start_in_turn()
        except InputError:
            self._close()
            raise

    @property
    def is_waiting(self) -> bool:
        """Whether it waits until others have been read."""
        return self._child.process is None and self._ending is None

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        return self._progress

    def wait(self, seconds: float | None) -> bool:
        """Wait until the process has ended, so many seconds at most (None: as long as it takes); whether it has.

        Seconds in which it waits for its turn count, too.
        """
        until = None if seconds is None else time.monotonic() + seconds
        while self.is_waiting:
            try:
                if self._start_in_turn():
                    break
            except InputError as error:
                self._ending = ("refused", error)
                break
            if until is not None and time.monotonic() >= until:
                return False
            time.sleep(_TURN_SECONDS if until is None else max(0.0, min(_TURN_SECONDS, until - time.monotonic())))
        while self._ending is None:
            process, connection = self._child.process, self._child.connection
            try:
                now = time.monotonic()
                late = self._begun + self._seconds + JOIN_SECONDS  # its own alarm has not ended it: it was stopped
                if now > late:
                    process.kill()
                    self._ending = self._ending or ("died", -signal.SIGALRM)
                    break
                if not connection.poll(max(0.0, min(late, late if until is None else until) - now) + 0.01):
                    if until is not None and time.monotonic() >= until:
                        return False
                    continue
                kind, value = connection.recv()
            except (EOFError, OSError):  # OSError: the connection was closed by another thread, which cancelled
                process.join(JOIN_SECONDS)
                self._ending = self._ending or ("died", process.exitcode)
                break
            if kind == "progress":
                self._progress = Progress(*value)
            else:
                self._ending = (kind, value)
        return True

    def result(self) -> Result:
        """The result of a process that has ended, read once.

        Raises the error of the engine that ended it; InputError when it took too much memory or time, or died;
        Cancelled after `cancel`.
        """
        kind, value = self._ending or ("cancelled", None)
        try:
            if kind == "read":
                with (self._folder / "result").open("rb") as file:
                    return pickle.load(file)  # type: ignore[no-any-return]
            raise self._error(kind, value)
        finally:
            self._close()

    def cancel(self) -> None:
        """End the process, or the waiting for its turn."""
        self._ending = ("cancelled", None)
        with self._starting:
            self._close()

    close = cancel

    def _start_in_turn(self) -> bool:
        """Start the process if it is its turn; whether it is. Raises InputError when the system does not start it."""
        with self._starting:
            if not self.is_waiting:
                return True
            if not TURNS.take(self._child, self._n_readers, self._owner):
                return False
            try:
                self._begun = time.monotonic()
                self._child.start(_context(), self._task)
            except (OSError, EOFError) as error:
                raise InputError(
                    Message(
                        "{title} cannot be read now: the process that reads files does not start "
                        "({listed}). Try again.",
                        title=self.title,
                        listed=error or Message("the one that starts it has ended"),
                    )
                ) from error
            return True

    def _error(self, kind: str, value: Any) -> Exception:
        if kind == "refused":
            error: Exception = value
            return error
        if kind == "cancelled":
            return Cancelled(Message("Reading {title} was cancelled.", title=self.title))
        if kind == "bug":
            return RuntimeError(f"Reading {self.title} failed: {value}")
        split = Message("Split it into smaller files")
        if kind == "memory" or (kind == "died" and value in (-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT)):
            return InputError(
                Message(
                    "{title} takes more than {memory_mb:,.0f} MiB of memory to read, more than a "
                    "file may. {split}, or raise the bound with HAKARI_READER_MB.",
                    title=self.title,
                    memory_mb=self._memory_mb,
                    split=split,
                )
            )
        if kind == "large":
            return InputError(
                Message(
                    "{title} holds more than {RESULT_MB} MiB of text, the most that is read of one "
                    "upload or file. {split}.",
                    title=self.title,
                    RESULT_MB=RESULT_MB,
                    split=split,
                )
            )
        if value == -signal.SIGALRM:
            return InputError(
                Message(
                    "{title} takes longer than {seconds:,.0f} seconds to read, longer than a file "
                    "may. {split}, or raise the bound with HAKARI_READER_SECONDS.",
                    title=self.title,
                    seconds=self._seconds,
                    split=split,
                )
            )
        return InputError(
            Message(
                "{title} cannot be read: the process that read it ended with exit code {value}. Try again.",
                title=self.title,
                value=value,
            )
        )

    def _room_for(self, write: Callable[[], Room]) -> Room:
        try:
            return write()
        except OSError as error:
            raise InputError(
                Message(
                    "{title} cannot be read now: there is no room to write it down ({error}). Make room on the disk, or "
                    "ask whoever runs this instance to.",
                    title=self.title,
                    error=reason_of(error),
                )
            ) from error

    def _on_disk(self, source: Source) -> Any:
        """The source with paths in place of bytes."""

        def path_of(content: Path | bytes, number: int) -> Path:
            if isinstance(content, Path):
                return content
            path = self._folder / f"source-{number}"
            path.write_bytes(content)
            return path

        if isinstance(source, Path | bytes):
            return path_of(source, 0)
        return [(name, path_of(content, number)) for number, (name, content) in enumerate(source)]


def _fetched(source: Source) -> Source:
    """The source with data of the hub fetched, and named by their commit: the process that reads them has a time limit."""

    def fetched(content: Path | bytes) -> Path | bytes:
        if not (isinstance(content, Path) and is_hub_name(content)):
            return content
        return Path(fetch(str(content), max_file_bytes()).name)

    if isinstance(source, Path | bytes):
        return fetched(source)
    return [(name, fetched(content)) for name, content in source]


def _called(function: Callable[..., Result], source: Source, name: str, arguments: Mapping[str, Any]) -> Result:
    return function(source, **({"name": name} if name else {}), **arguments)


def _small_size(source: Path | bytes, name: str) -> int | None:
    """The size of text; None of what may be an archive, a workbook or compressed, of a folder and of a pipe."""
    if isinstance(source, bytes):
        raw, size, name = source[:SMALL_TEXT_BYTES], len(source), name
    else:
        if is_hub_name(source):
            return None
        if not source.exists():
            return 0  # which is refused at once
        if not source.is_file() or (size := source.stat().st_size) > SMALL_TEXT_BYTES:
            return None
        name = name or source.name
        try:
            raw = source.read_bytes()
        except OSError:
            return 0  # as well
    packed = raw.startswith((b"PK", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")) or raw[257:].startswith(b"ustar")
    return None if packed or not name.lower().endswith(SMALL_SUFFIXES) else size


def _title(source: Source) -> str:
    names = (
        [source.name] if isinstance(source, Path) else [] if isinstance(source, bytes) else [name for name, _ in source]
    )
    return (
        Message("The file")
        if not names
        else names[0]
        if len(names) == 1
        else Message("{names} and {n} more", names=names[0], n=len(names) - 1)
    )


def _context() -> Any:
    """How a process is started: forked from this one where no other thread of it runs, else from the fork server."""
    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    return forking_context(PRELOAD)
