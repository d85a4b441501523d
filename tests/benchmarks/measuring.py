"""Timing in alternation: whatever else the machine does falls on both sides."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 5
# HAKARI_BENCH_CLOCK=cpu counts the seconds that a processor worked instead of those that passed: with one thread the
# ratios then hold on a machine that others use too.
CLOCK = os.environ.get("HAKARI_BENCH_CLOCK", "wall")


@dataclass(frozen=True)
class Ratio:
    """Median seconds of the same work done by us and by a peer."""

    work: str
    peer: str
    ours: float
    theirs: float


@dataclass(frozen=True)
class Budget:
    """Median of something that may take `budget`, seconds or what `unit` says."""

    work: str
    value: float
    budget: float
    unit: str = "s"


def within(work: str, budget: float, call: Callable[[], object], rounds: int = ROUNDS) -> Budget:
    """One call to warm up, then the median of a few."""
    call()
    return Budget(work, statistics.median(taken(call) for _ in range(rounds)), budget)


def taken(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def worked(call: Callable[[], object]) -> float:
    """Seconds of one call in this process, by CLOCK."""
    if CLOCK != "cpu":
        return taken(call)
    started = time.process_time()
    call()
    return time.process_time() - started
