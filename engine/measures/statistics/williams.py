"""Does one score follow the human's better than another, or only by the luck of these pairs? Williams' test."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from engine.errors import InputError
from engine.measures.statistics.correlation import pearson

# Nearer to 1 than this the two scores differ by rounding.
SAME = 1e-12


@dataclass(frozen=True)
class CorrelationDifference:
    """Williams' t with n - 3 degrees of freedom and its two-sided p; nan where undefined, with the `reason`."""

    t: float
    p_value: float
    n: int
    reason: str = ""


def williams_test(human: ArrayLike, first: ArrayLike, second: ArrayLike) -> CorrelationDifference:
    """Do two scores of the same pairs differ in their Pearson correlation with the human score?

    `compare_correlations` of the three correlations over the pairs that have all three numbers.

    Parameters
    ----------
    human, first, second : (n_pairs,) numbers; nan = missing.

    Range, edges, errors and source: those of `compare_correlations`; a constant column or fewer than 4
    complete pairs give nan and a reason.

    >>> williams_test([1, 2, 3, 4, 5], [1, 2, 3, 5, 4], [2, 1, 4, 3, 5]).p_value < 0.05
    False
    """
    columns = np.stack([np.asarray(column, dtype=np.float64) for column in (human, first, second)])  # (3, n_pairs)
    complete = columns[:, ~np.isnan(columns).any(axis=0)]
    names = ("the human score", "the first score", "the second score")
    correlations = [pearson(complete[i], complete[j], names=(names[i], names[j])) for i, j in ((0, 1), (0, 2), (1, 2))]
    reasons = [correlation.reason for correlation in correlations if correlation.reason]
    if reasons:
        return CorrelationDifference(np.nan, np.nan, complete.shape[1], reasons[0])
    human_first, human_second, between = (correlation.value for correlation in correlations)
    return compare_correlations(human_first, human_second, between, complete.shape[1])


def compare_correlations(human_first: float, human_second: float, between: float, n: int) -> CorrelationDifference:
    """How surprising were this difference of two correlations with one column, if there were none?

        t = (r₁₂ − r₁₃) sqrt((n − 1)(1 + r₂₃) / (2K (n − 1)/(n − 3) + r̄² (1 − r₂₃)³)),    n − 3 degrees of freedom
        K = 1 − r₁₂² − r₁₃² − r₂₃² + 2 r₁₂ r₁₃ r₂₃,    r̄ = (r₁₂ + r₁₃) / 2

    Parameters
    ----------
    human_first, human_second, between : Pearson's r of human and first score (r₁₂), of human and second score
        (r₁₃), and of the two scores (r₂₃); between -1 and 1.
    n : number of pairs that all three come from.

    Range: t in (-∞, ∞), positive where the first score follows the human's better; p in [0, 1], two-sided, no
    unit. A small p says the difference is not luck; a large one does not say that there is none. Which score is
    called the first turns the sign of t and nothing else.

    Edges: fewer than 4 pairs leave no degree of freedom, and two scores that agree exactly (r₂₃ = 1) leave
    nothing to test: nan and a reason.

    Raises InputError for correlations beyond -1 and 1 (nan too) and correlations that no three columns have.

    Source: Williams 1959 (Regression Analysis), in the form of Steiger 1980; for metrics of translation Graham and
    Baldwin 2014 (EMNLP), who test one-sidedly and whose scripts drop the signs of the correlations. Here a score
    that runs against the human's is the worse one, and the test is two-sided. It supposes about normal columns,
    and knows nothing of how many scores were tried before.

    >>> test = compare_correlations(0.4, 0.5, 0.1, n=103)
    >>> round(test.t, 2), round(test.p_value, 2)
    (-0.89, 0.37)
    """
    from scipy.special import stdtr

    correlations = (human_first, human_second, between)
    if not all(-1 <= value <= 1 for value in correlations):
        raise InputError(f"Correlations lie between -1 and 1; got {', '.join(map(str, correlations))}.")
    determinant = 1 - sum(value**2 for value in correlations) + 2 * human_first * human_second * between
    if determinant < -1e-9:
        raise InputError(f"No three columns have the correlations {', '.join(map(str, correlations))}.")
    if n < 4:
        return CorrelationDifference(np.nan, np.nan, n, f"Williams' test needs at least 4 pairs; there are {n}")
    if between > 1 - SAME:
        return CorrelationDifference(np.nan, np.nan, n, "the two scores agree exactly, so nothing can be tested")
    mean = (human_first + human_second) / 2
    spread = 2 * max(determinant, 0.0) * (n - 1) / (n - 3) + mean**2 * (1 - between) ** 3
    if spread == 0:
        return CorrelationDifference(np.nan, np.nan, n, "the scores determine each other, so nothing can be tested")
    t = (human_first - human_second) * sqrt((n - 1) * (1 + between) / spread)
    return CorrelationDifference(t, float(2 * stdtr(n - 3, -abs(t))), n)
