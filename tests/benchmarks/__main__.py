"""`make bench`: Hakari beside its peers on the same weights, texts and threads, and the pages beside their budgets.

Everything is measured in one run and in alternation, medians of a few rounds; the table goes to RESULTS.md. Ratios
carry over to other machines, seconds do not.
"""

from __future__ import annotations

import platform
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from engine.version import library_version
from tests.benchmarks import engine_cases, page_cases
from tests.benchmarks.measuring import Budget, Ratio

RESULTS = Path(__file__).with_name("RESULTS.md")
VERSIONS = ("torch", "transformers", "bert-score", "minicons", "streamlit")


def main() -> None:
    """Measure all cases and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        ratios = engine_cases.ratios(Path(folder))
        budgets = [*engine_cases.budgets(), *page_cases.budgets(Path(folder))]
    text = _report(ratios, budgets)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _report(ratios: list[Ratio], budgets: list[Budget]) -> str:
    import torch

    lines = [
        "# Benchmarks", "",
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.processor() or platform.machine()}, "
        f"{torch.get_num_threads()} threads, " + ", ".join(f"{name} {library_version(name)}" for name in VERSIONS)
        + ". Made by `make bench`.", "",
        "| Work | Beside | Hakari (s) | Peer (s) | Times as fast |", "|---|---|---|---|---|",
        *(f"| {case.work} | {case.peer} | {case.ours:.2f} | {case.theirs:.2f} | {case.theirs / case.ours:.2f} |"
          for case in ratios), "",
        "| What a user waits for | Seconds | Budget | Share of it |", "|---|---|---|---|",
        *(f"| {case.work} | {case.seconds:.3f} | {case.budget:g} | {case.seconds / case.budget:.0%} |"
          for case in budgets), "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
