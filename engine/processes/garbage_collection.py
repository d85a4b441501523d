"""Less of Python's garbage collection, for what makes many objects at once and keeps them all."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

COLLECTED_OBJECTS = 100_000  # new ones, before the garbage collector looks at them


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """While thousands of pieces are unpacked, the collector would look again and again at all that there are.

    Several threads may pause at once: the first of them ends the pause for all, so it is never left switched off.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@cache
def spare_garbage_collection() -> None:
    """Leave what is loaded so far out of garbage collection, once in a process, and let it run less often.

    Tokenizing makes a tuple for each token and a table of pairs some objects for each of them, so that the collector,
    by default, ran every 700 of them and every now and then went through the hundreds of thousands of objects that the
    libraries consist of: a third of the time of a small model, a quarter of that of 67,000 cached pairs. Models that
    are loaded later are not frozen, because they are collected when they are dropped.
    """
    gc.freeze()
    gc.set_threshold(COLLECTED_OBJECTS, 10, 10)
