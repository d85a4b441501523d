"""A run from the cache beside its first, and the toggles that only compute beside their budgets."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from engine.datasets import sample_data
from engine.evaluations import bertscore, length_effects, minimal_pairs, pair_views
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.inference.local import LocalWorkers
from tests.benchmarks.measuring import Budget, Ratio, taken, within
from tests.minimal_results import synthetic

BERT, GPT2 = "builtin/bert-mini-ja", "builtin/gpt2-mini-ja"
N_PAIRS = 67_000
TOGGLE_SECONDS = 0.3


def budgets() -> list[Budget]:
    """Toggles that only compute: 67,000 minimal pairs, and 1,500 aligned sentence pairs."""
    return [_normalisation_toggle(), _idf_toggle()]


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
        seconds["first"].append(taken(run))
        seconds["again"].append(taken(run))
        cache.close()
    workers.close()
    return Ratio("Minimal-pairs sample again, from the cache", "the first run",
                 float(np.median(seconds["again"])), float(np.median(seconds["first"])))


def _normalisation_toggle() -> Budget:
    result = synthetic(N_PAIRS, models=("m",), n_categories=67)

    def toggle() -> None:
        pair_views.summary(result, ("PenLP",), 0.8)
        pair_views.by_difference(result, "PenLP", 0.8)
        pair_views.by_category(result, "PenLP", 0.8)
        length_effects.slopes(result, ("PenLP",), 0.8)
        length_effects.length_correlations(result, ("PenLP",), 0.8)

    return within("Normalisation toggle at 67,000 pairs: five figures' numbers", TOGGLE_SECONDS, toggle)


def _idf_toggle() -> Budget:
    sample = sample_data.sentence_pairs()
    pairs = [(r, c) for r in sample.references for c in sample.candidates][:1500]
    dataset = type(sample)("made up", tuple(r for r, _ in pairs), tuple(c for _, c in pairs), ("",) * len(pairs),
                           {}, tuple(range(1, len(pairs) + 1)))
    workers = LocalWorkers()
    session = Gateway(workers, None).session("bench")
    result = bertscore.evaluate(bertscore.Settings((BERT,)), dataset, session)
    workers.close()
    return within("idf and penalty toggle at 1,500 aligned pairs", TOGGLE_SECONDS,
                  lambda: bertscore.rescore(result, bertscore.Scoring("novel", penalty="reading")))
