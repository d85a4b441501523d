"""Do scores of single sentences agree with judgements, acceptable or not: a threshold, and calibrated probabilities.

Threshold and probabilities are fitted to other sentences than those that they are held against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.minimal_pairs.length_slope import logistic_curve
from engine.messages.message import Message

FOLDS = 5
BINS = 10
RESAMPLES = 1000
PARTITIONS = 10  # that the spread over seeds is taken from


@dataclass(frozen=True)
class HeldOut:
    """What the other parts say of each sentence: its part, the threshold there, the verdict and the probability.

    part: int (n,), -1 without a fit. threshold, probability: float64 (n,), nan without a fit; predicted: bool (n,).
    reason: why there is no fit, "" where there is one.
    """

    part: NDArray[np.int64]
    threshold: NDArray[np.float64]
    predicted: NDArray[np.bool_]
    probability: NDArray[np.float64]
    reason: str = ""


@dataclass(frozen=True)
class Reliability:
    """Sentences by the bin of their probability: (bins,) each; mean probability and share are nan in an empty bin."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n: NDArray[np.int64]
    n_acceptable: NDArray[np.int64]
    probability: NDArray[np.float64]
    share: NDArray[np.float64]


@dataclass(frozen=True)
class PartitionSpread:
    """Standard deviations of what is fitted in parts, from one partition into parts to the next; nan where undefined.

    threshold: of the mean threshold over the parts.
    """

    mcc: float
    accuracy: float
    threshold: float
    brier: float
    ece: float


def held_out(scores: ArrayLike, acceptable: ArrayLike, folds: int = FOLDS, *, seed: int = 0) -> HeldOut:
    """Which sentences does a threshold call acceptable, and how probable are they, judged by the other sentences alone?

        predicted = score ≥ threshold,           the threshold of the highest MCC in the other parts
        probability = 1 / (1 + exp(-(a + b · score))),  a and b by maximum likelihood in the other parts (Platt 1999)

    Parameters
    ----------
    scores : (n,), finite, of one normalisation.
    acceptable : bool (n,), the judgements.
    folds : parts, at least 2, with as nearly as possible the same share of acceptable sentences; drawn by `seed`.

    Range: predicted is a bool, probability in (0, 1). A rising linear map of the scores changes neither.

    Edges: one score for all sentences: all are called acceptable, and the probability is that of the class. With fewer
    sentences of a class than parts there is no fit, with a reason. Platt's targets, (n+ + 1) / (n+ + 2) and
    1 / (n- + 2) in place of 1 and 0, keep a and b finite also where the scores separate the classes.

    Raises InputError for fewer than 2 parts, columns of different lengths, and scores that are not finite.

    Source: a threshold on a development part, with MCC: Warstadt, Singh, Bowman 2019 (CoLA, TACL 7), section 4; Someya,
    Sugimoto, Oseki 2024 (JCoLA, LREC-COLING). Calibration: Platt 1999, section 2.

    >>> fit = held_out([-9, -8, -7, -3, -2, -1], [False, False, False, True, True, True], 3)
    >>> fit.predicted.tolist()
    [False, False, False, True, True, True]
    """
    values, flags = _columns(scores, acceptable)
    if folds < 2:
        raise InputError(Message("A held-out part needs at least 2 parts; got {folds}.", folds=folds))
    if not np.isfinite(values).all():
        n_infinite = int((~np.isfinite(values)).sum())
        raise InputError(
            Message("{n_infinite} of {size} scores are not finite numbers.", n_infinite=n_infinite, size=values.size)
        )
    fewest = int(min(flags.sum(), (~flags).sum()))
    nothing = np.full(values.size, np.nan)
    if fewest < folds:
        return HeldOut(
            np.full(values.size, -1),
            nothing,
            np.zeros(values.size, dtype=bool),
            nothing,
            Message(
                "{folds} parts need {folds} sentences of each judgement; there are {fewest} of one",
                folds=folds,
                fewest=fewest,
            ),
        )
    part = _stratified(flags, folds, seed)
    threshold, probability = nothing.copy(), nothing.copy()
    for number in range(folds):
        other, own = part != number, part == number
        threshold[own] = best_threshold(values[other], flags[other])
        intercept, slope = _platt(values[other], flags[other])
        probability[own] = 1 / (1 + np.exp(-np.clip(intercept + slope * values[own], -700, 700)))
    return HeldOut(part, threshold, values >= threshold, probability)


def best_threshold(scores: ArrayLike, acceptable: ArrayLike) -> float:
    """The threshold of the highest MCC, half-way between two scores; -inf where none does better than calling all
    acceptable. Of several equally good ones the lowest.

    Raises InputError for columns of different lengths.

    >>> best_threshold([-4, -3, -2, -1], [False, True, False, True])
    -3.5
    """
    values, flags = _columns(scores, acceptable)
    order = np.argsort(values, kind="stable")
    ordered, right = values[order], flags[order]
    cuts = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1  # so many sentences are below the threshold
    if not cuts.size:
        return -np.inf
    below = np.cumsum(right)[cuts - 1]
    n_acceptable = int(right.sum())
    mcc = _mcc(n_acceptable - below, ordered.size - cuts - (n_acceptable - below), below, cuts - below)
    best = int(np.argmax(np.round(mcc, 12)))  # equal up to rounding
    return float(ordered[cuts[best] - 1 : cuts[best] + 1].mean()) if mcc[best] > 0 else -np.inf


