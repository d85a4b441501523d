"""BERTScore between 0 for unrelated sentences and 1 for equal ones: rescaling with a baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.bertscore import PRF
from engine.messages.message import Message


@dataclass(frozen=True)
class Baseline:
    """Mean precision, recall and F1 of `n` random pairs; 0 where their number is not known.

    The errors are the standard errors of these means, nan where they are not known.
    """

    precision: float
    recall: float
    f1: float
    n: int = 0
    precision_error: float = np.nan
    recall_error: float = np.nan
    f1_error: float = np.nan


def baseline_of(scores: PRF) -> Baseline:
    """What does BERTScore give to sentences that have nothing to do with each other?

        (mean of P, mean of R, mean of F1) over the pairs;    error = s / √n,  s² = Σ (x - mean)² / (n - 1)

    Pairs are drawn independently, with replacement, so that the error of a mean is how far it differs from one seed to
    the next; with one pair it is nan.

    Parameters
    ----------
    scores : of pairs of sentences drawn at random; a pair without a score (nan) is left out.

    Range: each in [-1, 1], no unit; neither end is better, it is a property of the model, its layer and the sentences.
    The mean of F1 is its own, not the harmonic mean of the other two.

    Raises InputError where no pair has a score.

    Source: Zhang et al. 2020 (BERTScore), section 5, and the baseline files of bert_score, which are such means over
    random pairs of a corpus, without idf.

    >>> baseline_of(PRF(np.array([0.5, 0.25]), np.array([0.25, 0.25]), np.array([1 / 3, 0.25]))).precision
    0.375
    """
    known = np.isfinite(scores.precision) & np.isfinite(scores.recall) & np.isfinite(scores.f1)
    if not known.any():
        raise InputError(
            Message("No random pair has a score, so there is no baseline. Rescale with the file of one instead.")
        )
    of_pairs = np.stack([scores.precision[known], scores.recall[known], scores.f1[known]])  # (3, n)
    n = of_pairs.shape[1]
    errors = of_pairs.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else np.full(3, np.nan)
    precision, recall, f1 = (float(of_score.mean()) for of_score in of_pairs)
    return Baseline(precision, recall, f1, n, *map(float, errors))


def rescaled(scores: ArrayLike, baseline: float) -> NDArray[np.float64]:
    """How far does a score lie between that of unrelated sentences and that of equal ones?

        rescaled = (score − baseline) / (1 − baseline)

    Parameters
    ----------
    scores : (n_pairs,) precision, recall or F1; nan stays nan.
    baseline : the mean of the same score over random pairs, below 1.

    Range: (-∞, 1], no unit, higher is better: 1 for equal sentences, 0 for a pair as alike as random ones, below 0 for
    one less alike. Order and correlations are those of the scores; only the scale is another.

    Raises InputError for a baseline of 1 or more, or that is not finite.

    Source: Zhang et al. 2020 (BERTScore), section 5; bert_score 0.3.13 with `rescale_with_baseline`. As there, F1 is
    rescaled with its own baseline, so it is not the harmonic mean of the rescaled precision and recall.

    >>> rescaled([1.0, 0.75, 0.5, 0.25], 0.5).tolist()
    [1.0, 0.5, 0.0, -0.5]
    """
    if not np.isfinite(baseline) or baseline >= 1:
        raise InputError(
            Message("A baseline is the mean score of random pairs, below 1; got {baseline}.", baseline=baseline)
        )
    return (np.asarray(scores, dtype=np.float64) - baseline) / (1 - baseline)
