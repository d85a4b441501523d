"""BERTScore of many pairs at once: which token matches which, then precision, recall and F1.

The tokens of all pairs lie end to end: those of the first pair's reference, of its candidate, of the second pair's
reference, and so on. A **sentence** is a slice of them: sentence 2k is the reference of pair k, sentence 2k + 1 its
candidate, and `lengths` int64 (n_sentences,), n_sentences = 2 n_pairs, are their numbers of tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.checks import without_rounding_at_one
from engine.measures.similarity_blocks import Ints, Lines, along_both_sides, parts
from engine.messages.message import Message

NO_MATCH = -1
# By so much the product of two equal unit vectors of float32 may differ from 1 (seen: 1.2e-7).
ROUNDING = 5e-7

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BestMatches:
    """For every token the most similar token of the pair's other sentence, and how similar it is."""

    position: Ints  # (n_tokens,) within the other sentence; -1 where no token of it is eligible
    similarity: Floats  # (n_tokens,), nan there


@dataclass(frozen=True)
class PRF:
    """Precision, recall and their harmonic mean, each (n_pairs,)."""

    precision: Floats
    recall: Floats
    f1: Floats


def best_matches(
    similarity: ArrayLike, lengths: ArrayLike, special: ArrayLike, *, match_special: bool = True
) -> BestMatches:
    """Which token of the other sentence is each token closest to?

        match(i) = argmax_j similarity[i, j]        and along the other side for the candidate's tokens

    Parameters
    ----------
    similarity : float (n_cells,), cosine of each reference token with each candidate token: the matrices
        (n_reference, n_candidate) of all pairs, row-major, end to end. It is not written to.
    lengths : (n_sentences,), tokens of each sentence, see above.
    special : bool (n_tokens,): [CLS], [SEP], <s> and their like.
    match_special : may a token's best match be a special token of the other side? True is what
        bert_score does; with False those tokens are not eligible. Special tokens get a match of
        their own either way; their weight decides whether it counts.

    Range: similarities in [-1, 1], no unit, higher is better; a negative similarity is kept as it is.

    Edges: of equally similar tokens the first one wins. Where no token of the other side is eligible
    (an empty sentence, or only special tokens with match_special=False) the match is -1 and the
    similarity nan. A greatest similarity that differs from 1 or -1 by the rounding of float32 is 1 or -1: equal
    sentences have a score of 1 and tie, and no rank correlation depends on their last digits.

    Raises InputError when the shapes do not fit together or a similarity is not finite.

    Source: Zhang et al. 2020 (BERTScore), equation 1; "Maximum Similarity" in section 3 of the
    Japanese novel paper. Departures from bert_score: no clamping of negative similarities at 0 in
    padded batches, because nothing is padded here; so a pair's matches do not depend on the other pairs. And the rounding
    at 1, which bert_score keeps (its F1 of a sentence and itself is 0.9999999 or 1.0000001).

    >>> matches = best_matches([0.9, 0.1, 0.2, 0.3], [2, 2], [False] * 4)  # one pair
    >>> matches.position.tolist(), matches.similarity.tolist()
    ([0, 1, 0, 1], [0.9, 0.3, 0.9, 0.3])
    """
    values, counts, is_special = np.asarray(similarity), _counts(lengths), np.asarray(special, dtype=bool)
    n_rows, n_columns = counts[::2], counts[1::2]
    if values.shape != (int((n_rows * n_columns).sum()),) or is_special.shape != (int(counts.sum()),):
        raise InputError(
            Message(
                "{size} similarities and {other_size} special-token flags do not fit sentences of {n} "
                "tokens, whose pairs have {sum_} cells.",
                size=values.size,
                other_size=is_special.size,
                n=int(counts.sum()),
                sum_=int((n_rows * n_columns).sum()),
            )
        )
    if not np.isfinite(values).all():
        raise InputError(Message("A token similarity is not finite: a token vector without length has no direction."))
    of_reference = np.repeat(np.arange(len(counts)) % 2 == 0, counts)  # (n_tokens,)
    barred = is_special & (not match_special)
    barred_rows, barred_columns = barred[of_reference], barred[~of_reference]
    by_row, by_column = [], []
    for pairs, cells, rows, columns in parts(n_rows, n_columns):
        row_lines, column_lines, transposed = along_both_sides(n_rows[pairs], n_columns[pairs])
        by_row.append(_greatest(values[cells], row_lines, barred_columns[columns]))
        by_column.append(_greatest(values[cells][transposed], column_lines, barred_rows[rows]))
    position, greatest = np.empty(len(barred), dtype=np.int64), np.empty(len(barred))
    for side, results in ((of_reference, by_row), (~of_reference, by_column)):
        if results:
            position[side], greatest[side] = (np.concatenate(arrays) for arrays in zip(*results, strict=True))
    return BestMatches(position, without_rounding_at_one(greatest, ROUNDING))