def matthews_correlation(
    predicted: ArrayLike, acceptable: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float, float]:
    """How strongly do verdicts and judgements go together, whatever the shares of the classes? With its interval.

        MCC = (TP · TN - FP · FN) / √((TP + FP)(TP + FN)(TN + FP)(TN + FN))

    predicted, acceptable: bool (n,). Range [-1, 1], no unit, higher is better; 0 is chance. The interval (95%) is of
    the percentile bootstrap over the sentences, which draws the four counts anew; it does not count that the threshold
    was chosen. Edges: 0 where all verdicts, or all judgements, are alike, as in scikit-learn; nan for no sentence.

    Raises InputError for columns of different lengths. Source: Matthews 1975; Gorodkin 2004 for the edge.

    >>> round(matthews_correlation([True, True, False, False], [True, False, False, False])[0], 4)  # 2 / √12
    0.5774
    """
    verdicts, flags = np.asarray(predicted, dtype=bool), np.asarray(acceptable, dtype=bool)
    if verdicts.shape != flags.shape or verdicts.ndim != 1:
        raise InputError(
            Message(
                "Each verdict needs one judgement; got {size} and {other_size}.",
                size=verdicts.size,
                other_size=flags.size,
            )
        )
    if not verdicts.size:
        return float("nan"), float("nan"), float("nan")
    counts = np.array(
        [(verdicts & flags).sum(), (verdicts & ~flags).sum(), (~verdicts & flags).sum(), (~verdicts & ~flags).sum()]
    )
    drawn = np.random.default_rng(seed).multinomial(flags.size, counts / flags.size, resamples)  # (resamples, 4)
    low, high = np.quantile(_mcc(*drawn.T), [0.025, 0.975])
    return float(_mcc(*counts)), float(low), float(high)


def brier_score(probability: ArrayLike, acceptable: ArrayLike) -> float:
    """How far are the probabilities from what was judged?

        Brier = mean of (p - y)²,  y = 1 for an acceptable sentence, 0 for another

    probability: (n,), in [0, 1]. Range [0, 1], no unit, lower is better; a constant share s of acceptable sentences has
    s (1 - s). Edge: nan for no sentence. Raises InputError for columns of different lengths. Source: Brier 1950.

    >>> round(brier_score([0.9, 0.2], [True, False]), 3)  # (0.01 + 0.04) / 2
    0.025
    """
    p, flags = _columns(probability, acceptable)
    return float(np.mean((p - flags) ** 2)) if p.size else float("nan")


def reliability(probability: ArrayLike, acceptable: ArrayLike, bins: int = BINS) -> Reliability:
    """Of the sentences of about one probability, how many are acceptable? Bins of equal width from 0 to 1.

    A bin holds its lower end; the last one its upper end, too. Raises InputError for columns of different lengths.
    Source: DeGroot and Fienberg 1983.

    >>> reliability([0.1, 0.9, 0.8], [False, True, False], bins=2).share.tolist()
    [0.0, 0.5]
    """
    p, flags = _columns(probability, acceptable)
    edges, code = np.linspace(0, 1, bins + 1), _bin(p, bins)
    n, right, total = (
        np.bincount(code, weights=weights, minlength=bins) for weights in (np.ones_like(p), flags.astype(np.float64), p)
    )
    some = np.where(n > 0, n, np.nan)
    return Reliability(edges[:-1], edges[1:], n.astype(np.int64), right.astype(np.int64), total / some, right / some)


def calibration_error(bins: Reliability) -> float:
    """How far is the probability from the share that it promises, on average over the sentences?

        ECE = Σ_b (n_b / n) · |share acceptable in b - mean probability in b|

    Range [0, 1], no unit, lower is better. It depends on the bins, and is above 0 by chance even where the
    probabilities are right. Edge: nan for no sentence. Source: Naeini, Cooper, Hauskrecht 2015 (AAAI), section 2.

    >>> round(calibration_error(reliability([0.1, 0.9, 0.8], [False, True, False], bins=2)), 4)  # 0.1/3 + 2/3 · 0.35
    0.2667
    """
    n = int(bins.n.sum())
    return float(np.nansum(bins.n * np.abs(bins.share - bins.probability)) / n) if n else float("nan")


