"""The machine or container in which a process id is valid."""

from __future__ import annotations

import os
import platform


def machine() -> str:
    """The host name, and on Linux the inode of the PID namespace (the container): process ids are valid within it."""
    try:
        namespace = str(os.stat("/proc/self/ns/pid").st_ino)
    except OSError:
        namespace = ""
    return f"{platform.node()}/{namespace}"
