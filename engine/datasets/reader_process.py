"""Files are read in a process of their own, with bounds on its memory and time: a small file may unpack to a large one.

    table = read(files.read_table, path)                           waits for the result, as a command does
    reader = Reader(files.read_table, upload, name="mine.xlsx")    a page asks now and then: wait, progress, cancel

The process is forked, so that it starts within milliseconds. The system bounds it: it gets no more memory than
MEMORY_MB beyond what it starts with, and ends after SECONDS even if nobody waits for it. Its result comes back through
a file. A small text (SMALL_TEXT_BYTES) cannot become large and is read here.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from engine.datasets.formats.bounds import metered, number_of_environment
from engine.datasets.formats.files import JSON_SUFFIXES, TEXT_SUFFIXES
from engine.errors import Cancelled, EngineError, InputError
from engine.fork_server import forking_context

MEMORY_MB = 512.0
SECONDS = 300.0
RESULT_MB = 256  # of what a result takes in its file, and about as much in memory
SMALL_TEXT_BYTES = 2**18
SMALL_SUFFIXES = (*TEXT_SUFFIXES, *JSON_SUFFIXES, ".review", ".xml")
# What the server that processes are forked from should have imported.
PRELOAD = (__name__, "openpyxl", "chardet", "defusedxml.ElementTree")

_MIB = 2**20
_JOIN_SECONDS = 5.0

Result = TypeVar("Result")
Source = Path | bytes | Sequence[tuple[str, Path | bytes]]


class Progress(NamedTuple):
    """How far a reader has come: bytes or rows read, and bytes in all, 0 where that is not known."""

    done: int
    total: int


class _Task(NamedTuple):
    read: Callable[..., Any]
    source: Any
    arguments: Mapping[str, Any]
    memory_bytes: int
    seconds: float
    result: Path
    result_bytes: int
    environment: Mapping[str, str]


def read(function: Callable[..., Result], source: Source, *, name: str = "", **arguments: Any) -> Result:
    """What `function(source, name, **arguments)` returns, read in a process of its own unless it is small text.

    `source` is a path, bytes, or several of them with their names, (name, path or bytes); then `function` gets no name
    beside. Raises what `function` raises of the engine's errors, and InputError as `Reader.result`.
    """
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

    def __init__(self, function: Callable[..., Result], source: Source, *, name: str = "", **arguments: Any) -> None:
        """Start the process. Raises InputError when the system does not start it, or has no room for the file."""
        self.title = name or _title(source)
        self._seconds = number_of_environment("HAKARI_READER_SECONDS", SECONDS, "seconds")
        self._memory_mb = number_of_environment("HAKARI_READER_MB", MEMORY_MB, "MiB")
        self._progress = Progress(0, 0)
        self._ending: tuple[str, Any] | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="hakari-read-"))
        remove_folder = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        context = _context()
        task = _Task(function, self._on_disk(source), {**({"name": name} if name else {}), **arguments},
                     int(self._memory_mb * _MIB), self._seconds, self._folder / "result",
                     RESULT_MB * _MIB, dict(os.environ))
        self._connection, child_connection = context.Pipe(duplex=False)
        with child_connection:
            self._process = context.Process(target=_serve, args=(child_connection, task), daemon=True,
                                            name="hakari-reader")
            try:
                self._process.start()
            except (OSError, EOFError) as error:
                self._connection.close()
                remove_folder()
                raise InputError(f"{self.title} cannot be read now: the process that reads files does not start "
                                 f"({error or 'the one that starts it has ended'}). Try again.") from error
        self._close = weakref.finalize(self, _ended, self._process, self._connection, remove_folder)

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        return self._progress

    def wait(self, seconds: float | None) -> bool:
        """Wait until the process has ended, so many seconds at most (None: as long as it takes); whether it has."""
        while self._ending is None:
            try:
                if not self._connection.poll(seconds):
                    return False
                kind, value = self._connection.recv()
            except (EOFError, OSError):  # OSError: the connection was closed by another thread, which cancelled
                self._process.join(_JOIN_SECONDS)
                self._ending = self._ending or ("died", self._process.exitcode)
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
        """End the process."""
        self._ending = ("cancelled", None)
        self._close()

    close = cancel

    def _error(self, kind: str, value: Any) -> Exception:
        if kind == "refused":
            error: Exception = value
            return error
        if kind == "cancelled":
            return Cancelled(f"Reading {self.title} was cancelled.")
        if kind == "bug":
            return RuntimeError(f"Reading {self.title} failed: {value}")
        split = "Split it into smaller files"
        if kind == "memory" or (kind == "died" and value in (-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT)):
            return InputError(f"{self.title} takes more than {self._memory_mb:,.0f} MiB of memory to read, more than "
                              f"a file may. {split}, or raise the bound with HAKARI_READER_MB.")
        if kind == "large":
            return InputError(f"{self.title} holds more than {RESULT_MB} MiB of text, the most that is read of one "
                              f"upload or file. {split}.")
        if value == -signal.SIGALRM:
            return InputError(f"{self.title} takes longer than {self._seconds:,.0f} seconds to read, longer than a "
                              f"file may. {split}, or raise the bound with HAKARI_READER_SECONDS.")
        return InputError(f"{self.title} cannot be read: the process that read it ended with exit code {value}. Try "
                          "again.")

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


def _called(function: Callable[..., Result], source: Source, name: str, arguments: Mapping[str, Any]) -> Result:
    return function(source, **({"name": name} if name else {}), **arguments)


def _small_size(source: Path | bytes, name: str) -> int | None:
    """The size of text; None of what may be an archive, a workbook or compressed, of a folder and of a pipe."""
    if isinstance(source, bytes):
        raw, size, name = source[:SMALL_TEXT_BYTES], len(source), name
    else:
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
    names = [source.name] if isinstance(source, Path) else [] if isinstance(source, bytes) else [
        name for name, _ in source]
    return "The file" if not names else names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _context() -> Any:
    """How a process is started: forked from this one where no other thread of it runs, else from the fork server."""
    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    return forking_context(PRELOAD)


def _ended(process: Any, connection: Connection, remove_folder: Callable[[], object]) -> None:
    connection.close()
    if process.is_alive():
        process.kill()
    process.join(_JOIN_SECONDS)
    remove_folder()


def _serve(connection: Connection, task: _Task) -> None:
    """The child's side: read within the bounds, and say how it ended."""
    os.environ.clear()  # that of the fork server is as old as the server
    os.environ.update(task.environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, task.seconds)
    _bound_memory(task.memory_bytes)
    try:
        with metered(lambda *progress: connection.send(("progress", progress))):
            result = task.read(task.source, **task.arguments)
        with task.result.open("wb") as file:
            pickle.dump(result, file, protocol=5)
        ending: tuple[str, Any] = ("large" if task.result.stat().st_size > task.result_bytes else "read", None)
    except MemoryError:
        result = None
        ending = ("memory", None)
    except EngineError as error:
        ending = ("refused", error)
    except Exception as error:
        ending = ("bug", f"{type(error).__name__}: {error}")
    connection.send(ending)


def _bound_memory(n_bytes: int) -> None:
    """Let this process have `n_bytes` more than it has. Systems that cannot (macOS, Windows) bound only the time."""
    import pyarrow

    # Arrow's own allocator has taken a gigabyte of address space in advance, which no bound would count.
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    if sys.platform != "linux":
        return
    import resource

    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    data = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmData:"))
    with contextlib.suppress(ValueError, OSError):  # a lower bound is set already
        resource.setrlimit(resource.RLIMIT_DATA, (data + n_bytes, data + n_bytes))
