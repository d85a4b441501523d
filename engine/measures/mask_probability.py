"""How probable is the masked word to a model, and how sure is the mean over many words?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.statistics.clustered_means import RESAMPLES, ClusteredMeans, clustered_means
from engine.messages.message import Message

Floats = NDArray[np.float64]


def word_probability(log_likelihoods: ArrayLike) -> float:
    """What is the probability of a word at the mask, given that of each of its pieces?

        p = Π_j P(piece_j | sentence, pieces 1 to j − 1; the later ones masked) = exp(Σ_j log P(piece_j | …))

    Parameters
    ----------
    log_likelihoods : (n_pieces,), in nats, each 0 or less.

    Range [0, 1], no unit, higher is better. A word of one piece has that piece's probability. The product is no
    larger than any of its factors, so words of many pieces have small probabilities: compare models over the same words
    and see how many pieces each cuts them into.

    Edges: −∞ among them gives 0. Raises InputError for no piece (an empty product would be 1, the best there is),
    NaN, or a number above 0.

    Source: Shibayama et al. 2020, section 3.2, for one piece; several by the chain rule, from left to right, are ours.

    >>> round(word_probability([np.log(0.5), np.log(0.2)]), 12)
    0.1
    """
    values = np.asarray(log_likelihoods, dtype=np.float64)
    if not values.size:
        raise InputError(Message("A word has at least one piece; got none."))
    if not (values <= 0).all():
        raise InputError(Message("Log-likelihoods are 0 or less; got {max}.", max=values.max()))
    return float(np.exp(values.sum()))


def mean_probabilities(
    probabilities: ArrayLike, words: Sequence[str], domains: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0
) -> ClusteredMeans:
    """How probable are the masked words to each model on average, and between which numbers does that mean lie?

        mean_m = Σ_i p_mi / n

    The interval is that of `clustered_means` over the words of each domain, within [0, 1]: words and not sentences are
    drawn because the sentences of one word are no independent witnesses.

    Parameters
    ----------
    probabilities : (n_models, n), in [0, 1].
    words, domains : (n,), the word and the domain of each sentence.
    resamples : how many, at least 1. seed : of the draw.

    Range [0, 1], no unit, higher is better.

    Edges: no interval (NaN) of fewer than 5 words, the same word in two domains counted twice, and where all words
    have one mean.

    Raises InputError for no sentence, probabilities that are none, or lengths that differ.

    Source: Shibayama et al. 2020, section 3.2, step 3, for the mean.

    >>> means = mean_probabilities([[0.2, 0.4, 0.6, 0.4, 0.1, 0.7]], list("海海山川空森"), [""] * 6)
    >>> round(float(means.mean[0]), 3), means.n_clusters, bool(means.low[0] < 0.4 < means.high[0])
    (0.4, 5, True)
    """
    values, *layout = _laid_out(probabilities, words, domains)
    means = clustered_means(values, *layout, resamples=resamples, seed=seed)
    return replace(means, low=np.maximum(means.low, 0.0), high=np.minimum(means.high, 1.0))


def probability_differences(probabilities: ArrayLike, words: Sequence[str], domains: Sequence[str]) -> ClusteredMeans:
    """By how much do the means of two models differ over the same sentences, for each two models?

        difference_ij = mean_i − mean_j, i < j, in the order of itertools.combinations; (n_models (n_models − 1) / 2,)

    Parameters and errors: those of `mean_probabilities`. Range [-1, 1].

    Edges: no interval of fewer than 5 words, nor of two models of which one is above the other by the same everywhere
    (but for 1e-7 of the largest probability).

    Source: ours; the interval is that of `clustered_means` by t, over the differences.
    """
    values, *layout = _laid_out(probabilities, words, domains)
    differences = np.array([values[i] - values[j] for i, j in combinations(range(len(values)), 2)])
    found = clustered_means(differences.reshape(-1, values.shape[1]), *layout, by_t=True, rounding=1e-7 * values.max())
    return replace(found, low=np.maximum(found.low, -1.0), high=np.minimum(found.high, 1.0))


def _laid_out(
    probabilities: ArrayLike, words: Sequence[str], domains: Sequence[str]
) -> tuple[Floats, list[int], list[int]]:
    """The probabilities, (n_models, n), and the numbers of the word and of the domain of each sentence, (n,)."""
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(words) or len(words) != len(domains) or not len(words):
        raise InputError(
            Message(
                "Probabilities of shape {shape} do not fit {words} words with {domains} domains, one "
                "of each for every sentence.",
                shape=values.shape,
                words=len(words),
                domains=len(domains),
            )
        )
    if not ((values >= 0) & (values <= 1)).all():
        raise InputError(Message("Probabilities lie between 0 and 1."))
    pairs = list(zip(domains, words, strict=True))
    codes = {pair: code for code, pair in enumerate(sorted(set(pairs)))}  # by name: the order of the rows is no matter
    code_of = {domain: code for code, domain in enumerate(sorted(set(domains)))}
    return values, [codes[pair] for pair in pairs], [code_of[domain] for domain in domains]
