"""Timing; compared runs alternate, so that other load on the machine affects both."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 5
# HAKARI_BENCH_CLOCK=cpu measures CPU time instead of wall time: with one thread the ratios then hold on a machine
# with other load, too.
CLOCK = os.environ.get("HAKARI_BENCH_CLOCK", "wall")


@dataclass(frozen=True)
class Ratio:
    """Median seconds of the same work by Hakari and by a peer."""

    work: str
    peer: str
    hakari_seconds: float
    peer_seconds: float


@dataclass(frozen=True)
class Budget:
    """A median and its budget, in `unit`."""

    work: str
    value: float
    budget: float
    unit: str = "s"


def within(work: str, budget: float, call: Callable[[], object], rounds: int = ROUNDS) -> Budget:
    """One call to warm up, then the median of a few."""
    call()
    return Budget(work, statistics.median(wall_seconds(call) for _ in range(rounds)), budget)


def wall_seconds(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def clock_seconds(call: Callable[[], object]) -> float:
    """Seconds of one call in this process, by CLOCK."""
    if CLOCK != "cpu":
        return wall_seconds(call)
    start = time.process_time()
    call()
    return time.process_time() - start
