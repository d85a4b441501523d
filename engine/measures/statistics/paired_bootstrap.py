"""Is one mean larger than another over the same items, or only by the luck of these items? The paired bootstrap."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from engine.errors import InputError
from engine.messages.message import Message

CONFIDENCE = 0.95
RESAMPLES = 1000
# Numbers that one block of resamples may hold: 32 MB.
_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class MeanDifference:
    """The mean difference over `n` items, its interval and p-value; nan where undefined, and then `reason` says why."""

    n: int
    difference: float
    ci_low: float
    ci_high: float
    p_value: float
    reason: str = ""


@dataclass(frozen=True)
class GroupedDifferences:
    """The `n` differences of two columns and their mean; their sums and sizes (n_groups,) by group.

    reason: why nothing can be tested, "" where a test is possible.
    """

    n: int
    mean: float
    sums: np.ndarray
    sizes: np.ndarray
    reason: str = ""


def paired_bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    groups: Sequence[Hashable] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> MeanDifference:
    """Is the mean of one column larger than that of another, beyond the luck of these items?

        difference = mean(first − second)
        p = min(1, 2 · min(n_≤, n_≥) / (resamples + 1)),    n_≤ = 1 + the number of resamples with a difference ≤ 0

    Items are drawn with replacement, both numbers of an item together; the interval lies between the 2.5% and 97.5%
    quantiles of the resampled differences.

    Parameters
    ----------
    first, second : (n,) numbers of the same items in the same order; an item without one of the two is left out.
    groups : (n,) what the items that are no independent witnesses have in common, such as their word; whole groups are
        drawn. None: each item alone.
    resamples : at least 1. seed : of the draw.

    Range: the difference has the unit of the columns; p in (0, 1].

    Edges: fewer than 2 groups with both numbers leave interval and p undefined, with the reason; no item, the
    difference too.

    Raises InputError for columns of different lengths.

    With fewer than about 20 groups the resampled means spread too little, so that p is too small; `sign_flip_test` is
    exact there.

    Source: Efron and Tibshirani 1993, chapters 13 and 16; paired in natural language processing: Koehn 2004.

    >>> paired_bootstrap([1, 2, 3], [0, 1, 2])
    MeanDifference(n=3, difference=1.0, ci_low=1.0, ci_high=1.0, p_value=0.001998001998001998, reason='')
    """
    differences = grouped_differences(first, second, groups)
    n, mean, sums, sizes = differences.n, differences.mean, differences.sums, differences.sizes
    if differences.reason:
        return MeanDifference(n, mean, np.nan, np.nan, np.nan, differences.reason)
    resampled = _resampled_means(sums, sizes, resamples, np.random.default_rng(seed))
    low, high = np.quantile(resampled, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    rarer = 1 + min(int((resampled <= 0).sum()), int((resampled >= 0).sum()))
    return MeanDifference(n, mean, float(low), float(high), min(1.0, 2 * rarer / (resamples + 1)))


def grouped_differences(first: ArrayLike, second: ArrayLike, groups: Sequence[Hashable] | None) -> GroupedDifferences:
    """The differences of two columns (n,), added up by group. Raises InputError for columns of different lengths."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape or one.ndim != 1 or (groups is not None and len(groups) != one.size):
        raise InputError(
            Message(
                "Both columns and their groups are of the same items; got {size} and {other_size}.",
                size=one.size,
                other_size=other.size,
            )
        )
    complete = ~(np.isnan(one) | np.isnan(other))
    differences = (one - other)[complete]
    n = int(complete.sum())
    if not n:
        return GroupedDifferences(0, np.nan, np.zeros(0), np.zeros(0), Message("no item has both numbers"))
    codes = np.arange(n) if groups is None else _codes(groups)[complete]
    codes = np.unique(codes, return_inverse=True)[1]  # a group may have no complete item
    sizes = np.bincount(codes).astype(np.float64)  # (n_groups,)
    sums = np.bincount(codes, weights=differences)  # (n_groups,)
    return GroupedDifferences(
        n,
        float(differences.mean()),
        sums,
        sizes,
        Message("one item alone cannot be resampled") if len(sums) < 2 else "",
    )


def _codes(groups: Sequence[Hashable]) -> np.ndarray:
    """The number (n,) of the group of each item, in the order in which groups are first named."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)


def _resampled_means(sums: np.ndarray, sizes: np.ndarray, resamples: int, random: np.random.Generator) -> np.ndarray:
    """The means (resamples,) of groups drawn with replacement, given their sums and sizes (n_groups,)."""
    n_groups = len(sums)
    means = np.empty(resamples)
    block = max(1, _BLOCK_NUMBERS // n_groups)
    alone = bool((sizes == 1).all())
    for start in range(0, resamples, block):
        drawn = random.integers(n_groups, size=(min(block, resamples - start), n_groups))
        n_drawn = n_groups if alone else sizes[drawn].sum(axis=1)
        means[start : start + len(drawn)] = sums[drawn].sum(axis=1) / n_drawn
    return means
