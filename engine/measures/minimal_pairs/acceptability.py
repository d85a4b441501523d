"""Which of two sentences does a model prefer? Log-likelihoods, normalised by length or not."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError

# Normalization -> key of its measure card, which says its unit.
CARD_KEYS = {
    "LP": "log_likelihood", "MeanLP": "mean_log_likelihood", "PenLP": "penalized_log_likelihood", "SLOR": "slor",
    "per character": "log_likelihood_per_character", "SLLN-LP": "sub_linear_log_likelihood",
    "bits per byte": "log_likelihood_per_byte", "MORCELA": "morcela", "WordLP": "word_log_likelihood",
    "MeanWordLP": "mean_word_log_likelihood",
}
# Those that take unigrams off.
WITH_UNIGRAMS = ("SLOR", "MORCELA")
# Those that add what the boundaries of words do.
BY_WORDS = ("WordLP", "MeanWordLP")
NORMALIZATIONS = tuple(CARD_KEYS)
ALPHA = 0.8
# Of SLLN-LP: the length counts by its square root.
SUB_LINEAR_EXPONENT = 0.5
# The values of PenLP's alpha that are shown.
ALPHAS = (0.0, 2.0)


def normalized(log_likelihoods: ArrayLike, n_tokens: ArrayLike, normalization: str, *, alpha: float = ALPHA,
               n_characters: ArrayLike | None = None, n_bytes: ArrayLike | None = None,
               unigrams: ArrayLike | None = None, beta: ArrayLike | None = None, gamma: ArrayLike | None = None,
               boundaries: ArrayLike | None = None, n_words: ArrayLike | None = None) -> NDArray[np.float64]:
    """How acceptable does the model find each sentence, its length set aside or not?

        LP             log P(S)                              the sum over the scored tokens
        MeanLP         log P(S) / |S|
        PenLP          log P(S) / ((5 + |S|) / (5 + 1))^alpha
        SLOR           (log P(S) - log P_u(S)) / |S|         P_u: the product of the tokens' unigram probabilities
        per character  log P(S) / number of characters
        SLLN-LP        log P(S) / |S|^0.5                    sub-linear length normalisation
        bits per byte  log2 P(S) / number of bytes in UTF-8  the negative of what is called bits per byte elsewhere
        MORCELA        (log P(S) - β · log P_u(S) + γ) / |S| SLOR with fitted coefficients (`fitted_adjustment`)
        WordLP         log P(S) + log Z_end - log Z_start    the sum over words, not tokens (`word_boundaries`)
        MeanWordLP     WordLP / number of words

    Parameters
    ----------
    log_likelihoods : (n_sentences,), sums in nats; pseudo-log-likelihoods for masked models.
    n_tokens : (n_sentences,), |S|, the number of scored tokens.
    normalization : one of NORMALIZATIONS.
    alpha : for PenLP, 0 (then it is LP) or more.
    n_characters : (n_sentences,), for "per character" only. This score and the next are comparable between
        tokenizers, and "bits per byte" between scripts, too: a Japanese character is three bytes.
    n_bytes : (n_sentences,), for "bits per byte" only.
    unigrams : (n_sentences,), for SLOR and MORCELA only: log P_u(S), the unigram log-probabilities of the same scored
        tokens summed, in nats (`IdfDictionary.unigram_log_probability`).
    beta, gamma : one number each or (n_sentences,), for MORCELA only.
    boundaries : (n_sentences,), for WordLP and MeanWordLP only: what the boundaries of words add, in nats
        (`word_boundaries.boundary_terms`, summed). 0 is LP.
    n_words : (n_sentences,), for MeanWordLP only.

    Range: (-inf, 0], higher is better; SLOR and MORCELA (-inf, inf): above 0 the model finds the tokens likelier in
    their places than anywhere. The unit differs by design, one per normalization: nats, nats per token,
    nats per (scaled length)^alpha, nats per token, nats per character, nats per
    square root of a token, bits per byte, nats per token, nats, nats per word; a score is compared within one only.

    Edges: no scored token, no character, no byte, or no word: nan (a sum over nothing would be 0, the best score there
    is). A nan stays nan; -inf stays -inf.

    Raises InputError for an unknown normalization, a negative length or alpha, arrays of different
    lengths, "per character" without n_characters, "bits per byte" without n_bytes, SLOR without unigrams, and
    MORCELA without unigrams or coefficients; WordLP without boundaries, and MeanWordLP without them or words.

    Source: Ueda, Mita, Komachi 2024, section 3.2, equations 4 and 5. Equation 5 is printed without the
    outer bracket; as in the works it cites, the exponent holds the whole fraction. SLOR: Pauls and Klein
    2012; Lau, Clark, Lappin 2017 (Cognitive Science 41), section 3. SLLN-LP: Liu et al. 2026 (A Systematic Assessment
    of Language Models with Linguistic Minimal Pairs in Chinese, TACL 14; arXiv 2411.06096), with the exponent of its
    code. Bits per byte: Gao et al. 2020 (The Pile), section 3.1, with the sign turned so that higher is better.
    MORCELA: Tjuatja, Neubig, Linzen, Hao 2025 (NAACL), section 3. WordLP: Pimentel and Meister 2024 (EMNLP; arXiv
    2406.14561), for tokenizers that mark the beginnings of words.

    >>> normalized([-12.0, -12.0], [1, 7], "PenLP", alpha=1.0).tolist()
    [-12.0, -6.0]
    >>> normalized([-12.0], [4], "SLOR", unigrams=[-20.0]).tolist()
    [2.0]
    """
    sums, lengths = np.asarray(log_likelihoods, dtype=np.float64), np.asarray(n_tokens, dtype=np.float64)
    if normalization not in NORMALIZATIONS:
        raise InputError(f"Unknown normalization '{normalization}'; there are {', '.join(NORMALIZATIONS)}.")
    if not alpha >= 0:
        raise InputError(f"alpha must be 0 or more; got {alpha}.")
    characters, size, words = (None if counts is None else np.asarray(counts, dtype=np.float64)
                               for counts in (n_characters, n_bytes, n_words))
    if normalization == "per character" and characters is None:
        raise InputError("Log-likelihood per character needs the number of characters of each sentence.")
    if normalization == "bits per byte" and size is None:
        raise InputError("Bits per byte need the number of bytes of each sentence.")
    expected = None if unigrams is None else np.asarray(unigrams, dtype=np.float64)
    if normalization in WITH_UNIGRAMS:
        if expected is None:
            raise InputError(f"{normalization} needs the unigram log-probability of each sentence: choose a corpus to "
                             "count in.")
        if expected.shape != sums.shape:
            raise InputError(f"Each log-likelihood needs one unigram sum; got {sums.size} and {expected.size}.")
        sums = sums - expected if normalization == "SLOR" else _adjusted(sums, expected, beta, gamma)
    if normalization in BY_WORDS:
        sums = _of_words(sums, boundaries)
        if normalization == "MeanWordLP" and words is None:
            raise InputError("MeanWordLP needs the number of words of each sentence.")
    for counts in (lengths, characters, size, words):
        if counts is not None and counts.shape != sums.shape:
            raise InputError(f"Each log-likelihood needs one length; got {sums.size} and {counts.size}.")
        if counts is not None and (counts < 0).any():
            raise InputError("A sentence cannot have a negative length.")
    if normalization in ("MeanLP", *WITH_UNIGRAMS):
        divisor = lengths
    elif normalization == "PenLP":
        divisor = ((5 + lengths) / (5 + 1)) ** alpha
    elif normalization == "per character" and characters is not None:
        divisor = characters
    elif normalization == "SLLN-LP":
        divisor = lengths**SUB_LINEAR_EXPONENT
    elif normalization == "bits per byte" and size is not None:
        divisor = size * np.log(2)
    elif normalization == "MeanWordLP" and words is not None:
        divisor = words
    else:
        divisor = np.ones_like(sums)
    undefined = (lengths == 0) | (divisor == 0)
    return np.where(undefined, np.nan, sums / np.where(undefined, 1.0, divisor))


def n_bytes(text: str) -> int:
    """Length of a text in UTF-8; a lone surrogate, which has no UTF-8 form, counts as three bytes.

    >>> n_bytes("a猫")
    4
    """
    return len(text.encode("utf-8", "surrogatepass"))


def _of_words(sums: NDArray[np.float64], boundaries: ArrayLike | None) -> NDArray[np.float64]:
    if boundaries is None:
        raise InputError("The log-likelihood of words needs what their boundaries add: score with word boundaries.")
    added = np.asarray(boundaries, dtype=np.float64)
    if added.shape != sums.shape:
        raise InputError(f"Each log-likelihood needs one sum of boundaries; got {sums.size} and {added.size}.")
    return sums + added


def _adjusted(sums: NDArray[np.float64], unigrams: NDArray[np.float64], beta: ArrayLike | None,
              gamma: ArrayLike | None) -> NDArray[np.float64]:
    if beta is None or gamma is None:
        raise InputError("MORCELA needs coefficients that are fitted to human judgements of the sentences.")
    of_frequency, of_length = np.asarray(beta, dtype=np.float64), np.asarray(gamma, dtype=np.float64)
    if not all(coefficient.shape in ((), sums.shape) for coefficient in (of_frequency, of_length)):
        raise InputError(f"Each sentence needs one beta and one gamma; got {sums.size}, {of_frequency.size} and "
                         f"{of_length.size}.")
    return sums - of_frequency * unigrams + of_length


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
