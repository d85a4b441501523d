"""Memory that is free in this process and that Arrow and the C library keep for what comes next."""

from __future__ import annotations

import ctypes
from contextlib import suppress

import pyarrow as pa


def give_back_freed_memory() -> None:
    """Return it to the system: after a large table what is kept may be a third of what the process takes."""
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # there is one on Linux alone
        ctypes.CDLL(None).malloc_trim(0)
