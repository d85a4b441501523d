"""Landlock: from now on this thread, and whatever it starts, reads the named files and folders and writes to one alone.

Source: Documentation/userspace-api/landlock.rst of Linux. Rights that a version of the kernel does not know yet are not
asked of it; what they cover is refused by the filter of system calls.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path

from engine.processes.confinement.kernel import call, control, landlock_version

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_NOWHERE = Path(os.devnull)  # libraries open it for writing when they are imported
# The rights of files that each version of the interface knows: 13 at first, then refer, truncate, ioctl of devices.
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
# In a folder of its own: reading, writing, making and removing files and folders, truncating; no links, sockets, devices.
_OWN_FOLDER = _WRITE_FILE | _READ_FILE | _READ_DIR | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 14
_TCP = 0b11  # bind and connect, from version 4
_SCOPES = 0b11  # abstract sockets and signals of processes outside, from version 6
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38


def restrict_files(readable: Iterable[Path], own_folder: Path) -> None:
    """Let the calling thread read these files and what is in these folders, and write into a folder of its own.

    Paths that do not exist are passed over. Raises OSError. The process must have no other thread: it would keep what
    it may.
    """
    version = landlock_version()
    rights = _RIGHTS[max(known for known in _RIGHTS if known <= version)]
    attributes = struct.pack("=QQQ", rights, _TCP, _SCOPES)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = call("landlock_create_ruleset", ctypes.create_string_buffer(attributes, 24), size, 0)
    try:
        for path in readable:
            _allow(ruleset, path, _READ_FILE | _READ_DIR)
        _allow(ruleset, _NOWHERE, _READ_FILE | _WRITE_FILE)
        _allow(ruleset, own_folder, _OWN_FOLDER & rights)
        control(_NO_NEW_PRIVILEGES, 1)
        call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        rule = struct.pack("=Qi", rights if path.is_dir() else rights & ~_READ_DIR, place)
        call("landlock_add_rule", ruleset, _PATH_BENEATH, ctypes.create_string_buffer(rule, len(rule)), 0)
    finally:
        os.close(place)
