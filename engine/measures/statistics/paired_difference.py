"""By how much do two classifiers differ on the same test sentences, when each was trained several times?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.statistics.clustered import clustered_variance
from engine.messages.message import Message

CONFIDENCE = 0.95


@dataclass(frozen=True)
class PairedDifference:
    """The mean difference over `n` answers and its interval; nan where undefined."""

    difference: float
    ci_low: float
    ci_high: float
    n: int

    @property
    def separable(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.ci_low > 0 or self.ci_high < 0


def paired_difference(
    first: ArrayLike, second: ArrayLike, items: ArrayLike, runs: ArrayLike, confidence: float = CONFIDENCE
) -> PairedDifference:
    """Is one model right more often than another, beyond the luck of these sentences and of these trainings?

        d = mean of d_a = x_a − y_a over the answers a
        s² = s²(items) + luck,    luck = max(0, s²(runs) − s²(answers)), 0 for a single run
        s²(groups) = G / (G − 1) · Σ_g (Σ_{a in g} (d_a − d))² / n²,    G groups
        interval = d ± t s,    t the quantile of Student's distribution with f degrees of freedom
        f = s⁴ / (s⁴(items) / (items − 1) + luck² / (runs − 1))

    Answers of one item hang together because it is easy or hard, answers of one run because the training went well
    or badly: both are accounted for. With one run only the items can be.

    Parameters
    ----------
    first, second : (n_answers,) what each model got: 1 right, 0 wrong, or any number.
    items, runs : (n_answers,) which sentence was asked, and in which run; any values that sort.
    confidence : in (0, 1).

    Range: differences of the given numbers; above 0 the first model is better.

    Edges: a single item has no spread: the interval is nan. Answers that all differ alike have an interval of no
    width. What the same items and runs had in common under both models is taken off by the pairing.

    Raises InputError for columns of different lengths, numbers that are not finite, and confidence not within 0 and 1.

    Source: the paired t interval (Student 1908), with the variance clustered two ways of Cameron, Gelbach and Miller
    2011 (Journal of Business and Economic Statistics 29), a negative part of it left out, and the degrees of freedom
    of Satterthwaite 1946. How often it covers the truth: tests/measures/test_classification.py.

    >>> comparison = paired_difference([1, 1, 0, 1], [0, 1, 0, 0], items=[1, 2, 3, 4], runs=[0, 0, 0, 0])
    >>> comparison.difference, round(comparison.ci_low, 3), comparison.separable
    (0.5, -0.419, False)
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    by_item, by_run = np.asarray(items), np.asarray(runs)
    if x.ndim != 1 or not x.shape == y.shape == by_item.shape == by_run.shape:
        raise InputError(
            Message(
                "Two models are compared on the same answers; got shapes {shape}, {other_shape}, "
                "{third_shape} and {fourth_shape}.",
                shape=x.shape,
                other_shape=y.shape,
                third_shape=by_item.shape,
                fourth_shape=by_run.shape,
            )
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError(Message("A paired difference needs finite numbers."))
    if not 0 < confidence < 1:
        raise InputError(
            Message("A confidence level must be between 0 and 1; got {confidence}.", confidence=confidence)
        )
    n = x.size
    if not n:
        return PairedDifference(np.nan, np.nan, np.nan, 0)
    difference = float((x - y).mean())
    deviations = x - y - difference
    n_items, from_items = _clustered(deviations, by_item)
    n_runs, from_runs = _clustered(deviations, by_run)
    if n_items < 2:
        return PairedDifference(difference, np.nan, np.nan, n)
    luck = max(0.0, from_runs - _clustered(deviations, np.arange(n))[1]) if n_runs > 1 else 0.0
    variance = from_items + luck
    if not variance:
        return PairedDifference(difference, difference, difference, n)
    freedom = variance**2 / (from_items**2 / (n_items - 1) + luck**2 / max(n_runs - 1, 1))
    from scipy.special import stdtrit  # a moment to import, and only here

    half = float(stdtrit(freedom, (1 + confidence) / 2) * np.sqrt(variance))
    return PairedDifference(difference, difference - half, difference + half, n)


def _clustered(deviations: NDArray[np.float64], groups: NDArray[np.generic]) -> tuple[int, float]:
    """The number of groups, and the variance of the mean when the answers of a group hang together."""
    code = np.unique(groups, return_inverse=True)[1]
    return int(code.max()) + 1, clustered_variance(deviations, code)