def partition_spread(
    fits: Sequence[HeldOut], acceptable: ArrayLike, inside: ArrayLike | None = None, *, bins: int = BINS
) -> PartitionSpread:
    """How far do MCC, accuracy, threshold, Brier score and calibration error depend on the partition into parts?

        deviation = √(Σ_s (x_s - mean x)² / (S - 1)),   x_s the number under partition s of S

    Parameters
    ----------
    fits : `held_out` of the same sentences under several seeds, at least 2.
    acceptable : bool (n,), the judgements. inside : bool (n,), the sentences that count; None: all.

    Range: 0 and above, in the unit of each number. It is the spread over seeds alone; the interval of a number says
    what other sentences would do.

    Edges: nan for each where a fit is missing or no sentence counts, of the MCC also where all sentences have one
    judgement, and of the threshold where one is infinite.

    Raises InputError for fewer than 2 partitions and columns of different lengths. Source: the definition.

    >>> scores, acceptable = [-9, -8, -7, -3, -2, -1], [False, False, False, True, True, True]
    >>> partition_spread([held_out(scores, acceptable, 3, seed=seed) for seed in range(3)], acceptable).mcc
    0.0
    """
    if len(fits) < 2:
        raise InputError(Message("A spread over partitions needs at least 2 of them; got {fits}.", fits=len(fits)))
    flags = np.asarray(acceptable, dtype=bool)
    counted = np.ones(flags.shape, dtype=bool) if inside is None else np.asarray(inside, dtype=bool)
    if any(fit.part.shape != flags.shape for fit in fits) or counted.shape != flags.shape:
        raise InputError(
            Message("Each sentence needs one part in every partition; got {size} judgements.", size=flags.size)
        )
    judged = flags[counted]
    if any(fit.reason for fit in fits) or not judged.size:
        return PartitionSpread(*(np.nan,) * 5)
    predicted = np.stack([fit.predicted[counted] for fit in fits])  # (n_partitions, n_counted), as the next
    probability = np.stack([fit.probability[counted] for fit in fits])
    both, called = (predicted & judged).sum(axis=1), predicted.sum(axis=1)
    n_acceptable = int(judged.sum())
    mcc = _mcc(both, called - both, n_acceptable - both, judged.size - n_acceptable - called + both)
    # Each bin adds |Σ (y - p)| / n to the calibration error.
    cell = _bin(probability, bins) + bins * np.arange(len(fits))[:, None]
    gaps = np.bincount(cell.ravel(), (judged - probability).ravel(), bins * len(fits)).reshape(len(fits), bins)
    thresholds = np.array([float(np.mean(fit.threshold)) for fit in fits])
    deviations = (
        np.std(values, ddof=1)
        for values in (
            mcc if 0 < n_acceptable < judged.size else np.full(len(fits), np.nan),
            (predicted == judged).mean(axis=1),
            thresholds if np.isfinite(thresholds).all() else np.full(len(fits), np.nan),
            np.square(judged - probability).mean(axis=1),
            np.abs(gaps).sum(axis=1) / judged.size,
        )
    )
    return PartitionSpread(*map(float, deviations))


def _bin(probability: NDArray[np.float64], bins: int) -> NDArray[np.intp]:
    """The bin of equal width that each probability is in, from 0."""
    edges = np.linspace(0, 1, bins + 1)
    return np.clip(np.searchsorted(edges, probability, side="right") - 1, 0, bins - 1)


def _columns(scores: ArrayLike, acceptable: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, flags = np.asarray(scores, dtype=np.float64), np.asarray(acceptable, dtype=bool)
    if values.shape != flags.shape or values.ndim != 1:
        raise InputError(
            Message(
                "Each sentence needs one number and one judgement; got {size} and {other_size}.",
                size=values.size,
                other_size=flags.size,
            )
        )
    return values, flags


def _stratified(flags: NDArray[np.bool_], folds: int, seed: int) -> NDArray[np.int64]:
    """Parts of about one size with about one share of acceptable sentences, int64 (n,)."""
    random, part, dealt = np.random.default_rng(seed), np.zeros(flags.size, dtype=np.int64), 0
    for members in (np.flatnonzero(flags), np.flatnonzero(~flags)):
        part[random.permutation(members)] = (dealt + np.arange(members.size)) % folds
        dealt += members.size
    return part


def _mcc(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> NDArray[np.float64]:
    tp, fp, fn, tn = (np.asarray(counts, dtype=np.float64) for counts in (tp, fp, fn, tn))
    product = np.sqrt(tp + fp) * np.sqrt(tp + fn) * np.sqrt(tn + fp) * np.sqrt(tn + fn)
    mcc = np.where(product > 0, (tp * tn - fp * fn) / np.where(product > 0, product, 1.0), 0.0)
    return np.clip(mcc, -1.0, 1.0)  # rounding


def _platt(scores: NDArray[np.float64], flags: NDArray[np.bool_]) -> tuple[float, float]:
    """Intercept and slope of the log-odds of being acceptable."""
    n_acceptable, n_other = int(flags.sum()), int((~flags).sum())
    targets = np.where(flags, (n_acceptable + 1) / (n_acceptable + 2), 1 / (n_other + 2))
    spread = float(scores.std())
    fitted = None
    if spread > 1e-12 * float(np.abs(scores).max()):
        centre = float(scores.mean())
        fitted = logistic_curve((scores - centre) / spread, np.ones_like(scores), targets)
    if fitted is None:  # one score for all: the share alone
        share = float(targets.mean())
        return float(np.log(share / (1 - share))), 0.0
    intercept, slope, _ = fitted
    return intercept - slope * centre / spread, slope / spread
