"""How often does a metric order two translations of a segment as the humans do, ties included? Tie calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from engine.errors import InputError
from engine.messages.message import Message

# Shares that are nearer to each other than this differ by rounding: the smaller threshold is taken.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class TieCalibration:
    """acc_eq at the best threshold, over `n_segments` segments with `n_pairs` pairs; nan with the `reason`."""

    accuracy: float
    threshold: float
    n_segments: int
    n_pairs: int
    reason: str = ""


def tie_calibrated_accuracy(human: ArrayLike, metric: ArrayLike) -> TieCalibration:
    """In how many pairs of translations of one segment do metric and humans agree on better, worse or equal?

        acc_eq = mean over segments of (C + T_both) / (all pairs of the segment)

    C counts pairs in one order, T_both pairs tied in both. Two metric scores count as tied where they differ by at
    most ε, the threshold with the greatest acc_eq; of equal ones the smallest.

    Parameters
    ----------
    human, metric : (n_systems, n_segments); nan = missing. Cells with both scores count.

    Range: [0, 1], higher is better; ε ≥ 0 in the unit of the metric.

    Edges: a segment with fewer than two systems has no pair and does not count; without any pair it is nan, with the
    reason. ε is fitted on the pairs that it is judged by, so acc_eq is slightly high, above all with few pairs.

    Raises InputError for matrices of different shapes.

    Source: Deutsch, Foster, Freitag 2023 (EMNLP, arXiv 2305.14324), averaged by item as in mt-metrics-eval
    (tau_optimization.py), with all pairs in the search.

    >>> tie_calibrated_accuracy([[1], [1], [0]], [[0.9], [0.8], [0.1]]).accuracy
    1.0
    """
    golds, values = np.asarray(human, dtype=np.float64), np.asarray(metric, dtype=np.float64)
    if golds.shape != values.shape or golds.ndim != 2:
        raise InputError(
            Message(
                "Human and metric scores are matrices of the same systems and segments; got {shape} and {other_shape}.",
                shape=golds.shape,
                other_shape=values.shape,
            )
        )
    first, second = np.triu_indices(len(golds), 1)
    gold_differences = golds[first] - golds[second]  # (n_pairs_of_systems, n_segments)
    differences = values[first] - values[second]
    known = ~(np.isnan(gold_differences) | np.isnan(differences))
    pairs_of_segment = known.sum(axis=0)
    n_segments = int((pairs_of_segment > 0).sum())
    if not n_segments:
        return TieCalibration(np.nan, np.nan, 0, 0, Message("no segment has scores of two systems"))
    weights = np.broadcast_to(1 / (n_segments * np.maximum(pairs_of_segment, 1)), known.shape)[known]
    gold_differences, differences = gold_differences[known], differences[known]
    as_scored = np.sign(gold_differences) == np.sign(differences)
    as_tied = gold_differences == 0
    order = np.argsort(np.abs(differences), kind="stable")
    gaps = np.abs(differences)[order]
    gains = ((as_tied.astype(np.float64) - as_scored) * weights)[order]
    last_of_gap = np.append(gaps[1:] != gaps[:-1], True)
    accuracies = np.append(0.0, np.cumsum(gains)[last_of_gap]) + float((as_scored * weights).sum())
    best = int(np.argmax(accuracies >= accuracies.max() - _ROUNDING))  # the first of the greatest
    threshold = float(np.append(0.0, gaps[last_of_gap])[best])
    return TieCalibration(float(accuracies[best]), threshold, n_segments, int(known.sum()))
