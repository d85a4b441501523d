"""Several references of one candidate: which of them is the best, and the greatest of their scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message


def greatest_scores(scores: ArrayLike, n_references: ArrayLike) -> NDArray[np.float64]:
    """How well does each candidate do by the reference that it fits best?

        score of a row = max over its references

    Parameters
    ----------
    scores : (n_alignments,), one for each candidate and reference; those of one row follow each other.
    n_references : (n_rows,), above 0, their sum n_alignments.

    Returns (n_rows,). Range, unit and better end: those of the score, of which higher is better. Edges: nan counts only
    where no reference of the row has a score. Raises InputError when the numbers do not go together.

    Source: Zhang et al. 2020 (BERTScore), section 4, and bert_score 0.3.13, which takes the maximum of precision, of
    recall and of F1 separately: they may come from different references.

    >>> greatest_scores([0.4, 0.7, np.nan], [2, 1]).tolist()
    [0.7, nan]
    """
    values, starts = _of_rows(scores, n_references)
    return np.fmax.reduceat(values, starts) if len(starts) else np.empty(0)


def best_references(scores: ArrayLike, n_references: ArrayLike) -> NDArray[np.int64]:
    """Which alignment of each row has the greatest score: its place among all alignments, int64 (n_rows,).

    Parameters, errors: as in `greatest_scores`. Edges: the first of equals; nan is the worst, so that the
    reference that is shown has a score where one has. Source: ours.

    >>> best_references([0.4, 0.7, np.nan, 0.1], [2, 2]).tolist()
    [1, 3]
    """
    values, starts = _of_rows(scores, n_references)
    row = np.repeat(np.arange(len(starts)), np.asarray(n_references, dtype=np.int64))
    order: NDArray[np.int64] = np.lexsort((-np.where(np.isnan(values), -np.inf, values), row))  # keeps equals in order
    return order[starts]


def _of_rows(scores: ArrayLike, n_references: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    values, counts = np.asarray(scores, dtype=np.float64), np.asarray(n_references, dtype=np.int64)
    if values.shape != (int(counts.sum()),) or (counts < 1).any():
        raise InputError(
            Message(
                "{size} scores do not fit rows of {n} references, at least 1 each.",
                size=values.size,
                n=int(counts.sum()),
            )
        )
    return values, np.cumsum(counts) - counts
