"""Turns of the pages: a few are drawn at once, the others wait, and whoever has many pages open waits for them.

Threads of one process share one interpreter. Thirty pages that are drawn at the same time all end late, and the thread
that speaks to the browsers waits behind every one of them; two at a time end one after the other. A turn that is given
back goes to the next person, not to the next page, and one turn is always left to somebody else.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = 2
# Who has waited so long without a turn has a page drawn all the same, one in each such time: pages that compute for long
# must not hold up the others.
LONGEST_SECONDS = 3.0


class Turns:
    """So many turns, given to those who wait in rotation. Who waits is told apart by a name; "" is more than one."""

    def __init__(self, at_once: int) -> None:
        self._lock = threading.Lock()
        self._free = self._at_once = at_once
        self._held = Counter[str]()
        self._waiting: OrderedDict[str, deque[threading.Event]] = OrderedDict()
        self._drawn: dict[str, float] = {}  # when somebody's page last began, with or without a turn

    @property
    def free(self) -> int:
        """How many nobody has."""
        return self._free

    def acquire(self, owner: str) -> bool:
        """Wait for a turn; False for a page that is drawn without one because it has waited for LONGEST_SECONDS."""
        with self._lock:
            if self._may_have_one(owner):
                self._give(owner)
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

    def release(self, owner: str) -> None:
        """Give back a turn of `owner`, on to who has waited longest of those that may have one."""
        with self._lock:
            self._free += 1
            self._held -= Counter([owner])
            for waiting in [name for name in self._waiting if self._may_have_one(name)]:
                if not self._free:
                    break
                pages = self._waiting.pop(waiting)
                self._give(waiting)
                pages.popleft().set()
                if pages:
                    self._waiting[waiting] = pages

    def _may_have_one(self, owner: str) -> bool:
        most = max(1, self._at_once - 1) if owner else self._at_once
        return self._free > 0 and self._held[owner] < most

    def _give(self, owner: str) -> None:
        self._free -= 1
        self._held[owner] += 1
        self._drawn[owner] = time.monotonic()

    def _may_go_without(self, owner: str) -> bool:
        now = time.monotonic()
        self._drawn = {name: when for name, when in self._drawn.items() if now - when < LONGEST_SECONDS}
        if owner in self._drawn:
            return False
        self._drawn[owner] = now
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
            _turns.release(owner)
        _holder.has_turn = False


@contextmanager
def waiting() -> Iterator[None]:
    """Let others have the turn of this thread, if it has one, while it waits for another process in the block."""
    had_turn = getattr(_holder, "has_turn", False)
    if had_turn:
        _turns.release(_holder.owner)
        _holder.has_turn = False
    try:
        yield
    finally:
        if had_turn:
            _holder.has_turn = _turns.acquire(_holder.owner)
