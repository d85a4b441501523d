"""A pause of Python's garbage collection, for what makes many objects at once and keeps them all."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
