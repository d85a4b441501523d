"""Which machine this is, as far as numbers of processes mean something."""

from __future__ import annotations

import os
import platform


def machine() -> str:
    """The machine's name, and where there are such the container: pids mean something only within one of them."""
    try:
        space = str(os.stat("/proc/self/ns/pid").st_ino)
    except OSError:
        space = ""
    return f"{platform.node()}/{space}"
