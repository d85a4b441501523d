"""How probable is running text to a language model: perplexity, bits per character and bits per byte.

A corpus has the ratio of its sums, never the mean of the ratios of its documents: each token, character or byte counts
as much as any other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.measures.statistics.clustered_means import ClusteredMeans, ratios_of_sums

LN_2 = math.log(2)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Extent:
    """The characters and the bytes in UTF-8 of a text that were scored."""

    n_characters: int
    n_bytes: int


def scored_extent(text: str, scored_spans: ArrayLike, unscored_spans: ArrayLike) -> Extent:
    """How much of a text do its scored tokens account for?

    All of it, white space included, but the characters of tokens that were not scored and no scored token has a part
    of: the first token where nothing stands before it.

    Parameters
    ----------
    scored_spans, unscored_spans : int (n, 2), the characters of each token, from and to before.

    >>> scored_extent("猫が 寝た", [[1, 2], [3, 5]], [[0, 1]])
    Extent(n_characters=4, n_bytes=10)
    """
    left_out = np.zeros(len(text), dtype=bool)
    for spans, is_out in ((unscored_spans, True), (scored_spans, False)):
        if is_out or left_out.any():
            for begin, end in np.asarray(spans, dtype=np.int64).reshape(-1, 2).tolist():
                left_out[max(begin, 0) : max(end, 0)] = is_out
    kept = text if not left_out.any() else "".join(c for c, out in zip(text, left_out, strict=True) if not out)
    return Extent(len(kept), len(kept.encode("utf-8", "surrogatepass")))


def perplexity(log_likelihood: ArrayLike, n_tokens: ArrayLike) -> Floats:
    """Between how many equally probable tokens would the model have had to choose, on average?

        PPL = exp(−log P / N)

    Parameters
    ----------
    log_likelihood : sums over the scored tokens, in nats. n_tokens : N, their number.

    Range: [1, ∞), no unit, lower is better. Of models with one tokenizer only: the same text has other tokens under
    another one, and N with them. Edges: without tokens it is nan; beyond what float64 holds it is inf.

    Source: Jelinek, Mercer, Bahl, Baker 1977 (JASA 62, S63). Of a masked model the pseudo-perplexity of Salazar et al.
    2020, section 2.3.

    >>> perplexity(-2 * math.log(10), 2).round(9).item()
    10.0
    """
    with np.errstate(over="ignore"):
        values: Floats = np.exp(-_ratio(log_likelihood, n_tokens))
    return values


def bits_per(log_likelihood: ArrayLike, n: ArrayLike) -> Floats:
    """How many bits does the model need for each byte, or each character, of the text?

        BPB = −log₂ P / bytes,    BPC = −log₂ P / characters

    Parameters
    ----------
    log_likelihood : sums over the scored tokens, in nats. n : bytes, or characters, that they account for.

    Range: [0, ∞), lower is better; the same unit under every tokenizer. Edges: without any byte it is nan.

    Source: bits per character: Shannon 1951; bits per byte, for tokenizers of bytes and of words alike: Gao et al. 2020
    (The Pile), section 3.1.

    >>> bits_per(-8 * LN_2, 4).item()
    2.0
    """
    return -_ratio(log_likelihood, n) / LN_2


def _ratio(sums: ArrayLike, counts: ArrayLike) -> Floats:
    numerator, denominator = np.asarray(sums, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    ratio: Floats = np.full(np.shape(numerator), np.nan)
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    return ratio


def corpus_ratios(log_likelihoods: ArrayLike, counts: ArrayLike, seed: int = 0) -> ClusteredMeans:
    """−Σ log P / Σ n over documents in nats, with its 95% interval over documents: a `ClusteredMeans` of one column.

    Parameters
    ----------
    log_likelihoods : (n_documents,) in nats. counts : (n_documents,) tokens, characters or bytes, each above 0.
    seed : of the draw.

    Edges: fewer than five documents have no interval.
    """
    return ratios_of_sums(-np.asarray(log_likelihoods, dtype=np.float64)[None], counts, seed=seed)


def ratio_difference(
    first: ArrayLike, first_counts: ArrayLike, second: ArrayLike, second_counts: ArrayLike
) -> ClusteredMeans:
    """Does one model need fewer bits for a byte than another over the same documents, or by the luck of these?

        difference = Σ x_g / Σ b_g − Σ y_g / Σ c_g
        d_g = (x_g − X b_g) / b̄ − (y_g − Y c_g) / c̄,    X and Y the two ratios
        interval = difference ± t s,    s² = Σ d_g² / (G (G − 1)),    t of G − 1 degrees of freedom

    Parameters
    ----------
    first, second : (n_documents,) bits of each document under either model. first_counts, second_counts :
        (n_documents,) bytes, above 0; nearly always the same.

    Returns a `ClusteredMeans` of one column, with the p-value of no difference. Range: below 0 the first model is
    better. Edges: fewer than five documents have neither interval nor p-value, and so has a difference that is the same
    in all of them.

    Source: the variance of a ratio of sums by its linear part (Cochran 1977, Sampling Techniques, section 6.4), paired;
    with the same bytes on both sides `clustered_means` of the paired differences, by t.

    >>> found = ratio_difference([1, 2, 3, 4, 5], [1] * 5, [2, 4, 3, 6, 5], [1] * 5)
    >>> found.mean.item(), round(found.p_value.item(), 3)
    (-1.0, 0.089)
    """
    sides = [
        (np.asarray(bits, dtype=np.float64), np.asarray(counts, dtype=np.float64))
        for bits, counts in ((first, first_counts), (second, second_counts))
    ]
    ratios = [float(bits.sum() / counts.sum()) for bits, counts in sides]
    moved = [(bits - ratio * counts) / counts.mean() for (bits, counts), ratio in zip(sides, ratios, strict=True)]
    return ratios_of_sums((moved[0] - moved[1] + ratios[0] - ratios[1])[None], np.ones(len(moved[0])), by_t=True)
