"""Confinement of this process, in two steps, for code that nobody here has written.

    give_up_files([...], …)   first of all, as long as there is one thread: files, capabilities, traces
    give_up_calls(bytes)      after what is trusted was imported, before what is not: network, processes, memory
    is_confined()             both were done, and tried

Nothing of it can be taken back. What a process may still do: compute within its memory, read the named files, write into one
folder and to the pipes that it was started with. It can ask whether any path exists, and when it was changed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import socket
import struct
from collections.abc import Callable, Iterable
from pathlib import Path

from engine.processes.confinement.call_filter import filter_calls
from engine.processes.confinement.kernel import call, control
from engine.processes.confinement.landlock import restrict_files

OOM_SCORE = 1000  # Linux ends it before any other process when memory runs out
LARGEST_FILE = 2**20  # of its error output, and in its own folder
_DIE_WITH_PARENT, _DUMPABLE = 1, 4
_CAPABILITIES_VERSION = 0x20080522

_steps: set[str] = set()
_own_size: int | None = None  # an open file that says how large this process is


def is_confined() -> bool:
    """Whether this process has given up all that it can, so that code of others may be imported."""
    return _steps == {"files", "calls"}


def give_up_files(readable: Iterable[Path], own_folder: Path) -> None:
    """Keep the named files and folders, for reading, and a folder to write to; no capability, no life after the parent's.

    Raises OSError, also where there is a second thread already.
    """
    global _own_size
    if len(os.listdir("/proc/self/task")) != 1:
        raise OSError("There are threads already, which would keep what they may.")
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE))
    _own_size = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    control(_DIE_WITH_PARENT, signal.SIGKILL)
    control(_DUMPABLE, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    restrict_files(readable, own_folder)
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITIES_VERSION, 0))
    call("capset", header, ctypes.create_string_buffer(24))  # none effective, permitted or inheritable
    _require_refused("listing /", lambda: os.listdir("/"))
    _steps.add("files")


def give_up_calls(memory_bytes: int) -> None:
    """Keep so much memory beyond what is taken, and the system calls that computing needs. Raises OSError."""
    most = _size() + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    filter_calls()
    _require_refused("a socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close())
    _require_refused("a signal to the parent", lambda: os.kill(os.getppid(), 0))
    _require_refused("a program", lambda: os.execv("/bin/true", ["true"]))
    _steps.add("calls")


def _size() -> int:
    """Bytes of address space that this process has taken."""
    if _own_size is None:
        raise OSError("The files were not given up before the calls.")
    pages = int(os.pread(_own_size, 100, 0).split()[0])
    return pages * resource.getpagesize()


def _require_refused(what: str, attempt: Callable[[], object]) -> None:
    try:
        attempt()
    except PermissionError:
        return
    raise OSError(f"The kernel did not refuse {what}.")
