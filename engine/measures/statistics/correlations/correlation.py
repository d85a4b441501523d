"""Do two columns of numbers rise and fall together? Pearson, Spearman and Kendall, each with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.statistics.correlations.rank_intervals import (
    interval_without_spread,
    kendall_interval,
    ranks,
    spearman_interval,
)
from engine.messages.message import Message, together

CONFIDENCE = 0.95
FEWEST_PAIRS = 3
# A column that varies by less than this share of its size varies by rounding (scipy's bound for `pearsonr`).
CONSTANT = 1e-13


@dataclass(frozen=True)
class Correlation:
    """A coefficient over `n` pairs and its interval; nan where undefined, and then `reason` says why."""

    value: float
    ci_low: float
    ci_high: float
    n: int
    reason: str = ""


def pearson(
    x: ArrayLike, y: ArrayLike, confidence: float = CONFIDENCE, *, names: tuple[str, str] = ("x", "y")
) -> Correlation:
    """How near to a straight line do the pairs lie?

        r = Σ (x_i − x̄)(y_i − ȳ) / sqrt(Σ (x_i − x̄)² Σ (y_i − ȳ)²)
        interval = tanh(artanh r ± z / sqrt(n − 3)),   z the normal quantile of (1 + confidence) / 2

    Parameters
    ----------
    x, y : (n_pairs,) numbers; nan = missing. A pair that lacks either is left out, and `n` counts the rest.
    confidence : in (0, 1).
    names : what the reason calls the two columns.

    Range: [-1, 1], no unit; larger is better where y is what x should follow, 0 is no linear relation.
    Neither unit nor origin of a column matters.

    Edges: fewer than 3 pairs, or a column that is constant (or varies by rounding alone), has no correlation:
    nan and a reason, never 0. With 3 pairs the interval is (-1, 1). At r = ±1 nothing is seen of the spread: the
    interval is that of `interval_without_spread`.

    Raises InputError for columns of different lengths, an infinite value, or confidence not within 0 and 1.

    Source: Pearson 1895; the interval Fisher 1921. It supposes pairs that are independent and about
    bivariate normal: with heavy tails or clumped scores it is too narrow.

    >>> result = pearson([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    >>> round(result.value, 6), round(result.ci_low, 3), round(result.ci_high, 3)
    (0.8, -0.28, 0.986)
    """
    first, second, reason = _paired(x, y, names)
    _check(confidence)
    if reason:
        return Correlation(np.nan, np.nan, np.nan, first.size, reason)
    value, n = _linear(first, second), first.size
    if n <= FEWEST_PAIRS:
        return Correlation(value, -1.0, 1.0, n)
    if abs(value) > 1 - CONSTANT:
        return Correlation(value, *interval_without_spread(value, n, confidence), n)
    half = NormalDist().inv_cdf((1 + confidence) / 2) / np.sqrt(n - 3)
    return Correlation(value, float(np.tanh(np.arctanh(value) - half)), float(np.tanh(np.arctanh(value) + half)), n)


def spearman(
    x: ArrayLike, y: ArrayLike, confidence: float = CONFIDENCE, *, names: tuple[str, str] = ("x", "y")
) -> Correlation:
    """Do the pairs keep one order, whatever the distances?

        ρ = Pearson's r of the ranks (equal values share the mean of their ranks)
        interval, n ≥ 20: tanh(artanh ρ ± t s),   s² = Σ (e_i − ē)² / (n (n − 1) (1 − ρ²)²),   t of n − 2 degrees,
            s² at least that of normal pairs, (1 + ρ²/2) / (n − 3) (Bonett and Wright 2000; Kendall: 0.437 / (n − 4))
        interval, n < 20: the truths under which orders as far away as this one have a probability of α/2 or more

    e_i is how much pair i moves ρ, by its own product and by the ranks that it shifts. For few pairs the probability is
    that among 10,000 samples from normal distributions of each correlation r, whose ρ is 6/π asin(r/2); ties are taken
    in the order that is worst at each end, which is wide, so that with ties the first formula serves from n = 10.

    Parameters, range and errors: those of `pearson`; no increasing transformation of a column matters.

    Edges: as of `pearson`, but 3 pairs have an interval, too. It has never a width of 0: at a perfect order of 4 it
    is (-0.21, 1); at one of 20 or more that of 19, or with ties that of `interval_without_spread`.
    From 20 pairs it is (-1, 1) where fewer than 10 of them do not have the commonest value of a column.

    Source: Spearman 1904; the interval by the infinitesimal jackknife (Efron 1981, Canadian Journal of Statistics 9)
    and Fisher's z, for any distribution and with ties. Measured with 200 to 600 draws of 4 to 300 pairs at r = 0 to
    0.99: it covers 92 to 99% of normal pairs, of which both columns may have five even levels. Less: of ρ at
    r = 0.999 from 20 pairs 78 to 89%; where 80% or more of the pairs have one value 86 to 99% up to r = 0.9, and 63
    to 99% above.

    >>> result = spearman([1, 2, 3, 4, 500], [2, 1, 4, 3, 5])
    >>> round(result.value, 6), round(result.ci_low, 3), round(result.ci_high, 3)
    (0.8, -0.334, 0.997)
    """
    first, second, reason = _paired(x, y, names)
    _check(confidence)
    if reason:
        return Correlation(np.nan, np.nan, np.nan, first.size, reason)
    value = _linear(ranks(first), ranks(second))
    return Correlation(value, *spearman_interval(first, second, value, confidence), first.size)


def kendall(
    x: ArrayLike, y: ArrayLike, confidence: float = CONFIDENCE, *, names: tuple[str, str] = ("x", "y")
) -> Correlation:
    """Of any two pairs, how much oftener are they in the same order in both columns than in opposite orders?

        τ_b = (C − D) / sqrt((C + D + T_x)(C + D + T_y))
        interval as of `spearman`; the τ of normal distributions is 2/π asin r

    C and D count the couples of pairs in the same and in opposite orders, T_x and T_y those tied in x
    alone and in y alone. e_i of the interval is how much pair i moves τ_b, by the couples that it is one of.

    Parameters, range, edges and errors: those of `spearman`. No increasing transformation of a column matters.

    Source: Kendall 1945, by scipy's `kendalltau`; the interval from the consistent variance of τ (Long and Cliff 1997,
    British Journal of Mathematical and Statistical Psychology 50), here of τ_b.

    >>> result = kendall([1, 2, 3, 4, 500], [2, 1, 4, 3, 5])
    >>> round(result.value, 6), round(result.ci_low, 3), round(result.ci_high, 3)
    (0.6, -0.328, 0.95)
    """
    from scipy.stats import kendalltau  # most of a second to import, and only here

    first, second, reason = _paired(x, y, names)
    _check(confidence)
    if reason:
        return Correlation(np.nan, np.nan, np.nan, first.size, reason)
    value = float(np.clip(kendalltau(first, second, method="asymptotic").statistic, -1, 1))
    return Correlation(value, *kendall_interval(first, second, value, confidence), first.size)


def is_constant(values: NDArray[np.float64]) -> bool:
    """Whether finite `values` (n,) are all the same, rounding aside."""
    return bool(np.ptp(values) <= CONSTANT * np.abs(values).max()) if values.size else True


def _paired(x: ArrayLike, y: ArrayLike, names: tuple[str, str]) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    """The complete pairs, and why they have no correlation ("" where they have one)."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise InputError(
            Message(
                "A correlation needs two columns of one length; got shapes {shape} and {other_shape}.",
                shape=first.shape,
                other_shape=second.shape,
            )
        )
    if np.isinf(first).any() or np.isinf(second).any():
        raise InputError(Message("A correlation needs finite numbers; an infinite one is given."))
    complete = ~(np.isnan(first) | np.isnan(second))
    first, second = first[complete], second[complete]
    if first.size < FEWEST_PAIRS:
        return (
            first,
            second,
            Message(
                "a correlation needs at least {FEWEST_PAIRS} pairs; there are {size}",
                FEWEST_PAIRS=FEWEST_PAIRS,
                size=first.size,
            ),
        )
    constant = [
        Message("{name} is {values:.6g} in all {size} pairs", name=name, values=values[0], size=values.size)
        for name, values in zip(names, (first, second), strict=True)
        if is_constant(values)
    ]
    return first, second, together(" and ", constant)


def _check(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise InputError(
            Message("A confidence level must be between 0 and 1; got {confidence}.", confidence=confidence)
        )


def _linear(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    x, y = x - x.mean(), y - y.mean()
    # Divided first: the squares of very small or very large numbers leave the range of float64.
    x, y = x / np.abs(x).max(), y / np.abs(y).max()
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))
