"""What is large and shared by all sessions: results of runs, and tables with a row for each pair.

Bounded in bytes for the whole process, not in entries; and given back when no tab shows the run any more.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd
import streamlit as st

from engine.processes.freed_memory import give_back_freed_memory

MOST_BYTES = 256 * 2**20
LARGE_BYTES = 8 * 2**20  # of a value
IDLE_SECONDS = 20.0
PLENTY_BYTES, SOON_SECONDS = 96 * 2**20, 5.0  # beyond so many what no tab shows goes sooner

Value = TypeVar("Value")
Key = tuple[Any, ...]


@dataclasses.dataclass
class _Entry:
    value: Any
    n_bytes: int
    used: float


class LargeCache:
    """Values by key, whose first part is the id of the run that they are of. Thread-safe.

    Beyond `most_bytes` those used longest ago go; the newest stays, whatever its size.
    """

    def __init__(self, most_bytes: int = MOST_BYTES, *, now: Callable[[], float] = time.monotonic) -> None:
        self._most_bytes, self._now = most_bytes, now
        self._entries: dict[Key, _Entry] = {}
        self._lock = threading.Lock()
        self._making: defaultdict[Key, threading.Lock] = defaultdict(threading.Lock)

    @property
    def n_bytes(self) -> int:
        """The bytes of all values, columns that several have counted for each."""
        with self._lock:
            return sum(entry.n_bytes for entry in self._entries.values())

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key, made where it is not there; of several that ask at once, one makes it."""
        with self._lock:
            if (entry := self._used(key)) is not None:
                return cast(Value, entry.value)
            making = self._making[key]
        with making:
            with self._lock:
                if (entry := self._used(key)) is not None:  # made while this one waited
                    return cast(Value, entry.value)
            try:
                value = make()
                with self._lock:
                    n_bytes = n_bytes_of(value)
                    self._entries[key] = _Entry(value, n_bytes, self._now())
                    self._bound(key)
                if n_bytes > LARGE_BYTES:  # what making it took is free now
                    give_back_freed_memory()
            finally:
                with self._lock:
                    self._making.pop(key, None)
            return value

    def forget(self, run_id: str) -> None:
        """Drop what is of a run."""
        with self._lock:
            for key in [key for key in self._entries if key[0] == run_id]:
                del self._entries[key]

    def drop_idle(self, addresses: Collection[str]) -> int:
        """Drop what was of no run that one of the open addresses names, and not used, for IDLE_SECONDS; how many.

        Beyond PLENTY_BYTES it goes after SOON_SECONDS: a visitor who goes from one large run to the next.
        """
        now = self._now()
        before = now - (SOON_SECONDS if self.n_bytes > PLENTY_BYTES else IDLE_SECONDS)
        with self._lock:
            for key, entry in self._entries.items():
                if any(str(key[0]) in address for address in addresses):
                    entry.used = now  # what a tab shows; it may be on its way to another page of the run
            idle = [key for key, entry in self._entries.items() if entry.used <= before]
            for key in idle:
                del self._entries[key]
        if idle:
            give_back_freed_memory()
        return len(idle)

    def _used(self, key: Key) -> _Entry | None:
        entry = self._entries.get(key)
        if entry is not None:
            entry.used = self._now()
        return entry

    def _bound(self, newest: Key) -> None:
        n_bytes = sum(entry.n_bytes for entry in self._entries.values())
        for key, entry in sorted(self._entries.items(), key=lambda item: item[1].used):
            if n_bytes <= self._most_bytes:
                break
            if key != newest:
                n_bytes -= entry.n_bytes
                del self._entries[key]


@st.cache_resource(show_spinner=False)
def large() -> LargeCache:
    """That of this process."""
    return LargeCache()


def n_bytes_of(value: object) -> int:
    """What a table, an array, or a record of such takes in memory; texts that are Python's own are not looked into."""
    if isinstance(value, pd.DataFrame):
        return int(value.memory_usage().sum())
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, dict):
        return sum(map(n_bytes_of, value.values()))
    if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (str, int, float)):
        return sum(map(n_bytes_of, value))
    if dataclasses.is_dataclass(value):
        return sum(n_bytes_of(getattr(value, field.name)) for field in dataclasses.fields(value))
    return 0
