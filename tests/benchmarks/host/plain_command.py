"""A short script as one would write it: `python -m tests.benchmarks.host.plain_command MODEL PAIRS.csv SCORES.csv`.

It reads minimal pairs, tokenizes and runs them through a causal model in batches, and writes the log-likelihood of each
sentence.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import torch

from tests.benchmarks.host.plain_loops import PlainLoop
from tests.benchmarks.host.tiny_models import TinyJob

BATCH_SIZE = 128


def main(model: str, pairs: str, scores: str) -> None:
    """Score all pairs of a file in one thread."""
    torch.set_num_threads(1)
    frame = pd.read_csv(pairs)
    texts = tuple(text for pair in zip(frame["acceptable"], frame["unacceptable"], strict=True) for text in pair)
    values = [
        float(row.sum())
        for row in PlainLoop(TinyJob(Path(model), texts, pairs), causal=True).log_likelihoods(BATCH_SIZE)
    ]
    frame.assign(acceptable_lp=values[::2], unacceptable_lp=values[1::2]).to_csv(scores, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
