"""Is a decision safe from the error of its scores? Which pairs keep their winner, whatever their errors, under every
normalisation that may be chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError

# The values that PenLP's alpha may take.
ALPHAS = (0.0, 2.0)


def settled(log_likelihoods: ArrayLike, errors: ArrayLike, n_tokens: ArrayLike, n_characters: ArrayLike, *,
            unigrams: Sequence[ArrayLike] = (), alphas: tuple[float, float] = ALPHAS) -> NDArray[np.bool_]:
    """Does each pair keep its decision under LP, MeanLP, PenLP, SLOR and per character, wherever in their errors the
    two log-likelihoods lie?

        LP, MeanLP, PenLP, per character:  A wins where  r = log P(A) / log P(U) < t,
            t = 1,  |A| / |U|,  ((5 + |A|) / (5 + |U|))^alpha,  characters of A / characters of U
            settled where no t lies within [min r, max r] over both errors
        SLOR:  settled where |margin| > error of A / |A| + error of U / |U|

    Parameters
    ----------
    log_likelihoods : (2, n_pairs), sums in nats of the acceptable and the unacceptable sentences, 0 or less.
    errors : (2, n_pairs), 0 or more: by how much each may be off, in nats.
    n_tokens, n_characters : (2, n_pairs).
    unigrams : arrays (2, n_pairs), the unigram log-probabilities of each corpus that SLOR may take.
    alphas : the least and the greatest alpha of PenLP. Every alpha between them is asked: a pair whose winner
        changes with alpha has an alpha at which it ties, and is never settled unless its errors are 0.

    Returns bool (n_pairs,). Errors of 0 settle a pair, a tie too.

    Edges: an error or a score that is not finite settles nothing; no token or no character neither.

    Raises InputError for arrays of other shapes, a negative error or alphas in the wrong order.

    Source: ours; interval arithmetic on equations 1 to 5 of Ueda, Mita, Komachi 2024.

    >>> settled([[-10.0, -10.0], [-11.0, -11.0]], [[0.1, 0.6], [0.1, 0.6]], [[5, 5]] * 2, [[9, 9]] * 2).tolist()
    [True, False]
    """
    scores, off = np.asarray(log_likelihoods, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    tokens, characters = (np.asarray(counts, dtype=np.float64) for counts in (n_tokens, n_characters))
    sums = [np.asarray(one, dtype=np.float64) for one in unigrams]
    if scores.ndim != 2 or len(scores) != 2 or any(one.shape != scores.shape for one in (off, tokens, characters,
                                                                                        *sums)):
        raise InputError("Pairs need scores, errors and counts of shape (2, n_pairs) each.")
    if (off < 0).any() or not 0 <= alphas[0] <= alphas[1]:
        raise InputError("An error is 0 or more, and so is alpha, the least first.")
    sound = np.isfinite(scores).all(axis=0) & np.isfinite(off).all(axis=0) & (tokens > 0).all(axis=0)
    sound &= (characters > 0).all(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The better sentence has the smaller cost; the ratio grows with A's and falls with U's.
        lowest, highest = np.maximum(-scores - off, 0), -scores + off
        least, most = lowest[0] / highest[1], np.where(lowest[1] > 0, highest[0] / lowest[1], np.inf)
        powers = [((5 + tokens[0]) / (5 + tokens[1])) ** alpha for alpha in alphas]
        thresholds = [(one, one) for one in (np.ones_like(least), tokens[0] / tokens[1],
                                             characters[0] / characters[1])]
        thresholds.append((np.minimum(*powers), np.maximum(*powers)))
        safe = np.ones(scores.shape[1], dtype=bool)
        for low, high in thresholds:
            safe &= (high < least) | (low > most)
        for expected in sums:
            margin = np.diff((scores - expected) / tokens, axis=0)[0]
            safe &= np.abs(margin) > (off / tokens).sum(axis=0)
    return sound & (safe | (off == 0).all(axis=0))
