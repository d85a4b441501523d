"""The command line: its help and a command whose pairs are in the cache, beside numpy and pandas; scoring, beside a script."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

import pandas as pd

from engine.datasets import sample_data
from tests.benchmarks.host import tiny_models
from tests.benchmarks.measuring import Budget

ROOT = Path(__file__).parents[2]
N_PAIRS = 10
ROUNDS = 5
SCORING_ROUNDS = 3
HELP_TIMES, COMMAND_TIMES = 1.5, 4.0  # of the time of importing numpy and pandas
SHARE = 0.8  # of the rate of a script that reads, tokenizes, runs and writes
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
        _scoring(folder),
    ]


def _scoring(folder: Path) -> Budget:
    """A tiny model on many pairs, from a file to files with nothing cached: the whole processes, in one thread of torch."""
    job = tiny_models.gpt2(folder / "tiny")
    pairs = folder / "many.csv"
    pd.DataFrame({"acceptable": job.texts[::2], "unacceptable": job.texts[1::2]}).to_csv(pairs, index=False)
    script = ["-m", "tests.benchmarks.host.plain_command", str(job.folder), str(pairs), str(folder / "scores.csv")]
    shares = []
    for number in range(SCORING_ROUNDS):
        new = folder / f"many-{number}"
        command = ["-m", "engine", "minimal-pairs", "--data", str(pairs), "--model", str(job.folder), "--out", str(new)]
        plain = _processor_seconds(script, HAKARI_THREADS="1")
        shares.append((plain, _processor_seconds([*command, "--cache", f"{new}-cache"], HAKARI_THREADS="1")))
    plain, own = map(statistics.median, zip(*shares, strict=True))
    return Budget(
        f"{len(job.texts):,} log-likelihoods of {job.source} by the command line, nothing cached: share of the rate of a script",
        statistics.median(plain / own for plain, own in shares),
        SHARE,
        "",
        f"The script took {plain:.3g} s of a processor, the command {own:.3g} s with its tables and intervals.",
        more_is_better=True,
    )


def _processor_seconds(arguments: list[str], **variables: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, **variables}
    subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
