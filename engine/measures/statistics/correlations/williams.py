"""Does one score follow the human's better than another, or only by the luck of these pairs? Williams' test."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.statistics.correlations.correlation import pearson
from engine.measures.statistics.paired_tests import holm
from engine.messages.message import Message, list_of

# Nearer to 1 than this the two scores differ by rounding.
SAME = 1e-12


@dataclass(frozen=True)
class CorrelationDifference:
    """Williams' t with n - 3 degrees of freedom and its two-sided p; nan where undefined, with the `reason`.

    ci_low, ci_high: the 95% interval of the difference (`correlation_difference_interval`).
    """

    t: float
    p_value: float
    n: int
    reason: str = ""
    ci_low: float = np.nan
    ci_high: float = np.nan


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
    names = (Message("the human score"), Message("the first score"), Message("the second score"))
    correlations = [pearson(complete[i], complete[j], names=(names[i], names[j])) for i, j in ((0, 1), (0, 2), (1, 2))]
    reasons = [correlation.reason for correlation in correlations if correlation.reason]
    if reasons:
        return CorrelationDifference(np.nan, np.nan, complete.shape[1], reasons[0])
    human_first, human_second, between = (correlation.value for correlation in correlations)
    return compare_correlations(human_first, human_second, between, complete.shape[1])


def best_against_others(human: ArrayLike, scores: ArrayLike, best: int) -> NDArray[np.float64]:
    """Does the best of several scores still follow the human's better, now that it was chosen as the best?

        Holm's correction of the p-values of Williams' test over all k (k - 1) / 2 pairs of scores

    Parameters
    ----------
    human : (n_pairs,) numbers; nan = missing. scores : (k, n_pairs). best : which of the scores was chosen.

    Returns (k,) the corrected p of the best against each other one, nan for itself and where Williams' test is
    undefined. Range: [0, 1], no unit; none is below its own p. Whatever score is chosen after a look at the
    correlations, at most 5% of studies have a p below 0.05 where two scores follow the human's equally well; Holm over
    the k - 1 comparisons with the chosen one alone does not keep to that, as the choice makes their differences large.
    It is conservative: k may be great.

    Edges: pairs without a test are no comparisons and do not count. Raises InputError as `compare_correlations`.

    Source: Holm 1979 over the family of all pairs, which holds every choice of the best (simultaneous inference, Berk
    et al. 2013, Annals of Statistics 41); Williams as in `compare_correlations`.

    >>> human = np.arange(12.0)
    >>> scores = np.stack([human + [0, 1] * 6, human + [0, 5] * 6, human + [9, 0, 0] * 4])
    >>> best_against_others(human, scores, 0).round(3).tolist()
    [nan, 0.0, 0.0]
    """
    columns = np.asarray(scores, dtype=np.float64)  # (k, n_pairs)
    pairs = np.stack(np.triu_indices(len(columns), 1), axis=1)  # (k (k - 1) / 2, 2)
    p_values = np.array([williams_test(human, columns[i], columns[j]).p_value for i, j in pairs], dtype=np.float64)
    known = ~np.isnan(p_values)
    p_values[known] = holm(p_values[known])
    corrected = np.full(len(columns), np.nan)
    for (i, j), p in zip(pairs, p_values, strict=True):
        if best in (i, j):
            corrected[j if i == best else i] = p
    return corrected


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
        raise InputError(
            Message(
                "Correlations lie between -1 and 1; got {correlations}.", correlations=list_of(map(str, correlations))
            )
        )
    determinant = 1 - sum(value**2 for value in correlations) + 2 * human_first * human_second * between
    if determinant < -1e-9:
        raise InputError(
            Message(
                "No three columns have the correlations {correlations}.", correlations=list_of(map(str, correlations))
            )
        )
    if n < 4:
        return CorrelationDifference(
            np.nan, np.nan, n, Message("Williams' test needs at least 4 pairs; there are {n}", n=n)
        )
    if between > 1 - SAME:
        return CorrelationDifference(
            np.nan, np.nan, n, Message("the two scores agree exactly, so nothing can be tested")
        )
    mean = (human_first + human_second) / 2
    spread = 2 * max(determinant, 0.0) * (n - 1) / (n - 3) + mean**2 * (1 - between) ** 3
    if spread == 0:
        return CorrelationDifference(
            np.nan, np.nan, n, Message("the scores determine each other, so nothing can be tested")
        )
    t = (human_first - human_second) * sqrt((n - 1) * (1 + between) / spread)
    low, high = correlation_difference_interval(human_first, human_second, between, n)
    return CorrelationDifference(t, float(2 * stdtr(n - 3, -abs(t))), n, ci_low=low, ci_high=high)


def correlation_difference_interval(
    human_first: float, human_second: float, between: float, n: int
) -> tuple[float, float]:
    """Between what bounds does the difference of two correlations with one column lie, with 95% confidence?

        low  = r₁₂ − r₁₃ − sqrt((r₁₂ − l₁)² + (u₂ − r₁₃)² − 2 c (r₁₂ − l₁)(u₂ − r₁₃))
        high = r₁₂ − r₁₃ + sqrt((u₁ − r₁₂)² + (r₁₃ − l₂)² − 2 c (u₁ − r₁₂)(r₁₃ − l₂))
        c = ((r₂₃ − r₁₂ r₁₃ / 2)(1 − r₁₂² − r₁₃² − r₂₃²) + r₂₃³) / ((1 − r₁₂²)(1 − r₁₃²))

    l and u are the bounds of Fisher's interval of each correlation; c is how the two estimates are correlated, as they
    share a column.

    Parameters
    ----------
    human_first, human_second, between, n : those of `compare_correlations`, which checks them.

    Range: low ≤ r₁₂ − r₁₃ ≤ high, no unit. Williams' test rests on another approximation: near p = 0.05 the interval
    may hold 0 where the test rejects, or the other way round.

    Edges: fewer than 4 pairs, or a correlation of exactly ±1 with the human score, give nan.

    Source: Zou 2007 (Psychological Methods 12), section on overlapping correlations.

    >>> low, high = correlation_difference_interval(0.396, 0.179, 0.088, n=66)
    >>> round(low, 3), round(high, 3)
    (-0.093, 0.517)
    """
    from scipy.special import ndtri

    if n < 4 or max(abs(human_first), abs(human_second)) >= 1:
        return np.nan, np.nan
    half = float(ndtri(0.975)) / sqrt(n - 3)
    (low_first, high_first), (low_second, high_second) = (
        (float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half)))
        for r in (human_first, human_second)
    )
    together = (
        (between - human_first * human_second / 2) * (1 - human_first**2 - human_second**2 - between**2) + between**3
    ) / ((1 - human_first**2) * (1 - human_second**2))
    difference = human_first - human_second
    below, above = (
        (human_first - low_first, high_second - human_second),
        (high_first - human_first, human_second - low_second),
    )
    low, high = (sqrt(max(0.0, a**2 + b**2 - 2 * together * a * b)) for a, b in (below, above))
    return difference - low, difference + high
