"""Timing in alternation: whatever else the machine does falls on both sides."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 5


@dataclass(frozen=True)
class Ratio:
    """Median seconds of the same work done by us and by a peer."""

    work: str
    peer: str
    ours: float
    theirs: float


@dataclass(frozen=True)
class Budget:
    """Median seconds of something that may take `budget` seconds."""

    work: str
    seconds: float
    budget: float


def beside(
    work: str, peer: str, ours: Callable[[], object], theirs: Callable[[], object], rounds: int = ROUNDS
) -> Ratio:
    """Both once to warm up, then in turns."""
    ours()
    theirs()
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for call, found in zip((ours, theirs), seconds, strict=True):
            found.append(taken(call))
    return Ratio(work, peer, *(statistics.median(found) for found in seconds))


def within(work: str, budget: float, call: Callable[[], object], rounds: int = ROUNDS) -> Budget:
    """One call to warm up, then the median of a few."""
    call()
    return Budget(work, statistics.median(taken(call) for _ in range(rounds)), budget)


def taken(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
