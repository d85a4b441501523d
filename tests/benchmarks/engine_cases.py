"""A run from the cache beside its first, and the toggles that only compute beside their budgets."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from dashboard.minimal_pairs import charts
from dashboard.minimal_pairs.pair_table import pair_table
from engine.datasets import sample_data
from engine.datasets.formats.files import read_table
from engine.evaluations.alignment import evaluate as aligning
from engine.evaluations.alignment import records as alignment
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.minimal_pairs import (
    comparison as model_comparison,
)
from engine.evaluations.minimal_pairs import (
    evaluate as minimal_pairs,
)
from engine.evaluations.minimal_pairs import (
    fair_subsets,
    length_effects,
)
from engine.evaluations.minimal_pairs import (
    views as pair_views,
)
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.inference.local.workers import LocalWorkers
from engine.measures.idf import IdfDictionary
from tests.benchmarks.measuring import Budget, Ratio, wall_seconds, within
from tests.support.minimal_results import synthetic

BERT, GPT2 = "builtin/bert-mini-ja", "builtin/gpt2-mini-ja"
N_PAIRS, N_ENTRIES, N_ROWS = 67_000, 67_000, 100_000
TOGGLE_SECONDS, READING_SECONDS = 0.3, 5.0


def budgets() -> list[Budget]:
    """What only computes: toggles at 67,000 minimal pairs and 1,500 aligned ones, a threshold, a table that is read."""
    pairs = synthetic(N_PAIRS, models=("m", "n"), n_categories=67)
    return [
        within(
            f"Normalisation toggle at {N_PAIRS:,} pairs: numbers of five figures",
            TOGGLE_SECONDS,
            lambda: _numbers(pairs),
        ),
        within(
            f"Normalisation toggle at {N_PAIRS:,} pairs: two figures and the table",
            TOGGLE_SECONDS,
            lambda: _figures(pairs),
        ),
        within(
            f"Two models compared at {N_PAIRS:,} pairs, and their fair subset",
            TOGGLE_SECONDS,
            lambda: _comparisons(pairs),
        ),
        _idf_toggle(),
        _threshold_toggle(),
        _reading(),
    ]


def cached(folder: Path) -> Ratio:
    """The first run of the minimal-pairs sample, workers warm, beside its repetition."""
    dataset = sample_data.minimal_pairs()
    settings = minimal_pairs.Settings((BERT, GPT2))
    seconds: dict[str, list[float]] = defaultdict(list)
    workers = LocalWorkers()
    for number in range(3):
        cache = Cache(folder / f"cache-{number}.sqlite", 2**30)
        gateway = Gateway(workers, cache)

        def run(gateway: Gateway = gateway) -> None:
            minimal_pairs.evaluate(settings, dataset, gateway.session("bench"))

        for model in settings.models:
            scoring = "causal" if model == GPT2 else "pll-word-l2r"
            gateway.session("warm").token_log_likelihoods(model, ["温める。"], scoring=scoring)
        seconds["first"].append(wall_seconds(run))
        seconds["again"].append(wall_seconds(run))
        cache.close()
    workers.close()
    return Ratio(
        "Minimal-pairs sample again, from the cache",
        "the first run",
        float(np.median(seconds["again"])),
        float(np.median(seconds["first"])),
    )


def _numbers(result: minimal_pairs.Result) -> None:
    pair_views.summary(result, ("PenLP",), 0.8)
    pair_views.by_difference(result, "PenLP", 0.8)
    pair_views.by_category(result, "PenLP", 0.8)
    length_effects.slopes(result, ("PenLP",), 0.8)
    length_effects.length_correlations(result, ("PenLP",), 0.8)


def _figures(result: minimal_pairs.Result) -> None:
    charts.difference_figure(pair_views.by_difference(result, "PenLP", 0.7))
    charts.category_figure(pair_views.by_category(result, "PenLP", 0.7))
    pair_table(result, "m", "PenLP", 0.7)


def _comparisons(result: minimal_pairs.Result) -> None:
    model_comparison.comparisons(result, "LP")
    model_comparison.ranking(result, "LP")
    fair_subsets.beside(result, fair_subsets.EQUAL_FOR_ALL, "LP")


def _idf_toggle() -> Budget:
    sample = sample_data.sentence_pairs()
    pairs = [(r, c) for r in sample.references for c in sample.candidates][:1500]
    dataset = type(sample)(
        "made up",
        tuple(r for r, _ in pairs),
        tuple(c for _, c in pairs),
        ("",) * len(pairs),
        {},
        tuple(range(1, len(pairs) + 1)),
    )
    workers = LocalWorkers()
    session = Gateway(workers, None).session("bench")
    result = aligning.evaluate(alignment.Settings((BERT,)), dataset, session)
    workers.close()
    return within(
        "idf and penalty toggle at 1,500 aligned pairs",
        TOGGLE_SECONDS,
        lambda: rescore(result, alignment.Scoring("novel", penalty="reading")),
    )


def _threshold_toggle() -> Budget:
    random = np.random.default_rng(0)
    counts = random.integers(1, 883, N_ENTRIES)
    large = IdfDictionary("made up", 882, {f"t{i}": int(n) for i, n in enumerate(counts)}, "abc", "article")
    tokens = [f"t{i}" for i in random.integers(0, N_ENTRIES + 3000, 100_000)]
    special = np.zeros(len(tokens), dtype=bool)

    def toggle() -> None:
        large.threshold(0.7)
        large.idf(tokens, special)

    return within(f"Threshold and weights of 100,000 tokens by {N_ENTRIES:,} entries", TOGGLE_SECONDS, toggle)


def _reading() -> Budget:
    lines = (f"これは{number}番目の文です。,ラベル{number % 9}" for number in range(N_ROWS))
    raw = "\n".join(["text,label", *lines]).encode()
    return within(f"A CSV file of {N_ROWS:,} rows read", READING_SECONDS, lambda: read_table(raw, "a.csv"))
