"""Does one metric follow the humans better than another, without supposing normal scores? The test PERM-BOTH."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from engine.errors import InputError
from engine.messages.message import Message

RESAMPLES = 1000
# Numbers that one block of resamples may hold: 32 MB.
_BLOCK_NUMBERS = 4_000_000
# A difference of correlations that is smaller is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class CorrelationPermutation:
    """The difference of Pearson's r (first − second) over `n` items and its p-value; nan with the `reason`."""

    difference: float
    p_value: float
    n: int
    reason: str = ""


def perm_both(
    human: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    systems: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> CorrelationPermutation:
    """Would the first metric be ahead by as much if the two were exchanged at random, translation by translation?

        δ = r(human, first) − r(human, second);    p = (1 + resamples with δ* ≥ δ) / (1 + resamples)

    Both metrics are standardised; in each resample every translation has its two scores exchanged with probability
    1/2, and δ* is the difference of the exchanged columns.

    Parameters
    ----------
    human, first, second : (n,) scores of translations; nan = missing, and then the translation does not count.
    systems : (n,) the system of each translation: r is taken between the means of systems. None: between translations.
    resamples : at least 1. seed : of the exchanges.

    Range: δ in [-2, 2]; p in (0, 1], one-sided: small where the first follows the humans better.

    Edges: a constant column, or fewer than three translations (systems), leaves nan and a reason.

    Raises InputError for columns of different lengths.

    Source: Deutsch, Dror, Roth 2021 (TACL, arXiv 2104.00054), PERM-BOTH; mt-metrics-eval (stats.py) divides the count
    without the two ones, stops early, and for systems exchanges their means instead of their translations' scores.

    >>> perm_both([1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]).p_value
    1.0
    """
    columns = [np.asarray(column, dtype=np.float64) for column in (human, first, second)]
    lengths = {column.shape for column in columns} | ({(len(systems),)} if systems is not None else set())
    if len(lengths) > 1 or columns[0].ndim != 1:
        raise InputError(
            Message(
                "Human scores, both metrics and systems are of the same translations; got {lengths}.",
                lengths=sorted(lengths),
            )
        )
    complete = ~np.isnan(np.stack(columns)).any(axis=0)
    gold, one, other = (column[complete] for column in columns)
    codes = (
        np.arange(gold.size) if systems is None else np.unique(np.asarray(systems)[complete], return_inverse=True)[1]
    )
    n = int(codes.max()) + 1 if codes.size else 0
    if n < 3:
        return CorrelationPermutation(
            np.nan, np.nan, n, Message("a correlation needs at least 3 items; there are {n}", n=n)
        )
    if any(np.ptp(column) == 0 for column in (gold, one, other)):
        return CorrelationPermutation(np.nan, np.nan, n, Message("a column is constant"))
    one, other = ((column - column.mean()) / column.std() for column in (one, other))
    sizes = np.bincount(codes)
    gold_means, one_means, other_means = (np.bincount(codes, column) / sizes for column in (gold, one, other))
    observed = float((_correlations(gold_means, one_means) - _correlations(gold_means, other_means)).item())
    if np.isnan(observed):
        return CorrelationPermutation(np.nan, np.nan, n, Message("the means of the systems are constant"))
    random, exceeded = np.random.default_rng(seed), 0
    block = max(1, _BLOCK_NUMBERS // gold.size)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(n))
    change = (one - other)[order]
    for start in range(0, resamples, block):
        kept = random.integers(2, size=(min(block, resamples - start), gold.size))
        moved = np.add.reduceat(kept * change, starts, axis=1) / sizes  # (block, n)
        differences = _correlations(gold_means, other_means + moved) - _correlations(gold_means, one_means - moved)
        exceeded += int((differences >= observed - _ROUNDING).sum())
    return CorrelationPermutation(observed, (1 + exceeded) / (1 + resamples), n)


def _correlations(gold: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Pearson's r of `gold` (n,) with each row of `values` (…, n); nan where a row is constant."""
    centred, rows = gold - gold.mean(), values - values.mean(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(rows @ centred / (np.linalg.norm(rows, axis=-1) * np.linalg.norm(centred)))
