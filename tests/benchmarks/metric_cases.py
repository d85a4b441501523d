"""The metric study beside its budget: the paper's sixteen settings on as many pairs as JSTS has."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from engine.datasets import sample_data
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.metric_study import evaluate as metric_study
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.inference.local.workers import LocalWorkers
from engine.models.sources.cards import built_in_directory
from tests.benchmarks.measuring import Budget, within

N_PAIRS = 1457
N_MODELS = 4
GRID_SECONDS = 5.0
ROUNDS = 3


def budgets(folder: Path) -> list[Budget]:
    """Four models, two dictionaries, without and with the penalty; every similarity is in the cache."""
    models = [
        str(shutil.copytree(built_in_directory("builtin/bert-mini-ja"), folder / f"model {number}"))
        for number in range(N_MODELS)
    ]
    settings = metric_study.Settings(tuple(models))
    dataset = _pairs()
    workers, cache = LocalWorkers(), Cache(folder / "metric.sqlite", 2**30)
    session = Gateway(workers, cache).session("bench")
    try:
        return [
            within(
                f"Metric study again: 16 settings on {N_PAIRS:,} pairs, similarities cached",
                GRID_SECONDS,
                lambda: metric_study.evaluate(settings, dataset, session),
                ROUNDS,
            )
        ]
    finally:
        cache.close()
        workers.close()


def _pairs() -> SentencePairs:
    sample = sample_data.scored_pairs()
    texts = [(r, c) for r in dict.fromkeys(sample.references) for c in sample.candidates][:N_PAIRS]
    random = np.random.default_rng(0)
    return SentencePairs(
        "made up",
        tuple(r for r, _ in texts),
        tuple(c for _, c in texts),
        ("",) * N_PAIRS,
        {"made up": tuple(random.normal(size=N_PAIRS).tolist())},
        tuple(range(1, N_PAIRS + 1)),
    )
