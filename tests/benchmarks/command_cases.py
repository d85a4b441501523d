"""The command line before any work: its help, and a command whose pairs are in the cache, beside numpy and pandas."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

from engine.datasets import sample_data
from tests.benchmarks.measuring import Budget

ROOT = Path(__file__).parents[2]
N_PAIRS = 10
ROUNDS = 5
HELP_TIMES, COMMAND_TIMES = 1.5, 4.0  # of the time of importing numpy and pandas
MODEL = "builtin/gpt2-mini-ja"


def budgets(folder: Path) -> list[Budget]:
    """Processor time, that of all processes of a command: a busy machine does not lengthen it as it does the clock's."""
    data = folder / "ten.csv"
    lines = sample_data.path("minimal_pairs").read_text(encoding="utf-8").splitlines()[: N_PAIRS + 1]
    data.write_text("\n".join([*lines, ""]), encoding="utf-8")
    command = ["minimal-pairs", "--data", str(data), "--model", MODEL, "--out", str(folder / "ten")]
    commands = {
        "import": ["-c", "import numpy, pandas"],
        "help": ["-m", "engine", "--help"],
        "cached": ["-m", "engine", *command, "--cache", str(folder / "ten-cache")],
    }
    for arguments in commands.values():  # the first fills the cache
        _processor_seconds(arguments)
    seconds = {
        name: statistics.median(_processor_seconds(arguments) for _ in range(ROUNDS))
        for name, arguments in commands.items()
    }
    why = f"Importing numpy and pandas took {seconds['import']:.2g} s of a processor."

    def budget(work: str, name: str, times: float) -> Budget:
        return Budget(f"{work}, processor time", seconds[name], times * seconds["import"], why=why)

    return [
        budget("`engine --help`", "help", HELP_TIMES),
        budget(f"`engine minimal-pairs` on {N_PAIRS} pairs of the sample, all in the cache", "cached", COMMAND_TIMES),
    ]


def _processor_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
