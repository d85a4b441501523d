"""The process that reads a file (`engine.datasets.reader_process`): its bounds, its life and how it ends."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from engine.datasets.formats.bounds import metered
from engine.datasets.reader_turns import TURNS
from engine.errors import EngineError
from engine.processes.import_path import leave_folders_of_packages

JOIN_SECONDS = 5.0


class Task(NamedTuple):
    """What is read, within which bounds, and where the result goes."""

    read: Callable[..., Any]
    source: Any
    arguments: Mapping[str, Any]
    memory_bytes: int
    seconds: float
    result: Path
    result_bytes: int
    environment: Mapping[str, str]


class Child:
    """The process of a reader, once it is started, and what goes with it: its connection, its folder, its turn."""

    def __init__(self, folder: Path) -> None:
        self.process: Any = None
        self.connection: Any = None
        self._folder = folder

    def start(self, context: Any, task: Task) -> None:
        """Start the process in a context of multiprocessing.

        Raises OSError or EOFError when the system does not start it; then the turn is over.
        """
        try:
            connection, child_connection = context.Pipe(duplex=False)
            with child_connection:
                process = context.Process(
                    target=_serve, args=(child_connection, task), daemon=True, name="hakari-reader"
                )
                try:
                    process.start()
                except (OSError, EOFError):
                    connection.close()
                    raise
        except (OSError, EOFError):
            TURNS.leave(self)
            raise
        self.connection, self.process = connection, process
        TURNS.begun(self, process)

    def end(self) -> None:
        """End whatever there is."""
        TURNS.leave(self)
        if self.process is not None:
            self.connection.close()
            if self.process.is_alive():
                self.process.kill()
            self.process.join(JOIN_SECONDS)
        shutil.rmtree(self._folder, ignore_errors=True)


def _serve(connection: Connection, task: Task) -> None:
    """The child's side: read within the bounds, and say how it ended."""
    leave_folders_of_packages()
    os.environ.clear()  # that of the fork server is as old as the server
    os.environ.update(task.environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, task.seconds)
    bound_memory(task.memory_bytes)
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
        ending = ("memory", None) if _is_out_of_memory(error) else ("bug", f"{type(error).__name__}: {error}")
    connection.send(ending)


def _is_out_of_memory(error: Exception) -> bool:
    """Whether it is what Arrow raises where it has no memory for a text of Python's."""
    return (
        type(error).__name__ == "ArrowException" and re.search("Wrapping .* failed", str(error), re.DOTALL) is not None
    )


def bound_memory(n_bytes: int) -> None:
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
