"""Which of two sentences does a model prefer? Log-likelihoods, normalised by length or not."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError

NORMALIZATIONS = ("LP", "MeanLP", "PenLP", "per character")
ALPHA = 0.8


def normalized(log_likelihoods: ArrayLike, n_tokens: ArrayLike, normalization: str, *, alpha: float = ALPHA,
               n_characters: ArrayLike | None = None) -> NDArray[np.float64]:
    """How acceptable does the model find each sentence, its length set aside or not?

        LP             log P(S)                              the sum over the scored tokens
        MeanLP         log P(S) / |S|
        PenLP          log P(S) / ((5 + |S|) / (5 + 1))^alpha
        per character  log P(S) / number of characters

    Parameters
    ----------
    log_likelihoods : (n_sentences,), sums in nats; pseudo-log-likelihoods for masked models.
    n_tokens : (n_sentences,), |S|, the number of scored tokens.
    normalization : one of NORMALIZATIONS.
    alpha : for PenLP, 0 (then it is LP) or more.
    n_characters : (n_sentences,), for "per character" only. It alone is comparable between tokenizers.

    Range: (-inf, 0], higher is better. The unit differs by design, one per normalization: nats, nats
    per token, nats per (scaled length)^alpha, nats per character; a score is compared within one only.

    Edges: no scored token, or no character: nan (a sum over nothing would be 0, the best score there
    is). A nan stays nan; -inf stays -inf.

    Raises InputError for an unknown normalization, a negative length or alpha, arrays of different
    lengths, and "per character" without n_characters.

    Source: Ueda, Mita, Komachi 2024, section 3.2, equations 4 and 5. Equation 5 is printed without the
    outer bracket; as in the works it cites, the exponent holds the whole fraction.

    >>> normalized([-12.0, -12.0], [1, 7], "PenLP", alpha=1.0).tolist()
    [-12.0, -6.0]
    """
    sums, lengths = np.asarray(log_likelihoods, dtype=np.float64), np.asarray(n_tokens, dtype=np.float64)
    if normalization not in NORMALIZATIONS:
        raise InputError(f"Unknown normalization '{normalization}'; there are {', '.join(NORMALIZATIONS)}.")
    if not alpha >= 0:
        raise InputError(f"alpha must be 0 or more; got {alpha}.")
    characters = None if n_characters is None else np.asarray(n_characters, dtype=np.float64)
    if normalization == "per character" and characters is None:
        raise InputError("Log-likelihood per character needs the number of characters of each sentence.")
    for counts in (lengths, characters):
        if counts is not None and counts.shape != sums.shape:
            raise InputError(f"Each log-likelihood needs one length; got {sums.size} and {counts.size}.")
        if counts is not None and (counts < 0).any():
            raise InputError("A sentence cannot have a negative length.")
    if normalization == "MeanLP":
        divisor = lengths
    elif normalization == "PenLP":
        divisor = ((5 + lengths) / (5 + 1)) ** alpha
    elif normalization == "per character" and characters is not None:
        divisor = characters
    else:
        divisor = np.ones_like(sums)
    undefined = (lengths == 0) | (divisor == 0)
    return np.where(undefined, np.nan, sums / np.where(undefined, 1.0, divisor))


def decisions(acceptable: ArrayLike, unacceptable: ArrayLike, identical: ArrayLike) -> NDArray[np.int8]:
    """Which sentence of each pair does the model prefer?

        1 the acceptable one (its score is higher),  0 neither: a tie,  -1 the unacceptable one

    Parameters
    ----------
    acceptable, unacceptable : (n_pairs,), scores of one normalization.
    identical : bool (n_pairs,), True where both sentences are the same tokens to the model (after its
        normalisation, or as [UNK]): a tie, whatever rounding made of the two scores.

    Range: {-1, 0, 1}, no unit, higher is better.

    Edges: equal scores are a tie, never a correct decision; two sentences of -inf tie too.

    Raises InputError when a score is nan (a sentence that was excluded has no place here) or the
    lengths differ.

    Source: Ueda, Mita, Komachi 2024, section 1: a pair is right when the acceptable sentence scores
    higher. The paper does not mention ties.

    >>> decisions([-1.0, -2.0, -3.0], [-2.0, -2.0, -1.0], [False, False, False]).tolist()
    [1, 0, -1]
    """
    a, u = np.asarray(acceptable, dtype=np.float64), np.asarray(unacceptable, dtype=np.float64)
    same = np.asarray(identical, dtype=bool)
    if not a.shape == u.shape == same.shape:
        raise InputError(f"Each pair needs two scores and a flag; got {a.size}, {u.size} and {same.size}.")
    n_undefined = int((np.isnan(a) | np.isnan(u)).sum())
    if n_undefined:
        raise InputError(f"{n_undefined} of {a.size} pairs have a sentence without a score; leave them out and say so.")
    right, wrong = (a > u) & ~same, (a < u) & ~same
    return right.astype(np.int8) - wrong.astype(np.int8)
