"""Is a decision robust to the error of its scores? Pairs that keep their winner under every normalisation.

Every normalisation asks one thing of a pair: is log P(A) - ratio · log P(U) above 0, for a ratio that only the lengths
decide? The error of a sum over tokens grows with the square root of their number, so margins and errors are both
measured in nats per square root of the tokens: in that unit they can be compared, whatever the pair and the ratio.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError

# The values that PenLP's alpha may take.
ALPHAS = (0.0, 2.0)


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
        raise InputError("Pairs need scores and counts of shape (2, n_pairs), and a ratio each.")
    with np.errstate(invalid="ignore"):
        return (scores[0] - factor * scores[1]) / np.sqrt(tokens[0] + factor**2 * tokens[1])


def ratios(n_tokens: ArrayLike, n_characters: ArrayLike, alphas: tuple[float, float] = ALPHAS
           ) -> dict[str, NDArray[np.float64]]:
    """What log P(U) is multiplied with under each normalisation, (n_pairs,) each; PenLP's at both ends of alpha.

        LP 1,  MeanLP and SLOR |A| / |U|,  PenLP ((5 + |A|) / (5 + |U|))^alpha,  per character their characters' ratio

    Raises InputError for a count that is not above 0, and alphas that are negative or in the wrong order.

    >>> {name: ratio.tolist() for name, ratio in ratios([[7], [7]], [[9], [12]]).items()}["per character"]
    [0.75]
    """
    tokens, characters = _of_two(n_tokens), _of_two(n_characters)
    if not ((tokens > 0).all() and (characters > 0).all()):
        raise InputError("A sentence has at least one token and one character.")
    if not 0 <= alphas[0] <= alphas[1]:
        raise InputError(f"alpha is 0 or more, the least first; got {alphas}.")
    penalty = (5 + tokens[0]) / (5 + tokens[1])
    return {"LP": np.ones_like(penalty), "MeanLP": tokens[0] / tokens[1],
            "per character": characters[0] / characters[1], "PenLP least": penalty ** alphas[0],
            "PenLP most": penalty ** alphas[1]}


def robust_decisions(log_likelihoods: ArrayLike, bound: float, n_tokens: ArrayLike, n_characters: ArrayLike, *,
                     unigrams: Sequence[ArrayLike] = (), alphas: tuple[float, float] = ALPHAS) -> NDArray[np.bool_]:
    """Does each pair keep its winner under every normalisation, if its margin may be off by `bound`?

    The normalisations are LP, MeanLP, PenLP, SLOR and the log-likelihood per character.

    Robust where |standard_margin| > bound under every ratio and every corpus of unigrams, and, for PenLP, the winner
    is the same at both ends of alpha: as the margin is linear in the ratio, it then is the same between them.

    Parameters
    ----------
    log_likelihoods : (2, n_pairs), sums in nats.
    bound : 0 or more, nats per square root of a token: the most that a standard margin may be off.
    n_tokens, n_characters : (2, n_pairs).
    unigrams : arrays (2, n_pairs), the unigram log-probabilities of each corpus that SLOR may take.
    alphas : the least and the greatest alpha of PenLP. A pair whose winner changes between them ties at some alpha, so
        it is robust to no error.

    Returns bool (n_pairs,). Edges: what is not finite is not robust; a tie neither, even at bound 0.

    Raises InputError as `ratios` and `standard_margin` do, and for a negative bound.

    Source: ours; equations 1 to 5 of Ueda, Mita, Komachi 2024 and SLOR.

    >>> sums, tokens, characters = [[-10.0, -10.0], [-11.0, -11.0]], [[5, 7], [5, 7]], [[9, 9], [9, 9]]
    >>> robust_decisions(sums, 0.3, tokens, characters).tolist()  # margins of 0.32 and 0.27
    [True, False]
    """
    if not bound >= 0:
        raise InputError(f"An error is 0 or more; got {bound}.")
    scores, tokens = _of_two(log_likelihoods), _of_two(n_tokens)
    by_name = ratios(tokens, n_characters, alphas)
    margins = {name: standard_margin(scores, tokens, ratio) for name, ratio in by_name.items()}
    corpora = [standard_margin(scores - _of_two(corpus), tokens, by_name["MeanLP"]) for corpus in unigrams]
    far = np.all([np.abs(margin) > bound for margin in [*margins.values(), *corpora]], axis=0)
    # Between the ends the margin in nats lies between its values there, and the unit grows to the larger ratio's.
    ends = [by_name[f"PenLP {end}"] for end in ("least", "most")]
    with np.errstate(invalid="ignore"):
        nats = [np.abs(scores[0] - ratio * scores[1]) for ratio in ends]
    unit = np.sqrt(tokens[0] + np.maximum(*ends) ** 2 * tokens[1])
    far &= (np.minimum(*nats) > bound * unit) & (margins["PenLP least"] * margins["PenLP most"] > 0)
    return far & np.isfinite(scores).all(axis=0)


def largest_error(coarse: ArrayLike, fine: ArrayLike, n_tokens: ArrayLike, n_characters: ArrayLike,
                  alphas: tuple[float, float] = ALPHAS) -> float:
    """By how much are the margins off at most, when the log-likelihoods are `coarse` instead of `fine`?

        max over pairs and ratios of |standard_margin(coarse - fine)|

    Parameters: (2, n_pairs) each; alphas as in `robust_decisions`. Range: [0, inf] nats per square root of a token;
    inf where a coarse score is not finite. No pairs: 0. Raises InputError as `ratios` and `standard_margin` do.
    Source: ours.

    >>> round(largest_error([[-10.0], [-11.0]], [[-10.3], [-11.0]], [[4], [5]], [[9], [9]]), 3)  # 0.3 / sqrt(7.2)
    0.112
    """
    with np.errstate(invalid="ignore"):  # two scores of -inf
        off = _of_two(coarse) - _of_two(fine)
    if not off.size:
        return 0.0
    errors = [np.abs(standard_margin(off, n_tokens, ratio))
              for ratio in ratios(n_tokens, n_characters, alphas).values()]
    return float(np.nan_to_num(np.array(errors), nan=np.inf).max())


def _of_two(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or len(array) != 2:
        raise InputError(f"Pairs need arrays of shape (2, n_pairs); got {array.shape}.")
    return array
