"""How much of a minimal-pairs result is length: slopes, and scores against the number of tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from engine.evaluations.minimal_pairs.exact_decisions import SIDES
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import (
    DEFAULT_ALPHA,
    available,
    by_model,
    decided,
    of_model,
    scores,
    token_counts,
)
from engine.measures.minimal_pairs.length_slope import length_slope
from engine.measures.statistics.correlation import pearson, spearman

MOST_POINTS = 4000  # more cannot be told apart on a screen


def slopes(result: Result, normalizations: Sequence[str] | None = None, alpha: float = DEFAULT_ALPHA) -> pd.DataFrame:
    """The length bias as one number for each model and normalisation (None = every one that is `available`).

    Columns: model, normalization, slope (log-odds of being right per token that A is longer), standard_error,
    ci_low, ci_high (95 %), intercept, n, n_tied (left out), reason (why there is no slope, else "").
    """
    return pd.DataFrame([
        {"model": model, "normalization": normalization,
         **vars(length_slope(decided(pairs, normalization, alpha), _differences(pairs)))}
        for model, pairs in by_model(result)
        for normalization in (available(pairs) if normalizations is None else normalizations)
    ])


def length_correlations(result: Result, normalizations: Sequence[str] | None = None, alpha: float = DEFAULT_ALPHA
                        ) -> pd.DataFrame:
    """Do scores fall or rise with |S|? Over all sentences of the pairs, acceptable or not.

    Columns: model, normalization, n (sentences), pearson, pearson_low, pearson_high, spearman, spearman_low,
    spearman_high (95 %), reason (why undefined, else ""). A normalisation that sets length aside is near 0.
    """
    rows = []
    for model, pairs in by_model(result):
        lengths = np.concatenate(token_counts(pairs))
        for normalization in available(pairs) if normalizations is None else normalizations:
            values = np.concatenate(scores(pairs, normalization, alpha))
            finite = np.where(np.isfinite(values), values, np.nan)
            linear, by_rank = (measure(lengths, finite, names=("|S|", "the score")) for measure in (pearson, spearman))
            rows.append({
                "model": model, "normalization": normalization, "n": linear.n,
                "pearson": linear.value, "pearson_low": linear.ci_low, "pearson_high": linear.ci_high,
                "spearman": by_rank.value, "spearman_low": by_rank.ci_low, "spearman_high": by_rank.ci_high,
                "reason": linear.reason,
            })
    return pd.DataFrame(rows)


def length_points(result: Result, model: str, normalization: str, alpha: float = DEFAULT_ALPHA, *,
                  most: int = MOST_POINTS, seed: int = 0) -> pd.DataFrame:
    """Sentences to be drawn, score against |S|: row, side, tokens, score; at most `most`, drawn by `seed`."""
    pairs = of_model(result, model)
    n = len(pairs)
    kept = np.arange(2 * n)
    if 2 * n > most:
        kept = np.sort(np.random.default_rng(seed).choice(2 * n, most, replace=False))
    side = kept // n if n else kept
    return pd.DataFrame({
        "row": np.tile(pairs["row"].to_numpy(), 2)[kept], "side": np.array(SIDES)[side],
        "tokens": np.concatenate(token_counts(pairs))[kept],
        "score": np.concatenate(scores(pairs, normalization, alpha))[kept],
    })


def _differences(pairs: pd.DataFrame) -> np.ndarray:
    acceptable, unacceptable = token_counts(pairs)
    return acceptable.astype(np.int64) - unacceptable
