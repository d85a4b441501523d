"""Memory that is free in this process and that Arrow and the C library keep for what comes next."""

from __future__ import annotations

import ctypes
from contextlib import suppress

ARENAS = 2
APART_BYTES = 2**20  # with a quarter of it a run of 67,000 pairs took 1.7 times as long to open
_M_ARENA_MAX, _M_MMAP_THRESHOLD = -8, -3  # of glibc's malloc.h


def give_back_freed_memory() -> None:
    """Return it to the system: after a large table what is kept may be a third of what the process takes."""
    import pyarrow as pa  # it starts threads, which `set_up_heaps` is to come before

    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # there is one on Linux alone
        ctypes.CDLL(None).malloc_trim(0)


def set_up_heaps() -> None:
    """Have the threads that are started from now on share ARENAS of the C library's heaps, and these keep less.

    By default nearly each thread has one of its own, eight for each core, and what it frees serves no other: a server
    that draws pages in many threads keeps tens of MB more. Python's lock lets one of them allocate at a time anyway.
    What has APART_BYTES is outside of them, and goes back when it is freed: by default only what is larger than anything
    freed before.
    """
    with suppress(OSError, AttributeError):  # of glibc alone
        library = ctypes.CDLL(None)
        library.mallopt(_M_ARENA_MAX, ARENAS)
        library.mallopt(_M_MMAP_THRESHOLD, APART_BYTES)