def bertscore(matches: BestMatches, lengths: ArrayLike, weights: ArrayLike) -> PRF:
    """How much of each sentence is found again in the other?

        R = sum_i w_i * similarity_i / sum_i w_i        over the tokens i of the reference
        P = sum_j w_j * similarity_j / sum_j w_j        over the tokens j of the candidate
        F1 = 2 P R / (P + R)

    Parameters
    ----------
    matches : of the tokens of all pairs, from `best_matches`.
    lengths : (n_sentences,), tokens of each sentence, as there.
    weights : (n_tokens,), not negative: idf, or 1 for every token; 0 for those that do not count, as [CLS] and [SEP].

    Returns arrays (n_pairs,).

    Range: P and R in [-1, 1], F1 too for positive P and R; no unit, higher is better.

    Edges: where the weights of a sentence sum to 0 (it is empty, every token of it is in every document of the idf
    dictionary, or it has none but special tokens) its mean is 0/0, so nan, and F1 with it. Where P and R
    are 0, F1 is 0, as in bert_score; where they are opposite numbers, it is nan. A token of weight 0 without a match
    does not make the mean nan.

    Raises InputError for matches or weights of another number, and for weights that are negative or not finite.

    Source: Zhang et al. 2020 (BERTScore), equations 1 and 2, and `greedy_cos_idf` of bert_score
    0.3.13. Departure: bert_score sets the P and R of an empty sentence, to 0; and it takes every
    sentence of two tokens for an empty one, as [CLS] [SEP] is.

    >>> matches = best_matches([0.9, 0.1, 0.2, 0.3], [2, 2], [False] * 4)
    >>> score = bertscore(matches, [2, 2], [1.0, 1.0, 1.0, 2.0])
    >>> score.precision.round(3).tolist(), score.recall.round(3).tolist(), score.f1.round(3).tolist()
    ([0.5], [0.6], [0.545])
    """
    counts = _counts(lengths)
    weight = _weights(weights, int(counts.sum()))
    if matches.similarity.shape != weight.shape:
        raise InputError(
            Message(
                "The sentences have {size} tokens and {other_size} matches.",
                size=weight.size,
                other_size=matches.similarity.size,
            )
        )
    # A token of weight 0 adds nothing, so a similarity that it lacks must not spoil the sum.
    weighted = np.where(weight > 0, weight * matches.similarity, 0.0)
    means = divided(sentence_sums(weighted, counts), sentence_sums(weight, counts))  # (n_sentences,)
    recall, precision = means[::2], means[1::2]
    return PRF(precision, recall, harmonic_mean(precision, recall))


