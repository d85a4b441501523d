"""Turns of the pages: a few are drawn at once, the others wait.

Threads of one process share one interpreter. Thirty pages that are drawn at the same time all end late, and the thread
that speaks to the browsers waits behind every one of them; two at a time end one after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = 2
# Whoever has waited so long is drawn all the same: pages that compute for long must not hold up the others.
LONGEST_SECONDS = 3.0

_turns = threading.BoundedSemaphore(AT_ONCE)
_holder = threading.local()


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn, and have it until the end of the block; a thread that has one continues immediately."""
    if getattr(_holder, "has_turn", False):
        yield
        return
    _holder.has_turn = _turns.acquire(timeout=LONGEST_SECONDS)
    try:
        yield
    finally:
        if _holder.has_turn:
            _turns.release()
        _holder.has_turn = False


@contextmanager
def waiting() -> Iterator[None]:
    """Let others have the turn of this thread, if it has one, while it waits for another process in the block."""
    had_turn = getattr(_holder, "has_turn", False)
    if had_turn:
        _turns.release()
        _holder.has_turn = False
    try:
        yield
    finally:
        if had_turn:
            _holder.has_turn = _turns.acquire(timeout=LONGEST_SECONDS)
