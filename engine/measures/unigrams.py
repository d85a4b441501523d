"""Unigram probabilities of tokens from the counts of a corpus, for SLOR."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message


def unigram_log_probabilities(counts: ArrayLike, n_tokens: int, n_types: int) -> NDArray[np.float64]:
    """How probable is each token in a corpus, whatever stands before it?

        log P_u(t) = log((count(t) + 1) / (n_tokens + n_types + 1))

    One is added to every count, so that a token the corpus never shows is rare and not impossible; all unseen tokens
    together are one type more.

    Parameters
    ----------
    counts : (n,), how often each of n tokens occurs in the corpus, 0 for one that does not.
    n_tokens : tokens of the corpus in all.  n_types : different ones.

    Range: (-inf, 0] nats; neither end is better, it says how common a token is. The probabilities of all types and
    of one unseen token add up to 1.

    Raises InputError for negative numbers, and for a count above n_tokens.

    Edges: no tokens: an empty array.

    Source: Pauls and Klein 2012 (Large-Scale Syntactic Language Modeling with Treelets), the unigram term of SLOR; Lau,
    Clark, Lappin 2017, section 3, take P_u from the training corpus of the model and do not smooth, for there every
    token was seen. Add-one smoothing (Laplace) is ours, so that a token that the corpus lacks has a probability.

    >>> np.exp(unigram_log_probabilities([5, 0], n_tokens=7, n_types=2)).round(3).tolist()  # 6 / 10, 1 / 10
    [0.6, 0.1]
    """
    occurrences = np.asarray(counts, dtype=np.float64)
    if n_tokens < 0 or n_types < 0 or not ((occurrences >= 0) & (occurrences <= n_tokens)).all():
        raise InputError(Message("Counts lie between 0 and the number of tokens ({n_tokens}).", n_tokens=n_tokens))
    return np.log((occurrences + 1) / (n_tokens + n_types + 1))
