"""How well does a score tell two groups apart?"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from engine.errors import InputError
from engine.messages.message import Message

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Area:
    """The area under the curve and its interval; nan where undefined, and then `reason` says why."""

    value: float
    ci_low: float
    ci_high: float
    reason: str = ""


def area_under_curve(scores: ArrayLike, positive: ArrayLike) -> float:
    """How probable is it that a positive scores higher than a negative?

        AUC = P(s+ > s-) + P(s+ = s-) / 2        over all pairs of one positive and one negative

    Parameters
    ----------
    scores : (n,), higher for positives where the score is good.
    positive : bool (n,).

    Range: [0, 1], no unit, higher is better; 0.5 is chance, below it the score goes the wrong way. Edges: equal scores
    count half; nan where one group is empty. Raises InputError where the lengths differ or a score is nan.

    Source: the area under the receiver operating characteristic, by the statistic of Mann and Whitney (1947).

    >>> area_under_curve([0.9, 0.4, 0.5, 0.1], [True, True, False, False])
    0.75
    """
    values, flags = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    if values.shape != flags.shape or values.ndim != 1:
        raise InputError(
            Message(
                "Each score needs one flag; got {size} scores and {other_size} flags.",
                size=values.size,
                other_size=flags.size,
            )
        )
    if np.isnan(values).any():
        raise InputError(
            Message("{n} of {size} scores are not numbers.", n=int(np.isnan(values).sum()), size=values.size)
        )
    n_positive, n_negative = int(flags.sum()), int((~flags).sum())
    if not n_positive or not n_negative:
        return float("nan")
    from scipy.stats import rankdata  # most of a second to import, and only here

    ranks = rankdata(values)
    return float((ranks[flags].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def roc_curve(scores: ArrayLike, positive: ArrayLike, rates: ArrayLike) -> np.ndarray:
    """What share of the positives is above a threshold that no more than a given share of the negatives is above?

        TPR(f) = max over thresholds t with P(s- >= t) <= f of P(s+ >= t)

    Parameters
    ----------
    scores, positive : as in `area_under_curve`. rates : (n_rates,), shares f of the negatives, in [0, 1].

    Returns (n_rates,). Range: [0, 1], no unit, higher is better, and not falling in f. Edges: nan where one group is
    empty. Raises InputError as `area_under_curve`. Source: the receiver operating characteristic by its steps, without
    a line between them.

    >>> roc_curve([0.9, 0.4, 0.5, 0.1], [True, True, False, False], [0, 0.5, 1]).tolist()
    [0.5, 1.0, 1.0]
    """
    area_under_curve(scores, positive)  # checks both
    values, flags = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    above, below = np.sort(values[flags]), np.sort(values[~flags])
    shares = np.asarray(rates, dtype=np.float64)
    if not above.size or not below.size:
        return np.full(shares.shape, np.nan)
    thresholds = np.append(np.unique(values), np.inf)
    false, true = (1 - np.searchsorted(group, thresholds) / group.size for group in (below, above))
    # both fall along the thresholds: the first that lets no more than f through
    first = np.searchsorted(-false, -shares - 1e-12)
    return np.asarray(true[first])


def area_with_interval(scores: ArrayLike, positive: ArrayLike, confidence: float = CONFIDENCE) -> Area:
    """`area_under_curve` with the interval that the scores of other positives and negatives would leave it in.

        variance = var(V+) / n+ + var(V-) / n-,  V+ of a positive: the share of negatives below it (equal ones half),
        V- of a negative: the share of positives above it
        interval = logistic(log(AUC / (1 - AUC)) ± z · √variance / (AUC (1 - AUC)))

    Parameters
    ----------
    scores : (n,). positive : bool (n,). confidence : in (0, 1).

    Range of the ends: (0, 1). Edges: constant scores have 0.5; no interval, with a reason, where a group has fewer than
    2 members or the variance is 0, as where the scores separate the groups or are all alike; nan with a reason where a
    group is empty. Raises InputError as `area_under_curve`.

    Source: DeLong, DeLong, Clarke-Pearson 1988 (Biometrics 44), computed by ranks as Sun and Xu 2014; on the log-odds,
    so that the interval does not leave [0, 1] (Pepe 2003, section 5.2).

    >>> area = area_with_interval([0.9, 0.4, 0.5, 0.1], [True, True, False, False])
    >>> area.value, round(area.ci_low, 3), round(area.ci_high, 3)  # V+ 1, 0.5, V- 0.5, 1: variance 1/8
    (0.75, 0.069, 0.992)
    """
    values, flags = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    area = area_under_curve(values, flags)
    groups = values[flags], values[~flags]
    sizes = [group.size for group in groups]
    if not all(sizes):
        return Area(area, np.nan, np.nan, Message("all sentences have one judgement"))
    if min(sizes) < 2:
        return Area(area, np.nan, np.nan, Message("an interval needs at least 2 sentences of each judgement"))
    of_positives, of_negatives = _placements(*groups)
    variance = of_positives.var(ddof=1) / sizes[0] + of_negatives.var(ddof=1) / sizes[1]
    return _on_log_odds(area, variance, confidence)


def area_of_pairs(positive: ArrayLike, negative: ArrayLike, confidence: float = CONFIDENCE) -> Area:
    """`area_under_curve` of what comes in pairs of a positive and a negative, whose scores resemble each other.

        variance = Σ (V+ + V- − 2 AUC)² / (n (n − 1)),  V+ and V- of the two of a pair as in `area_with_interval`

    Parameters
    ----------
    positive, negative : (n_pairs,) scores. confidence : in (0, 1).

    Range, edges and errors: as `area_with_interval`, with pairs in place of members of a group. Where the scores within
    pairs are uncorrelated the interval is nearly that; otherwise that one does not hold.

    Source: Obuchowski 1997 (Biometrics 53), a cluster for each pair; on the log-odds as in `area_with_interval`.

    >>> area = area_of_pairs([4, 1, 2], [3, 2.5, 0])  # V+ 1, 1/3, 1/3, V- 1/3, 1/3, 1: variance 4/81
    >>> round(area.value, 4), round(area.ci_low, 3), round(area.ci_high, 3)
    (0.5556, 0.176, 0.879)
    """
    first, second = np.asarray(positive, dtype=np.float64), np.asarray(negative, dtype=np.float64)
    if first.shape != second.shape:
        raise InputError(
            Message("Pairs need two scores each; got {n} and {other_n}.", n=first.size, other_n=second.size)
        )
    n = first.size
    if np.isnan(first).any() or np.isnan(second).any():
        n_missing = int((np.isnan(first) | np.isnan(second)).sum())
        raise InputError(Message("{n} of {size} pairs have a score that is not a number.", n=n_missing, size=n))
    of_positives, of_negatives = _placements(first, second)
    area = float(of_positives.mean()) if n else np.nan
    if n < 2:
        return Area(area, np.nan, np.nan, Message("an interval needs at least 2 pairs"))
    of_pairs = of_positives + (1 - of_negatives) - 2 * area
    return _on_log_odds(area, float(np.square(of_pairs).sum()) / (n * (n - 1)), confidence)


def _placements(positive: np.ndarray, negative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each positive the share of negatives below it, of each negative that of positives below it; equal ones half."""

    def below(others: np.ndarray, values: np.ndarray) -> np.ndarray:
        others = np.sort(others)
        return np.asarray((others.searchsorted(values) + others.searchsorted(values, "right")) / 2 / others.size)

    return below(negative, positive), below(positive, negative)


def _on_log_odds(area: float, variance: float, confidence: float) -> Area:
    if not (variance > 1e-15 and 0 < area < 1):
        return Area(area, np.nan, np.nan, Message("the scores separate the judgements, or are all alike: no interval"))
    half = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(variance) / (area * (1 - area))
    low, high = (1 / (1 + np.exp(-(np.log(area / (1 - area)) + end))) for end in (-half, half))
    return Area(area, float(low), float(high))
