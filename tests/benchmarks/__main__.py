"""`make bench`: Hakari beside its peers on the same weights, texts and threads, and the pages beside their budgets.

Everything is measured in one run and in alternation, medians of a few rounds; the tables go to RESULTS.md. Ratios
carry over to other machines, seconds do not. HAKARI_BENCH_SHARE=0.25 takes a quarter of the texts,
HAKARI_BENCH_ROUNDS=3 three rounds. `python -m tests.benchmarks clusters server` measures only the sections that are
named (`tables` below has all of them), and prints them; `million`
is measured only where it is named. A section that fails says so in its place, and the exit status
is 1. `python -m tests.benchmarks team [--minutes 10] [--visitors 30] [--browsers 6] [--visits 500]
[--think 3 15]` is no part of the others: it takes a quarter of an hour.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import torch

from engine.version import library_version
from tests.benchmarks import (
    answer_cases,
    base_models,
    cluster_cases,
    command_cases,
    engine_cases,
    metric_cases,
    million_cases,
    page_cases,
    peer_cases,
    ray_cases,
    report,
    server_cases,
)
from tests.benchmarks.host import cases as host
from tests.benchmarks.measuring import CLOCK
from tests.benchmarks.team import cases as team
from tests.benchmarks.team import tabs

NAMED_ONLY = ("million",)  # it takes a quarter of an hour
RESULTS = Path(__file__).with_name("RESULTS.md")
APART = "<!-- measured apart -->"  # what follows in RESULTS is kept when the rest is written anew


def main(parts: list[str]) -> int:
    """Measure all cases and write the tables, or the parts that are named and print theirs; returns the exit status."""
    if parts[:1] == ["team"]:
        return team_main(parts[1:])
    n_failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables: dict[str, Callable[[], list[str]]] = {
            "peers": lambda: report.beside(*peer_cases.measured(folder)),
            "host": lambda: report.host(host.measured(folder), host.TARGET),
            "cache": lambda: report.repeated(engine_cases.cached(folder)),
            "toggles": lambda: report.budgets([*engine_cases.budgets(), *metric_cases.budgets(folder)]),
            "commands": lambda: report.budgets(command_cases.budgets(folder)),
            "scaling": lambda: report.scaled(ray_cases.scaling(folder), ray_cases.TARGET),
            "pages": lambda: report.budgets(page_cases.budgets(folder)),
            "answers": lambda: report.budgets(answer_cases.budgets(folder)),
            "clusters": lambda: report.budgets(cluster_cases.budgets(folder)),
            "server": lambda: report.budgets([*server_cases.budgets(folder), *tabs.budgets(folder)]),
            "million": lambda: report.budgets(million_cases.budgets(folder)),
        }
        if unknown := [part for part in parts if part not in tables]:
            print(f"There is no section {', '.join(unknown)}; there are {', '.join(tables)}.", file=sys.stderr)
            return 2
        measured = parts or [part for part in tables if part not in NAMED_ONLY]
        lines = report.heading(_machine(), measured, base_models.texts_used())
        for part in measured:
            try:
                section = tables[part]()
            except Exception as error:
                traceback.print_exc()
                n_failed += 1
                section = report.failed(part, error)
            # What is measured so far, for whoever waits
            print(f"{datetime.now(UTC):%H:%M} {part}", *section, sep="\n", file=sys.stderr, flush=True)
            lines += ["", *section]
    text = "\n".join([*lines, ""])
    if not parts:
        apart = RESULTS.read_text(encoding="utf-8").partition(APART)
        RESULTS.write_text(text + "".join(["\n", *apart[1:]] if apart[1] else []), encoding="utf-8")
    print(text)
    return 1 if n_failed else 0


def team_main(arguments: list[str]) -> int:
    """Measure a team's server under load and print the tables; the exit status is 1 where a budget is missed."""
    load = team.load_of(arguments)
    heading = report.heading(_machine(), ["team"], base_models.texts_used())[2]
    with tempfile.TemporaryDirectory() as name:
        seen = team.measured(Path(name), load)
    print(heading, "", *team.lines(load, seen), sep="\n")
    return 0 if team.is_kept(load, seen) else 1


def _machine() -> str:
    load = os.getloadavg()[0]
    versions = ", ".join(f"{name} {library_version(name)}" for name in ("torch", "transformers", "streamlit"))
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {report.processor()}, {torch.get_num_threads()} of "
        f"{os.cpu_count()} cores, {CLOCK} clock, {load:.1f} processes waiting at the start; Hakari with {versions}"
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
