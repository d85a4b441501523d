"""Do raters who scored the same items agree more than by chance? Krippendorff's alpha."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message, list_of

LEVELS = ("nominal", "ordinal", "interval")
CONFIDENCE = 0.95
RESAMPLES = 1000
MOST_VALUES = 101  # different scores, as on a scale from 0 to 100
_BLOCK_NUMBERS = 4_000_000  # that one block of resamples may hold: 32 MB


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha and its interval; nan where undefined, and then `reason` says why.

    n: items that at least two raters scored. n_ratings: the scores of these.
    """

    value: float
    ci_low: float
    ci_high: float
    n: int
    n_ratings: int
    reason: str = ""


def krippendorff_alpha(
    ratings: ArrayLike, level: str = "ordinal", *, resamples: int = RESAMPLES, seed: int = 0
) -> Alpha:
    """Do raters agree on the items that they scored, beyond what their scores would give by chance?

        alpha = 1 - D_o / D_e
        D_o = Σ_ck o_ck δ²_ck / n,    D_e = Σ_ck n_c n_k δ²_ck / (n (n - 1))

    o_ck counts the ordered pairs of ratings c, k of one item by two raters, each item weighted by 1 / (its ratings
    - 1); n_c = Σ_k o_ck; n = Σ_c n_c. δ² is 0 or 1 (nominal), (Σ_{g=c..k} n_g - (n_c + n_k) / 2)² (ordinal) or
    (c - k)² (interval). The interval lies between the 2.5% and 97.5% quantiles over items drawn with replacement.

    Parameters
    ----------
    ratings : (n_raters, n_items) scores; nan = not rated. Items that fewer than two raters scored do not count.
    level : of measurement: nominal, ordinal or interval.
    resamples : at least 1. seed : of the draw.

    Range: at most 1 (all agree), 0 by chance, below 0 where raters disagree systematically; no unit, larger is better.

    Edges: no item with two ratings, or every rating the same: undefined, with the reason. Resamples in which every
    rating is the same do not count in the interval.

    Raises InputError for another shape or level, infinite scores and more than 101 different ones.

    Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".

    >>> round(krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, 4]], "interval").value, 3)
    0.889
    """
    scores = np.asarray(ratings, dtype=np.float64)
    if scores.ndim != 2 or np.isinf(scores).any():
        raise InputError(
            Message("Ratings are finite numbers of the shape (raters, items); got {shape}.", shape=scores.shape)
        )
    if level not in LEVELS:
        raise InputError(
            Message("The level of measurement is one of {LEVELS}; got {level!r}.", LEVELS=list_of(LEVELS), level=level)
        )
    scores = scores[:, (~np.isnan(scores)).sum(axis=0) >= 2]
    n_items, n_ratings = scores.shape[1], int((~np.isnan(scores)).sum())
    if not n_items:
        return Alpha(np.nan, np.nan, np.nan, 0, 0, Message("no item was rated by two raters"))
    values = np.unique(scores[~np.isnan(scores)])
    if values.size > MOST_VALUES:
        raise InputError(
            Message(
                "Ratings have at most {MOST_VALUES} different values; got {size}.",
                MOST_VALUES=MOST_VALUES,
                size=values.size,
            )
        )
    counts = (scores[None] == values[:, None, None]).sum(axis=1).T.astype(np.float64)  # (n_items, n_values)
    per_item = _coincidences(counts)
    value = float(_alphas(per_item.sum(axis=0)[None], values, level)[0])
    if np.isnan(value):
        return Alpha(np.nan, np.nan, np.nan, n_items, n_ratings, Message("every rating is the same"))
    resampled = _resampled(per_item, values, level, resamples, seed)
    low, high = np.nanquantile(resampled, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Alpha(value, float(low), float(high), n_items, n_ratings)


def _coincidences(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The coincidences (n_items, n_values, n_values) of the ratings of each item, counted by value."""
    pairs = counts[:, :, None] * counts[:, None, :]
    diagonal = np.arange(counts.shape[1])
    pairs[:, diagonal, diagonal] -= counts
    return np.asarray(pairs / (counts.sum(axis=1) - 1)[:, None, None])


def _alphas(coincidences: NDArray[np.float64], values: NDArray[np.float64], level: str) -> NDArray[np.float64]:
    """Alpha for each matrix of coincidences (m, n_values, n_values); nan where nothing differs."""
    marginals = coincidences.sum(axis=2)  # (m, n_values)
    n = marginals.sum(axis=1)  # (m,)
    difference = _differences(marginals, values, level)
    observed = (coincidences * difference).sum(axis=(1, 2)) / n
    expected = (marginals[:, :, None] * marginals[:, None, :] * difference).sum(axis=(1, 2)) / (n * (n - 1))
    return np.asarray(1 - np.divide(observed, expected, out=np.full(n.shape, np.nan), where=expected > 0))


def _differences(marginals: NDArray[np.float64], values: NDArray[np.float64], level: str) -> NDArray[np.float64]:
    if level == "nominal":
        return np.asarray(values[:, None] != values[None, :], dtype=np.float64)[None]
    if level == "interval":
        return ((values[:, None] - values[None, :]) ** 2)[None]
    middle = np.cumsum(marginals, axis=1) - marginals / 2  # the mean rank of each value, up to a constant
    squared: NDArray[np.float64] = (middle[:, :, None] - middle[:, None, :]) ** 2
    return squared


def _resampled(
    per_item: NDArray[np.float64], values: NDArray[np.float64], level: str, resamples: int, seed: int
) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    n_items, n_cells = per_item.shape[0], per_item[0].size
    flat = per_item.reshape(n_items, n_cells)
    at_once = max(1, _BLOCK_NUMBERS // max(n_items, n_cells))
    blocks = []
    for start in range(0, resamples, at_once):
        weights = generator.multinomial(n_items, np.full(n_items, 1 / n_items), size=min(at_once, resamples - start))
        blocks.append(_alphas((weights @ flat).reshape(-1, *per_item.shape[1:]), values, level))
    return np.concatenate(blocks)
