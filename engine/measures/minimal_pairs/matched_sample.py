"""A sample of pairs in which neither sentence is the longer one more often: every A>U has its A<U of the same size."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError


def matched_sample(a_tokens: ArrayLike, u_tokens: ArrayLike, seed: int = 0) -> NDArray[np.int64]:
    """Which pairs keep the lengths balanced, when the equal ones alone would be too few?

        all pairs of d = 0, and for each k = 1, 2, …: min(#{d = k}, #{d = -k}) pairs of either,    d = |A| - |U|

    Where a side has more than its share, as many as that are drawn at random.

    Parameters
    ----------
    a_tokens, u_tokens : (n_pairs,), |S| of the acceptable and the unacceptable sentence.
    seed : of the draw; the same seed draws the same pairs again.

    Returns positions (n_kept,), ascending. Mean and median of the kept differences are 0, so that a model that knew
    nothing but length would be right in half of the unequal pairs, whatever it makes of length.

    Edges: no pairs, or no difference with a counterpart: only the equal ones, which may be none.

    Raises InputError when the lengths differ in number.

    Source: ours, after the balancing by token length that Ueda, Mita, Komachi 2024, section 5, ask for; they keep
    the equal pairs alone.

    >>> matched_sample([3, 5, 4, 3, 9], [3, 4, 5, 4, 3]).tolist()  # d = 0, 1, -1, -1, 6: one of the two -1 is drawn
    [0, 1, 3]
    """
    a, u = np.asarray(a_tokens, dtype=np.int64), np.asarray(u_tokens, dtype=np.int64)
    if a.shape != u.shape:
        raise InputError(f"Each pair has two token counts; got {a.size} and {u.size}.")
    difference = a - u
    random = np.random.default_rng(seed)
    kept = [np.flatnonzero(difference == 0)]
    for size in np.unique(np.abs(difference[difference != 0])):
        sides = [np.flatnonzero(difference == sign * size) for sign in (1, -1)]
        n = min(map(len, sides))
        kept += [random.choice(side, n, replace=False) for side in sides if n]
    return np.sort(np.concatenate(kept))
