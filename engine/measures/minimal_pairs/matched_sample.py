"""A sample of pairs in which neither sentence is the longer one more often: every A>U has its A<U of the same size."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message


class MatchedSpread(NamedTuple):
    """The accuracy over all matched samples: its mean and its standard deviation from one sample to the next."""

    mean: float
    deviation: float


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
        raise InputError(
            Message("Each pair has two token counts; got {size} and {other_size}.", size=a.size, other_size=u.size)
        )
    difference = a - u
    random = np.random.default_rng(seed)
    kept = [np.flatnonzero(difference == 0)]
    for size in np.unique(np.abs(difference[difference != 0])):
        sides = [np.flatnonzero(difference == sign * size) for sign in (1, -1)]
        n = min(map(len, sides))
        kept += [random.choice(side, n, replace=False) for side in sides if n]
    return np.sort(np.concatenate(kept))


def matched_spread(
    a_tokens: ArrayLike, u_tokens: ArrayLike, correct: ArrayLike, inside: ArrayLike | None = None
) -> MatchedSpread:
    """How far does the accuracy in a matched sample depend on which of the equally good samples was drawn?

        mean = E[right] / E[n],    deviation = √(Σ k (1 - k / m) S²) / E[n]

    The sum is over the sides of every |d|, of which k of m pairs are drawn without replacement (hypergeometric): S² is
    the variance (divided by m - 1) of right - mean · counted over these m pairs, 1 or 0 each. The smaller side is taken
    whole, k = m, and adds nothing.

    Parameters
    ----------
    a_tokens, u_tokens : (n_pairs,), as in `matched_sample`.
    correct : bool (n_pairs,), whether the model is right.
    inside : bool (n_pairs,), the pairs that count, such as those of a category; None: all. Pairs are drawn whatever
        they are.

    Range: the mean in [0, 1], the deviation in [0, 0.5], no unit; 0 where no side has pairs to choose from. It is the
    spread over seeds alone; the interval of an accuracy says what another set of pairs would do.

    With all pairs counted both are exact, because n is then the same in every sample. In a category n varies with the
    sample: mean and deviation are there those of a ratio estimator, to the first order in 1 / n.

    Edges: no pair that could be in the sample and counts: nan, nan.

    Raises InputError when the columns differ in number.

    Source: sampling without replacement, in strata, and ratio estimators: Cochran 1977, chapters 2, 5 and 6.

    >>> spread = matched_spread([3, 5, 4, 3, 9], [3, 4, 5, 4, 3], [True, True, True, False, True])
    >>> round(spread.mean, 4), round(spread.deviation, 4)  # 3 of 3 or 2 of 3, one as probable as the other
    (0.8333, 0.1667)
    """
    a, u = np.asarray(a_tokens, dtype=np.int64), np.asarray(u_tokens, dtype=np.int64)
    counted = np.ones(a.shape) if inside is None else np.asarray(inside, dtype=np.float64)
    right = np.asarray(correct, dtype=np.float64)
    if not a.shape == u.shape == right.shape == counted.shape:
        raise InputError(
            Message(
                "Each pair has two token counts and a decision; got {size}, {other_size} and {third_size}.",
                size=a.size,
                other_size=u.size,
                third_size=right.size,
            )
        )
    right = right * counted
    values, side = np.unique(a - u, return_inverse=True)
    n_pairs = np.bincount(side, minlength=len(values))  # (n_sides,)
    n_drawn = np.array(
        [
            size if value == 0 else min(size, n_pairs[values == -value].sum())
            for value, size in zip(values.tolist(), n_pairs.tolist(), strict=True)
        ],
        dtype=np.int64,
    )
    drawn = (n_drawn / n_pairs)[side]  # (n_pairs,) how probable each is
    expected_n = float(drawn @ counted)
    if not expected_n:
        return MatchedSpread(np.nan, np.nan)
    mean = float(drawn @ right) / expected_n
    residual = right - mean * counted
    centred = residual - (np.bincount(side, residual, len(values)) / n_pairs)[side]
    variances = np.bincount(side, np.square(centred), len(values)) / np.maximum(n_pairs - 1, 1)
    return MatchedSpread(mean, float(np.sqrt((n_drawn * (1 - n_drawn / n_pairs) * variances).sum())) / expected_n)
