"""Timing; compared runs alternate, so that other load on the machine affects both."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

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
    """A number and its budget, in `unit`; `why`: what was measured beside it, which explains a missed one.

    `more_is_better`: the budget is the least that is asked, not the most.
    """

    work: str
    value: float
    budget: float
    unit: str = "s"
    why: str = ""
    more_is_better: bool = False

    @property
    def is_missed(self) -> bool:
        """Whether the number is on the wrong side of its budget."""
        return self.value < self.budget if self.more_is_better else self.value > self.budget


class ProcessorTime:
    """What a process, with all its children, and the rest of the machine compute from now on."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._start, self._own, self._all = time.perf_counter(), self._of_tree(), self._of_machine()

    def words(self, name: str) -> str:
        """How much it was until now, in a sentence; `name` is what to call the process."""
        seconds, own = time.perf_counter() - self._start, self._of_tree() - self._own
        others = max(self._of_machine() - self._all - own, 0.0)
        return (
            f"In {seconds:.2g} s {name} computed {own:.2g} s and everything else on the machine {others:.2g} s, on "
            f"{psutil.cpu_count()} cores."
        )

    def _of_tree(self) -> float:
        total = 0.0
        for process in [self._process, *self._process.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):  # it has just ended; its parent counts it then
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
        return total

    @staticmethod
    def _of_machine() -> float:
        times = psutil.cpu_times()
        return float(times.user + times.nice + times.system)


def within(work: str, budget: float, call: Callable[[], object], rounds: int = ROUNDS) -> Budget:
    """One call to warm up, then the median of a few."""
    call()
    processors = ProcessorTime(os.getpid())
    seconds = [wall_seconds(call) for _ in range(rounds)]
    return Budget(work, statistics.median(seconds), budget, why=processors.words(f"{rounds} times over the bench"))


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