def weight_shares(lengths: ArrayLike, weights: ArrayLike) -> Floats:
    """Which share of its sentence's score does each token decide?

        w_i / sum of the weights of the tokens of its sentence

    Parameters: as in `bertscore`. Returns (n_tokens,). Range: [0, 1], no unit, neither end is better; the shares of a
    sentence add up to 1. Edges: nan where the weights of the sentence sum to 0. Raises as `bertscore`.
    Source: Zhang et al. 2020 (BERTScore), equation 2, whose factor of a similarity it is.

    >>> weight_shares([2, 1], [1.0, 3.0, 2.0]).tolist()
    [0.25, 0.75, 1.0]
    """
    counts = _counts(lengths)
    weight = _weights(weights, int(counts.sum()))
    return divided(weight, np.repeat(sentence_sums(weight, counts), counts))


def harmonic_mean(precision: ArrayLike, recall: ArrayLike) -> Floats:
    """F1 = 2 P R / (P + R), entry by entry; nan where either is nan.

    Where P and R are 0 nothing of either sentence is found in the other, and F1 is 0, what it tends to: a departure
    from the formula, which is 0/0 there. P = -R otherwise leaves it undefined: nan.

    >>> harmonic_mean([0.5, 0.0, 0.5], [1.0, 0.0, -0.5]).tolist()
    [0.6666666666666666, 0.0, nan]
    """
    p, r = np.asarray(precision, dtype=np.float64), np.asarray(recall, dtype=np.float64)
    total = p + r
    undefined = np.where((p == 0) & (r == 0), 0.0, np.nan)
    return np.divide(2 * p * r, total, out=undefined, where=total != 0)


def sentence_sums(values: NDArray[np.floating], lengths: Ints) -> Floats:
    """The sum over the tokens of each sentence, float64 (n_sentences,); 0 for an empty one.

    >>> sentence_sums(np.array([1.0, 2.0, 4.0]), np.array([2, 0, 1])).tolist()
    [3.0, 0.0, 4.0]
    """
    sums, filled = np.zeros(len(lengths)), lengths > 0
    if filled.any():
        sums[filled] = np.add.reduceat(values, (np.cumsum(lengths) - lengths)[filled])
    return sums


def divided(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient, nan where the denominator is 0: an undefined mean is not a number, never 0.

    >>> divided(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.25, nan]
    """
    return np.asarray(np.divide(numerator, denominator, out=np.full(len(numerator), np.nan), where=denominator > 0))


def _greatest(values: NDArray[np.floating], lines: Lines, barred: NDArray[np.bool_]) -> tuple[Ints, Floats]:
    """The first greatest eligible cell of each line, as its position in the line and its value, each (n_own,)."""
    position, greatest = np.full(len(lines.starts), NO_MATCH), np.full(len(lines.starts), -np.inf)
    if not len(values):
        return position, np.full(len(lines.starts), np.nan)
    if barred.any():
        values = np.where(barred[lines.other], -np.inf, values)
    filled = lines.lengths > 0
    greatest[filled] = np.maximum.reduceat(values, lines.starts[filled])
    cells = np.flatnonzero(values == greatest[lines.own])
    line = lines.own[cells]
    first = cells[np.r_[True, line[1:] != line[:-1]]]  # every line that has a cell has its greatest somewhere
    position[filled] = first - lines.starts[filled]
    none = np.isneginf(greatest)
    return np.where(none, NO_MATCH, position), np.where(none, np.nan, greatest)


def _counts(lengths: ArrayLike) -> Ints:
    counts = np.asarray(lengths, dtype=np.int64)
    if counts.ndim != 1 or len(counts) % 2 or (counts < 0).any():
        raise InputError(
            Message("Each pair has the lengths of two sentences, 0 or more; got {tolist}.", tolist=counts.tolist()[:10])
        )
    return counts


def _weights(weights: ArrayLike, n_tokens: int) -> Floats:
    weight = np.asarray(weights, dtype=np.float64)
    if weight.shape != (n_tokens,):
        raise InputError(
            Message("The sentences have {n_tokens} tokens and {size} weights.", n_tokens=n_tokens, size=weight.size)
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise InputError(Message("The weights of the tokens must be finite and not negative."))
    return weight
