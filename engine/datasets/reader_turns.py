"""Turns of the processes that read files: a bounded number reads at once, the others wait in the order of their coming.

Whoever has several files read waits for those who have fewer: their owners take turns.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

from engine.datasets.formats.bounds import number_of_environment

VARIABLE = "HAKARI_READERS"
LEAST = 2  # where the machine has one core
# A reader that has not asked for its turn for so long has nobody waiting for it, and those behind it need not wait.
ASKING_SECONDS = 2.0


class Turns:
    """Who reads and who waits in this process. Thread-safe. A reader is any object that is told apart by identity."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._reading: dict[int, Any] = {}  # by the identity of the reader; its process, None until it is started
        self._asked: dict[int, float] = {}  # when those who wait asked last, in the order of their coming
        self._owners: dict[int, str] = {}  # of all of these

    def take(self, reader: object, n_readers: int, owner: str = "") -> bool:
        """Take a turn if one of `n_readers` is free and nobody is before it; else the reader waits and asks again.

        owner: whose file it reads. Before it is who has fewer files read or waiting earlier; among equals, who came first.
        """
        with self._lock:
            self._reading = {key: process for key, process in self._reading.items() if not _has_ended(process)}
            now = self._now()
            self._asked[id(reader)] = now
            self._owners[id(reader)] = owner
            self._owners = {
                key: name for key, name in self._owners.items() if key in self._reading or key in self._asked
            }
            waiting = [key for key, when in self._asked.items() if now - when < ASKING_SECONDS]
            if len(self._reading) + self._by_turn(waiting).index(id(reader)) >= n_readers:
                return False
            del self._asked[id(reader)]
            self._reading[id(reader)] = None
            return True

    def _by_turn(self, waiting: list[int]) -> list[int]:
        n_of_owner = Counter(self._owners[key] for key in self._reading)
        places: dict[int, int] = {}
        for key in waiting:
            places[key] = n_of_owner[self._owners[key]]
            n_of_owner[self._owners[key]] += 1
        return sorted(waiting, key=places.__getitem__)

    def begun(self, reader: object, process: Any) -> None:
        """Say which process reads: the turn ends with it."""
        with self._lock:
            if id(reader) in self._reading:
                self._reading[id(reader)] = process

    def leave(self, reader: object) -> None:
        """End the turn, or the waiting for one."""
        with self._lock:
            self._reading.pop(id(reader), None)
            self._asked.pop(id(reader), None)
            self._owners.pop(id(reader), None)


TURNS = Turns()


def readers_of_environment() -> int:
    """How many files are read at once: HAKARI_READERS, by default as many as the machine has cores.

    Raises InputError for what is no number above 0.
    """
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(number_of_environment(VARIABLE, max(LEAST, n_cores), "processes")))


def _has_ended(process: Any) -> bool:
    """Whether a process has ended, without collecting its exit code, which is for the reader it belongs to."""
    return process is not None and bool(wait([process.sentinel], 0))
