"""How well does a score tell two groups apart?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from engine.errors import InputError


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
        raise InputError(f"Each score needs one flag; got {values.size} scores and {flags.size} flags.")
    if np.isnan(values).any():
        raise InputError(f"{int(np.isnan(values).sum())} of {values.size} scores are not numbers.")
    n_positive, n_negative = int(flags.sum()), int((~flags).sum())
    if not n_positive or not n_negative:
        return float("nan")
    ranks = rankdata(values)
    return float((ranks[flags].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))
