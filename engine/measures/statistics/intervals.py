"""How sure is a share of correct answers? Confidence intervals of proportions."""

from __future__ import annotations

from statistics import NormalDist
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message

CONFIDENCE = 0.95


@overload
def wilson_interval(n_correct: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]: ...
@overload
def wilson_interval(
    n_correct: NDArray[np.int64], n: NDArray[np.int64], confidence: float = CONFIDENCE
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def wilson_interval(n_correct: ArrayLike, n: ArrayLike, confidence: float = CONFIDENCE) -> tuple[object, object]:
    """Between which shares does the true one lie, when n_correct of n came out right?

        centre = (p + z^2 / 2n) / (1 + z^2 / n)
        half   = z / (1 + z^2 / n) * sqrt(p (1 - p) / n + z^2 / 4n^2)        p = n_correct / n
        (centre - half, centre + half)

    z is the normal quantile of (1 + confidence) / 2.

    Parameters
    ----------
    n_correct, n : whole numbers, or arrays of them of one shape.
    confidence : in (0, 1).

    Range: [0, 1], a proportion; neither end is better, a narrow interval says more. Low is exactly 0
    for n_correct = 0, high exactly 1 for n_correct = n.

    Edges: n = 0 gives (nan, nan): nothing was asked.

    Raises InputError when n_correct is not within 0 and n, or confidence not within 0 and 1.

    Source: Wilson 1927; the same numbers as scipy's `binomtest(k, n).proportion_ci(method="wilson")`,
    but for whole columns at once. It assumes independent pairs, which templated datasets stretch.

    >>> low, high = wilson_interval(248, 331)
    >>> round(float(low), 3), round(float(high), 3)
    (0.7, 0.793)
    """
    if not 0 < confidence < 1:
        raise InputError(
            Message("A confidence level must be between 0 and 1; got {confidence}.", confidence=confidence)
        )
    correct, total = np.asarray(n_correct, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if not ((correct >= 0) & (correct <= total)).all():
        raise InputError(Message("The number of correct answers must be between 0 and the number of answers."))
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    asked = np.where(total > 0, total, np.nan)
    share = correct / asked
    shrink = 1 + z**2 / asked
    centre = (share + z**2 / (2 * asked)) / shrink
    half = z / shrink * np.sqrt(share * (1 - share) / asked + z**2 / (4 * asked**2))
    # Rounding leaves 1e-17 where the formula gives exactly 0 or 1.
    low = np.where((correct == 0) & (total > 0), 0.0, centre - half)
    high = np.where((correct == total) & (total > 0), 1.0, centre + half)
    return (float(low), float(high)) if low.ndim == 0 else (low, high)
