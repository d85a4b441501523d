"""`make bench`: Hakari beside its peers on the same weights, texts and threads, and the pages beside their budgets.

Everything is measured in one run and in alternation, medians of a few rounds; the tables go to RESULTS.md. Ratios
carry over to other machines, seconds do not. HAKARI_BENCH_SHARE=0.25 takes a quarter of the texts,
HAKARI_BENCH_ROUNDS=3 three rounds. `python -m tests.benchmarks peers host cache toggles scaling pages` measures only
what is named, and prints it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import torch

from engine.version import library_version
from tests.benchmarks import engine_cases, host_cases, metric_cases, page_cases, peer_cases, ray_cases, report
from tests.benchmarks.measuring import CLOCK

RESULTS = Path(__file__).with_name("RESULTS.md")


def main(parts: list[str]) -> None:
    """Measure all cases and write the tables, or the parts that are named and print theirs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables: dict[str, Callable[[], list[str]]] = {
            "peers": lambda: report.beside(*peer_cases.measured(folder)),
            "host": lambda: report.host(host_cases.measured(folder), host_cases.TARGET),
            "cache": lambda: report.repeated(engine_cases.cached(folder)),
            "toggles": lambda: report.budgets([*engine_cases.budgets(), *metric_cases.budgets(folder)]),
            "scaling": lambda: report.scaled(ray_cases.scaling(folder), ray_cases.TARGET),
            "pages": lambda: report.budgets(page_cases.budgets(folder)),
        }
        lines = report.heading(_machine(), parts or list(tables))
        for part in parts or tables:
            lines += ["", *tables[part]()]
    text = "\n".join([*lines, ""])
    if not parts:
        RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _machine() -> str:
    load = os.getloadavg()[0]
    versions = ", ".join(f"{name} {library_version(name)}" for name in ("torch", "transformers", "streamlit"))
    return (f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {report.processor()}, {torch.get_num_threads()} of "
            f"{os.cpu_count()} cores, {CLOCK} clock, {load:.1f} processes waiting at the start; Hakari with {versions}")


if __name__ == "__main__":
    main(sys.argv[1:])
