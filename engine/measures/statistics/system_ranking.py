"""Does a metric put systems in the humans' order, and is it as sure of it? Pairwise and soft pairwise accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from engine.errors import InputError
from engine.messages.message import Message

PERMUTATIONS = 1000
# The seed of mt-metrics-eval, so that both draw the same signs.
SEED = 4
# Sums of the same numbers in another order differ by less than this, relative to the sum of their sizes.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class SystemAgreement:
    """How a metric ranks systems against the humans: both shares are over `n_pairs` pairs of systems.

    soft_pairwise_error: standard error of soft pairwise accuracy from drawing the permutations, that is over seeds.
    """

    n_systems: int
    n_pairs: int
    pairwise_accuracy: float
    soft_pairwise_accuracy: float
    reason: str = ""
    soft_pairwise_error: float = np.nan


def pairwise_p_values(scores: ArrayLike, *, permutations: int = PERMUTATIONS, seed: int = SEED) -> np.ndarray:
    """For every two systems: is the first better than the second, beyond the luck of these segments?

        p = share of random signs s with Σ s_i (x_i − y_i) ≥ Σ (x_i − y_i)

    A sign change swaps the scores of the two systems in one segment; all pairs share one set of signs.

    Parameters
    ----------
    scores : (n_systems, n_segments); nan = missing. Segments that one of the two systems lacks do not count.
    permutations : at least 1. seed : of the signs.

    Range: (n_pairs,) one-sided p-values in [0, 1] in the order of numpy.triu_indices(n_systems, 1); near 0 where the
    first of the two is better, near 1 where the second is. 1 where they never differ.

    Edges: two systems without a common segment have nan.

    Raises InputError for anything but a matrix.

    Source: the paired permutation test of Thompson et al. 2024 (WMT), with the random signs of mt-metrics-eval
    (pce.py); here in float64.

    >>> pairwise_p_values([[2, 3, 4], [1, 2, 3]]).round(1).tolist()
    [0.1]
    """
    exceeded, known = _exceeded(scores, permutations, seed)
    return np.where(known, exceeded.mean(axis=0), np.nan)


def _exceeded(scores: ArrayLike, permutations: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Whether each permutation reaches the difference of each two systems, and whether these have a common segment.

    bool (permutations, n_pairs) and bool (n_pairs,).
    """
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise InputError(
            Message("Scores of systems are a matrix of systems and segments; got {ndim} dimensions.", ndim=matrix.ndim)
        )
    first, second = np.triu_indices(len(matrix), 1)
    differences = (matrix[first] - matrix[second]).T  # (n_segments, n_pairs)
    known = ~np.isnan(differences)
    differences = np.where(known, differences, 0.0)
    random = np.random.default_rng(seed).random((permutations, matrix.shape[1]), dtype=np.float32)
    signs = np.where(random > 0.5, 1.0, -1.0)  # (permutations, n_segments)
    tolerance = _ROUNDING * np.abs(differences).sum(axis=0)
    return np.asarray(signs @ differences >= differences.sum(axis=0) - tolerance), np.asarray(known.any(axis=0))


def system_agreement(
    human: ArrayLike, metric: ArrayLike, *, permutations: int = PERMUTATIONS, seed: int = SEED
) -> SystemAgreement:
    """Does a metric rank systems as the humans do, pair by pair, and with the same certainty?

        pairwise accuracy = share of pairs of systems whose mean difference has one sign for human and metric
        SPA = 1 − mean |p_human − p_metric|,    p of `pairwise_p_values`

    Pairwise accuracy counts a pair that humans hardly tell apart as fully as a clear one; SPA does not.

    Parameters
    ----------
    human, metric : (n_systems, n_segments); nan = missing. A cell counts that has both scores; of each two systems the
        segments that both have.
    permutations, seed : of `pairwise_p_values`.

    Range: both in [0, 1], higher is better. Human and metric share the permutations, so that the error of SPA from
    drawing them is

        error = √(variance over the permutations r of g_r / R),
        g_r = mean over pairs of sign(p_human − p_metric) · (1_human,r − 1_metric,r)

    with 1 where permutation r reaches the difference: the infinitesimal jackknife, without another draw. It leaves out
    the pairs whose two p-values are equal.

    Edges: pairs of systems without a common segment do not count; where none is left both are nan, with a reason. Two
    means that are equal agree with nothing but two equal means.

    Raises InputError for matrices of different shapes.

    Source: pairwise accuracy Kocmi et al. 2021 (WMT); SPA Thompson et al. 2024 (WMT, arXiv 2409.09598), equal to
    mt-metrics-eval where no score is missing.

    >>> agreement = system_agreement([[2, 3, 4], [1, 2, 3]], [[20, 30, 40], [10, 20, 30]])
    >>> agreement.pairwise_accuracy, agreement.soft_pairwise_accuracy, agreement.soft_pairwise_error
    (1.0, 1.0, 0.0)
    """
    golds, values = np.asarray(human, dtype=np.float64), np.asarray(metric, dtype=np.float64)
    if golds.shape != values.shape:
        raise InputError(
            Message(
                "Human and metric scores are of the same systems and segments; got {shape} and {other_shape}.",
                shape=golds.shape,
                other_shape=values.shape,
            )
        )
    missing = np.isnan(golds) | np.isnan(values)
    golds, values = np.where(missing, np.nan, golds), np.where(missing, np.nan, values)
    (of_human, known), (of_metric, _) = (_exceeded(matrix, permutations, seed) for matrix in (golds, values))
    n_systems = int((~missing).any(axis=1).sum())
    if not known.any():
        return SystemAgreement(n_systems, 0, np.nan, np.nan, Message("no two systems have scores of the same segment"))
    agreeing = (_signs(golds) == _signs(values))[known]
    apart = (of_human.mean(axis=0) - of_metric.mean(axis=0))[known]
    influence = (of_human[:, known].astype(np.int8) - of_metric[:, known]) @ np.sign(apart) / apart.size
    return SystemAgreement(
        n_systems,
        int(known.sum()),
        float(agreeing.mean()),
        float(1 - np.abs(apart).mean()),
        soft_pairwise_error=float(influence.std() / np.sqrt(permutations)),
    )


def _signs(matrix: np.ndarray) -> np.ndarray:
    """The sign (n_pairs,) of the summed difference of every two systems over their common segments."""
    first, second = np.triu_indices(len(matrix), 1)
    differences = matrix[first] - matrix[second]  # (n_pairs, n_segments)
    sums = np.nansum(differences, axis=1)
    negligible = np.abs(sums) <= _ROUNDING * np.nansum(np.abs(differences), axis=1)
    return np.where(negligible, 0.0, np.sign(sums))
