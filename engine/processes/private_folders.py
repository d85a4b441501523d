"""Folders for private bytes on their way through a process: below the data directory, and gone with the process.

    keep_below(data_dir / "reading")     of the one who opens it; sweeps what processes left that were killed
    private_folder()                     a new one, mode 0700, for its maker to remove

Each process has a folder there, whose lock it holds as long as it lives: who can take it knows that it is dead, also
after a restart in which its number went to another. Until `keep_below`, the folders are among the system's temporary ones.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "hakari-read-"
LOCK = "lock"

_parent: Path | None = None
_own: dict[Path, tuple[Path, int]] = {}  # by the parent: the folder of this process, and its lock
_access = threading.Lock()


def keep_below(parent: Path) -> None:
    """Make private folders below `parent` from now on, and remove those of processes that are no more. OSError."""
    global _parent
    with _access:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        parent.chmod(0o700)
        with _locked(parent):
            for folder in parent.iterdir():
                if folder.is_dir() and _is_left(folder):
                    shutil.rmtree(folder, ignore_errors=True)
        _parent = parent


def private_folder() -> Path:
    """A new folder that only this account reads. OSError where there is no room for it."""
    with _access:
        if _parent is None:
            return Path(tempfile.mkdtemp(prefix=PREFIX))
        folder, _ = _own.get(_parent, (None, None))
        if folder is None or not folder.exists():
            folder = _claimed(_parent)
        return Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))


def _claimed(parent: Path) -> Path:
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(parent):  # or who sweeps finds it before its lock is held
        folder = Path(tempfile.mkdtemp(dir=parent))
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)  # open until the process ends
        fcntl.flock(lock, fcntl.LOCK_EX)
        _own[parent] = folder, lock
    return folder


def _is_left(folder: Path) -> bool:
    try:
        with (folder / LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


@contextmanager
def _locked(parent: Path) -> Iterator[None]:
    with (parent / LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
