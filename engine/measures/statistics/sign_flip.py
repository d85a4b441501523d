"""Is one mean larger than another over few items, or only by the luck of these items? The exact sign-flip test."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from engine.errors import InputError
from engine.measures.statistics.paired_bootstrap import CONFIDENCE, MeanDifference, grouped_differences
from engine.messages.message import Message

# All 2^n choices of signs are counted: 2^20 of them take 8 MB and some milliseconds.
MOST_GROUPS = 20
# Two sums that differ by less, relative to the largest, are the same sum in another order of addition.
_ROUNDING = 1e-12


def sign_flip_test(first: ArrayLike, second: ArrayLike, groups: Sequence[Hashable] | None = None) -> MeanDifference:
    """Is the mean of one column larger than that of another, beyond the luck of these few items?

        difference = mean(first − second)
        p = the share of all 2^n choices of signs with |Σ_g ± D_g| ≥ |Σ_g D_g|,    D_g = sum over group g

    If neither column were larger, the difference of a group would be as likely with the other sign. The interval holds
    the shifts of the difference that the test does not reject at 5%: with k = floor(0.025 · 2^n), from the k-th
    smallest to the k-th largest of the means over the 2^n − 1 subsets of groups.

    Parameters
    ----------
    first, second : (n,) numbers of the same items in the same order; an item without one of the two is left out.
    groups : (n,) what the items that are no independent witnesses have in common; the signs of whole groups are
        flipped. None: each item alone.

    Range: the difference has the unit of the columns; p is in [2 / 2^n, 1], and 1 where all differences are 0.

    Edges: fewer than 6 groups cannot reach p ≤ 0.05: p is given, the interval is undefined, and the reason says so. One
    group leaves both undefined; no item, the difference too.

    Raises InputError for columns of different lengths and more than MOST_GROUPS groups.

    Source: Fisher 1935 (The Design of Experiments, section 21); the interval: Hartigan 1969 (JASA 64).

    >>> sign_flip_test([1, 2, 3], [0, 1, 2]).p_value
    0.25
    """
    differences = grouped_differences(first, second, groups)
    n, sums, sizes = differences.n, differences.sums, differences.sizes
    if n == 0 or len(sums) < 2:
        return MeanDifference(n, differences.mean, np.nan, np.nan, np.nan, differences.reason)
    if len(sums) > MOST_GROUPS:
        raise InputError(
            Message(
                "All signs of at most {MOST_GROUPS} groups are counted; got {sums}.",
                MOST_GROUPS=MOST_GROUPS,
                sums=len(sums),
            )
        )
    totals = _all_sums(np.zeros(1), sums, -sums)  # (2^n_groups,)
    observed = abs(float(sums.sum()))
    p_value = float((np.abs(totals) >= observed - _ROUNDING * float(np.abs(sums).sum())).mean())
    rank = int(np.floor((1 - CONFIDENCE) / 2 * len(totals)))
    if rank == 0:
        return MeanDifference(
            n,
            differences.mean,
            np.nan,
            np.nan,
            p_value,
            Message("fewer than 6 independent items cannot show a difference at the 5% level"),
        )
    none = np.zeros(len(sums))
    means = _all_sums(np.zeros(1), sums, none)[:-1] / _all_sums(np.zeros(1), sizes, none)[:-1]  # of subsets, none empty
    ordered = np.partition(means, [rank - 1, len(means) - rank])
    return MeanDifference(n, differences.mean, float(ordered[rank - 1]), float(ordered[len(means) - rank]), p_value)


def _all_sums(start: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The sums (2^n,) of one or the other of two numbers (n,) at every place; all of `other` come last."""
    totals = start
    for value, alternative in zip(one, other, strict=True):
        totals = (totals[:, None] + np.array([value, alternative])).ravel()
    return totals
