"""Turns of the pages: a few are drawn at once, the others wait, and whoever has many pages open waits for them.

Threads of one process share one interpreter. Thirty pages that are drawn at the same time all end late, and the thread
that speaks to the browsers waits behind every one of them; two at a time end one after the other. A turn that is given
back goes to the next person, not to the next page.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = 2
# Whose page has waited so long is drawn all the same, a page in each such time: pages that compute for long must not
# hold up the others.
LONGEST_SECONDS = 3.0


class Turns:
    """So many turns, given to those who wait in rotation. Who waits is told apart by a name."""

    def __init__(self, at_once: int) -> None:
        self._lock = threading.Lock()
        self._free = at_once
        self._waiting: OrderedDict[str, deque[threading.Event]] = OrderedDict()
        self._excepted: dict[str, float] = {}  # when somebody's page was last drawn without a turn

    @property
    def free(self) -> int:
        """How many nobody has."""
        return self._free

    def acquire(self, owner: str) -> bool:
        """Wait for a turn; False for a page that is drawn without one because it has waited for LONGEST_SECONDS."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            given = threading.Event()
            self._waiting.setdefault(owner, deque()).append(given)
        while not given.wait(LONGEST_SECONDS):
            with self._lock:
                if given.is_set():
                    break
                if self._may_go_without(owner):
                    self._waiting[owner].remove(given)
                    if not self._waiting[owner]:
                        del self._waiting[owner]
                    return False
        return True

    def release(self) -> None:
        """Give a turn back, or on to who has waited longest for one."""
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            owner, pages = self._waiting.popitem(last=False)
            pages.popleft().set()
            if pages:
                self._waiting[owner] = pages

    def _may_go_without(self, owner: str) -> bool:
        now = time.monotonic()
        self._excepted = {name: when for name, when in self._excepted.items() if now - when < LONGEST_SECONDS}
        if owner in self._excepted:
            return False
        self._excepted[owner] = now
        return True


_turns = Turns(AT_ONCE)
_holder = threading.local()


@contextmanager
def turn(owner: str = "") -> Iterator[None]:
    """Wait for a turn, and have it until the end of the block; a thread that has one continues immediately.

    owner: the id of who looks at the page; all whose id is not known count as one.
    """
    if getattr(_holder, "has_turn", False):
        yield
        return
    _holder.owner = owner
    _holder.has_turn = _turns.acquire(owner)
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
            _holder.has_turn = _turns.acquire(_holder.owner)
