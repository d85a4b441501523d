"""Do two models differ on the same pairs? McNemar's exact test, its correction for many, the interval of a difference.

Two accuracies on the same pairs are not independent: what tells the models apart are the pairs that one gets right
and the other does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message

CONFIDENCE = 0.95


@dataclass(frozen=True)
class McNemar:
    """Two models on `n` pairs: how many one alone gets right, the difference of their accuracies, the p-value."""

    n: int
    n_only_first: int
    n_only_second: int
    difference: float
    ci_low: float
    ci_high: float
    p_value: float


def sign_test(n_first: int, n_second: int) -> float:
    """Were two outcomes that should be equally likely so unequal by chance?

        p = min(1, 2 · P(X <= min(n_first, n_second))),    X ~ Binomial(n_first + n_second, 1/2)

    Exact at every size, so no approximation is chosen.

    Parameters
    ----------
    n_first, n_second : how often each came out; draws belong to neither.

    Range: (0, 1], a probability; neither end is better, a small one says that the outcomes are not equally likely.

    Edges: none of either: 1, there is nothing that speaks against equality. Equal numbers: 1.

    Raises InputError for a negative number.

    Source: the two-sided binomial test at 1/2; scipy's `binomtest(k, n).pvalue`.

    >>> round(sign_test(1, 5), 5)  # 2 · (1 + 6) / 64
    0.21875
    """
    if n_first < 0 or n_second < 0:
        raise InputError(
            Message("Outcomes are counted from 0; got {n_first} and {n_second}.", n_first=n_first, n_second=n_second)
        )
    from scipy.special import bdtr  # a moment to import, and only here

    if n_first == n_second:
        return 1.0
    return float(min(1.0, 2 * bdtr(min(n_first, n_second), n_first + n_second, 0.5)))


def mcnemar(first_right: ArrayLike, second_right: ArrayLike, confidence: float = CONFIDENCE) -> McNemar:
    """Is one model right more often than the other on the same pairs, beyond chance?

        p = sign_test(b, c),    b pairs right by the first alone, c by the second alone
        difference = (b - c) / n
        interval = d ± z · sqrt(b' + c' - (b' - c')² / (n + 2)) / (n + 2),    b' = b + 1/2, c' = c + 1/2,
                   d = (b' - c') / (n + 2), within [-1, 1]; where p >= 1 - confidence, 0 is within it too

    The interval holds 0 just where the test does not reject: Agresti and Min's alone leaves 0 out earlier than the exact
    test, which is the stricter of the two.

    Parameters
    ----------
    first_right, second_right : bool (n_pairs,), the same pairs in the same order; a tie is not right.
    confidence : in (0, 1).

    Range: difference in [-1, 1], above 0 the first model is better; p in (0, 1], see `sign_test`.

    Edges: models that are right on the same pairs have p = 1. No pairs: difference and interval are nan, p is 1.

    Raises InputError for columns of different lengths and confidence not within 0 and 1.

    Source: McNemar 1947, in its exact form (no chi-square approximation at any size); the interval Agresti and
    Min 2005 (Statistics in Medicine 24), Wald's with half a pair added to each of the four cells.

    >>> test = mcnemar([True, True, True, False], [True, False, False, False])
    >>> test.n_only_first, test.n_only_second, test.difference, test.p_value
    (2, 0, 0.5, 0.5)
    """
    first, second = np.asarray(first_right, dtype=bool), np.asarray(second_right, dtype=bool)
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(
            Message(
                "Two models are compared on the same pairs; got {size} and {other_size}.",
                size=first.size,
                other_size=second.size,
            )
        )
    if not 0 < confidence < 1:
        raise InputError(
            Message("A confidence level must be between 0 and 1; got {confidence}.", confidence=confidence)
        )
    b, c, n = int((first & ~second).sum()), int((second & ~first).sum()), first.size
    if not n:
        return McNemar(0, 0, 0, np.nan, np.nan, np.nan, 1.0)
    total, gap = n + 2, b - c  # half a pair more in each cell leaves b - c as it is
    half = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(b + c + 1 - gap**2 / total) / total
    low, high = max(gap / total - half, -1.0), min(gap / total + half, 1.0)
    p_value = sign_test(b, c)
    if p_value >= 1 - confidence:
        low, high = min(low, 0.0), max(high, 0.0)
    return McNemar(n, b, c, gap / n, float(low), float(high), p_value)


def holm(p_values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """What is left of p-values when many comparisons were made?

        p'_(i) = max over j <= i of min(1, (m - j + 1) · p_(j)),    p_(1) <= … <= p_(m)

    Parameters
    ----------
    p_values : (m,), in [0, 1].

    Returns (m,), in the given order; none is below its own p. Comparisons with p' < 0.05 contain a false one with a
    probability of at most 5%, however the tests hang together. No p-values: an empty array.

    Raises InputError for a value outside [0, 1].

    Source: Holm 1979 (Scandinavian Journal of Statistics 6).

    >>> holm([0.01, 0.04, 0.03]).tolist()  # 3 · 0.01; then 2 · 0.03; 1 · 0.04 may not be less than that
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError(Message("A p-value must be between 0 and 1."))
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.maximum.accumulate(np.minimum(1, p[order] * np.arange(p.size, 0, -1)))
    return corrected
