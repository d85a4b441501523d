"""The ensemble of prompted predictions: which sentence of a pair most of them prefer."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message


def votes(acceptable: ArrayLike, unacceptable: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many predictions prefer the acceptable, and how many the unacceptable sentence of each pair? (n_pairs,) each

    Parameters
    ----------
    acceptable, unacceptable : (n_predictions, n_pairs), the score of each sentence in each prediction; scores of one
        prediction alone are compared, so that predictions may be on different scales.

    Range: whole numbers from 0 to n_predictions, no unit. The sentence with more of them is the ensemble's.

    Edges: a prediction whose two scores are equal is for neither sentence. So an odd number of predictions decides every
    pair unless one of them is a tie; an even number may be for each sentence alike, and the pair is then a tie, never a
    correct decision. No prediction at all: 0 for both.

    Raises InputError for a nan and for arrays of different shapes.

    Source: Ide et al. 2025 (NAACL), the ensemble: a majority vote of five predictions of in-template LP and Yes/No
    probability computing. Their code counts a prediction that is a tie as one for the unacceptable sentence.

    >>> votes([[-1.0, 0.2], [-3.0, 0.4], [-2.0, 0.1]], [[-2.0, 0.2], [-1.0, 0.5], [-4.0, 0.0]])
    (array([2., 1.]), array([1., 1.]))
    """
    first, second = np.asarray(acceptable, dtype=np.float64), np.asarray(unacceptable, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 2:
        raise InputError(
            Message(
                "Each prediction needs two scores of each pair; got {size} and {other_size}.",
                size=first.size,
                other_size=second.size,
            )
        )
    if np.isnan(first).any() or np.isnan(second).any():
        raise InputError(Message("A prediction of a pair has no score; leave the pair out and say so."))
    return (first > second).sum(axis=0).astype(np.float64), (first < second).sum(axis=0).astype(np.float64)
