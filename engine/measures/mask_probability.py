"""How probable is the masked word to a model, and how sure is the mean over many words?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError

CONFIDENCE = 0.95
RESAMPLES = 1000
# Numbers that one block of resamples may hold: 32 MB.
_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class Means:
    """For each of n_models: the mean, its 95 % interval (NaN where undefined), and the means of all resamples.

    `resampled` float64 (n_models, resamples): column i of every model is drawn from the same words, so differences
    between rows are paired.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    resampled: NDArray[np.float64]


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
        raise InputError("A word has at least one piece; got none.")
    if not (values <= 0).all():
        raise InputError(f"Log-likelihoods are 0 or less; got {values.max()}.")
    return float(np.exp(values.sum()))


def mean_probabilities(
    probabilities: ArrayLike, words: Sequence[str], domains: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0
) -> Means:
    """How probable are the masked words to each model on average, and between which numbers does that mean lie?

        mean_m = Σ_i p_mi / n

    The interval is that of a bootstrap over words: in each resample every domain draws as many of its words as it has,
    with replacement, each with all its sentences; the interval lies between the 2.5 % and 97.5 % quantiles of the
    resampled means. Words and not sentences are drawn because the sentences of one word are no independent witnesses.

    Parameters
    ----------
    probabilities : (n_models, n), in [0, 1].
    words, domains : (n,), the word and the domain of each sentence.
    resamples : how many, at least 1. seed : of the draw.

    Range [0, 1], no unit, higher is better.

    Edges: the interval is NaN where no domain has two words, for then nothing can be drawn otherwise. With a single
    word in some domains it is narrower than it should be.

    Raises InputError for no sentence, probabilities that are none, or lengths that differ.

    Source: Shibayama et al. 2020, section 3.2, step 3, for the mean; the interval is ours (Efron 1979, over clusters).

    >>> means = mean_probabilities([[0.2, 0.4, 0.6]], ["海", "海", "山"], ["", "", ""])
    >>> [round(float(value), 3) for value in (means.mean[0], means.low[0], means.high[0])]
    [0.4, 0.3, 0.6]
    """
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(words) or len(words) != len(domains) or not len(words):
        raise InputError(f"Probabilities of shape {values.shape} do not fit {len(words)} words with {len(domains)} "
                         "domains, one of each for every sentence.")
    if not ((values >= 0) & (values <= 1)).all():
        raise InputError("Probabilities lie between 0 and 1.")
    numbers: dict[tuple[str, str], int] = {}
    group = np.array([numbers.setdefault(pair, len(numbers)) for pair in zip(domains, words, strict=True)])  # (n,)
    counts = np.bincount(group).astype(np.float64)  # (n_groups,)
    sums = np.stack([np.bincount(group, weights=row) for row in values])  # (n_models, n_groups)
    domain_of_group = np.array([domain for domain, _ in numbers])
    random = np.random.default_rng(seed)
    total, size = np.zeros((len(values), resamples)), np.zeros(resamples)
    may_vary = False
    for domain in dict.fromkeys(domains):
        of_domain = np.flatnonzero(domain_of_group == domain)
        may_vary |= len(of_domain) > 1
        block = max(1, _BLOCK_NUMBERS // (len(of_domain) * len(values)))
        for start in range(0, resamples, block):
            drawn = slice(start, min(start + block, resamples))
            chosen = random.choice(of_domain, size=(drawn.stop - drawn.start, len(of_domain)))  # (block, n_words)
            total[:, drawn] += sums[:, chosen].sum(axis=2)
            size[drawn] += counts[chosen].sum(axis=1)
    resampled = total / size
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=1) if may_vary else np.full((2, len(values)), np.nan)
    return Means(values.mean(axis=1), low, high, resampled)
