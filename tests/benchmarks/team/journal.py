"""What the members of a team waited for and saw: seconds by kind of page, errors, and answers that are not theirs."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from tests.benchmarks.team.files import MemberFile

RUN = "a run, from its submission to its result"  # no page: what it takes depends on how many runs wait


@dataclass(frozen=True)
class SharedRun:
    """The link of a run that a member shares, and the file that it was made from."""

    run_id: str
    member: int
    file: MemberFile


@dataclass
class Journal:
    """Filled by all members; adding to a list is atomic."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    mixed_up: list[str] = field(default_factory=list)
    shared: list[SharedRun] = field(default_factory=list)
    n_visits: int = 0
    n_runs: int = 0

    @contextmanager
    def timed(self, kind: str) -> Iterator[None]:
        """Record how long the block took; of one that fails nothing is recorded."""
        start = time.perf_counter()
        yield
        self.seconds[kind].append(time.perf_counter() - start)

    def require_answer(
        self, who: str, file: MemberFile, metrics: Sequence[tuple[str, str]], texts: Sequence[str]
    ) -> None:
        """Record a mixed-up answer unless the page shows the file's name, its number of pairs and its accuracy."""
        values = {value for label, value in metrics if label.endswith(file.label)}
        is_named = any(file.name.removesuffix(".csv") in text.replace("\\", "") for text in texts)
        if file.accuracy not in {value.removeprefix(":orange[").removesuffix("]") for value in values} or not is_named:
            self.mixed_up.append(
                f"{who}: {file.name} has {file.label} and {file.accuracy}; the page shows "
                f"{list(metrics)[:8]}, {'with' if is_named else 'without'} its name"
            )

    def require_own(self, who: str, own: str, names: Sequence[str]) -> None:
        """Record a mixed-up list unless it has runs, and each is of data whose name begins as the member's own do."""
        foreign = [name for name in names if not name.startswith(own)]
        if foreign or not names:
            self.mixed_up.append(f"{who}: the list of runs has {foreign[:3] or 'no run'}")

    def rows(self) -> list[str]:
        """The table: for each kind of page how often, median, 95th percentile and slowest."""
        lines = ["| Page | Times | Median (s) | 95th percentile (s) | Slowest (s) |", "|---|---|---|---|---|"]
        return lines + [
            f"| {kind} | {len(values)} | {statistics.median(values):.2f} | {percentile(values):.2f} | "
            f"{max(values):.2f} |"
            for kind, values in sorted(self.seconds.items())
        ]

    def pages(self) -> dict[str, list[float]]:
        """The seconds by kind of page, without the waiting for runs."""
        return {kind: values for kind, values in self.seconds.items() if not kind.startswith(RUN)}


def percentile(values: Sequence[float]) -> float:
    """The 95th percentile.

    >>> percentile([0.0, 1.0, 2.0])
    1.9
    """
    return round(float(np.quantile(values, 0.95)), 6)
