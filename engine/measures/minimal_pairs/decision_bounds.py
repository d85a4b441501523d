"""Is a decision robust to the error of its scores? Pairs that keep their winner under given normalisations.

Every normalisation asks one thing of a pair: is log P(A) - ratio · log P(U) above 0, for a ratio that only the lengths
decide? The error of a sum over tokens grows with the square root of their number, so margins and errors are both
measured in nats per square root of the tokens: in that unit they can be compared, whatever the pair and the ratio.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.minimal_pairs.normalizations import ALPHA, BOUNDED, NORMALIZATIONS, Sentences
from engine.messages.message import Message, list_of


def standard_margin(log_likelihoods: ArrayLike, n_tokens: ArrayLike, ratio: ArrayLike) -> NDArray[np.float64]:
    """How far is each pair from a tie, in the unit in which its error is measured?

        (log P(A) - ratio · log P(U)) / sqrt(|A| + ratio² · |U|)

    Parameters
    ----------
    log_likelihoods : (2, n_pairs), sums in nats of the acceptable and the unacceptable sentences; less their unigrams'
        for SLOR. Two precisions' difference in their place gives the error of the margin.
    n_tokens : (2, n_pairs), above 0.  ratio : (n_pairs,), of `ratios`.

    Range: (-inf, inf) nats per square root of a token; the sign is the decision. A nan stays nan.

    Raises InputError for arrays of other shapes. Source: ours; the standard deviation of a sum of independent errors.

    >>> standard_margin([[-10.0], [-13.0]], [[4], [5]], [1.0]).tolist()  # 3 / sqrt(9)
    [1.0]
    """
    scores, tokens = _of_two(log_likelihoods), _of_two(n_tokens)
    factor = np.asarray(ratio, dtype=np.float64)
    if tokens.shape != scores.shape or factor.shape != scores.shape[1:]:
        raise InputError(Message("Pairs need scores and counts of shape (2, n_pairs), and a ratio each."))
    with np.errstate(invalid="ignore"):
        return np.asarray((scores[0] - factor * scores[1]) / np.sqrt(tokens[0] + factor**2 * tokens[1]))


def ratios(
    n_tokens: ArrayLike,
    n_characters: ArrayLike,
    n_bytes: ArrayLike,
    normalizations: Collection[str] = BOUNDED,
    alpha: float = ALPHA,
) -> dict[str, NDArray[np.float64]]:
    """What log P(U) is multiplied with under each of some normalisations, (n_pairs,) each.

        what log P(A) is divided by, by what log P(U) is (`Normalization.length`): 1 under LP, |A| / |U| under MeanLP

    Raises InputError for a count that is not above 0, an alpha that is negative and an unknown normalisation.

    >>> ratios([[7], [7]], [[9], [12]], [[9], [12]], ["per character"])["per character"].tolist()
    [0.75]
    """
    tokens, characters, size = _of_two(n_tokens), _of_two(n_characters), _of_two(n_bytes)
    if not ((tokens > 0).all() and (characters > 0).all() and (size > 0).all()):
        raise InputError(Message("A sentence has at least one token and one character."))
    if not alpha >= 0:
        raise InputError(Message("alpha is 0 or more; got {alpha}.", alpha=alpha))
    if unknown := set(normalizations) - set(BOUNDED):
        raise InputError(
            Message(
                "Unknown normalisation {unknown!r}; there are {BOUNDED}.",
                unknown=min(unknown),
                BOUNDED=list_of(BOUNDED),
            )
        )
    sides = [Sentences(np.zeros(tokens.shape[1]), tokens[side], characters[side], size[side]) for side in (0, 1)]
    lengths = {
        name: [NORMALIZATIONS[name].length(side, alpha) for side in sides] for name in BOUNDED if name in normalizations
    }
    return {name: acceptable / unacceptable for name, (acceptable, unacceptable) in lengths.items()}


def least_margins(
    log_likelihoods: ArrayLike,
    n_tokens: ArrayLike,
    n_characters: ArrayLike,
    n_bytes: ArrayLike,
    *,
    normalizations: Collection[str] = BOUNDED,
    alpha: float = ALPHA,
    unigrams: Sequence[ArrayLike] = (),
) -> NDArray[np.float64]:
    """How near does each pair come to a tie under any of some normalisations?

        min over normalisations, and under SLOR over corpora, of |standard_margin|

    No error of the margins below this number changes a winner.

    Parameters
    ----------
    log_likelihoods : (2, n_pairs), sums in nats.
    n_tokens, n_characters, n_bytes : (2, n_pairs).
    normalizations : one or more of BOUNDED.  alpha : of PenLP.
    unigrams : arrays (2, n_pairs), the unigram log-probabilities of each corpus that SLOR may take.

    Returns float64 (n_pairs,), [0, inf) nats per square root of a token. Edges: 0 for what is not finite, and where
    no normalisation is given that has numbers (SLOR without corpora), inf.

    Raises InputError as `ratios` and `standard_margin` do.

    Source: ours; equations 1 to 5 of Ueda, Mita, Komachi 2024 and SLOR.

    >>> sums, tokens, characters = [[-10.0, -10.0], [-11.0, -11.0]], [[5, 7], [5, 7]], [[9, 9], [9, 9]]
    >>> least_margins(sums, tokens, characters, characters).round(2).tolist()  # 1 / sqrt(10), 1 / sqrt(14)
    [0.32, 0.27]
    """
    scores, tokens = _of_two(log_likelihoods), _of_two(n_tokens)
    least = np.full(scores.shape[1], np.inf)
    for name, ratio in ratios(tokens, n_characters, n_bytes, normalizations, alpha).items():
        for corpus in unigrams if NORMALIZATIONS[name].by_unigrams else [np.zeros_like(scores)]:
            least = np.minimum(least, np.abs(standard_margin(scores - _of_two(corpus), tokens, ratio)))
    return np.where(np.isfinite(scores).all(axis=0), least, 0.0)


def largest_error(
    coarse: ArrayLike,
    fine: ArrayLike,
    n_tokens: ArrayLike,
    n_characters: ArrayLike,
    n_bytes: ArrayLike,
    normalizations: Collection[str] = BOUNDED,
    alpha: float = ALPHA,
) -> float:
    """By how much are the margins off at most, when the log-likelihoods are `coarse` instead of `fine`?

        max over pairs and ratios of |standard_margin(coarse - fine)|

    Parameters: (2, n_pairs) each; normalizations and alpha as in `ratios`. Range: [0, inf] nats per square root of a
    token; inf where a coarse score is not finite. No pairs: 0. Raises InputError as `ratios` and `standard_margin` do.
    Source: ours.

    >>> off, tokens, characters = [[-10.3], [-11.0]], [[4], [5]], [[9], [9]]
    >>> round(largest_error([[-10.0], [-11.0]], off, tokens, characters, characters, ["MeanLP"]), 3)  # 0.3 / 7.2^0.5
    0.112
    """
    with np.errstate(invalid="ignore"):  # two scores of -inf
        off = _of_two(coarse) - _of_two(fine)
    if not off.size:
        return 0.0
    errors = [
        np.abs(standard_margin(off, n_tokens, ratio))
        for ratio in ratios(n_tokens, n_characters, n_bytes, normalizations, alpha).values()
    ]
    return float(np.nan_to_num(np.array(errors), nan=np.inf).max())


def _of_two(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or len(array) != 2:
        raise InputError(Message("Pairs need arrays of shape (2, n_pairs); got {shape}.", shape=array.shape))
    return array
