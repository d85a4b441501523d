"""BERTScore from a similarity matrix: which token matches which, then precision, recall and F1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError

NO_MATCH = -1


@dataclass(frozen=True)
class BestMatches:
    """For every token the most similar token of the other side (its position), and how similar it is."""

    reference_match: NDArray[np.int64]  # (n_ref,) positions among the candidate's tokens
    reference_similarity: NDArray[np.float64]  # (n_ref,)
    candidate_match: NDArray[np.int64]  # (n_cand,) positions among the reference's tokens
    candidate_similarity: NDArray[np.float64]  # (n_cand,)


@dataclass(frozen=True)
class PRF:
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def best_matches(similarity: ArrayLike, reference_special: ArrayLike, candidate_special: ArrayLike, *,
                 match_special: bool = True) -> BestMatches:
    """Which token of the other sentence is each token closest to?

        match(i) = argmax_j similarity[i, j]        and along the other side for the candidate's tokens

    Parameters
    ----------
    similarity : (n_ref, n_cand), cosine of each reference token with each candidate token.
    reference_special, candidate_special : bool (n_ref,), (n_cand,): [CLS], [SEP], <s> and their like.
    match_special : may a token's best match be a special token of the other side? True is what
        bert_score does; with False those tokens are not eligible. Special tokens get a match of
        their own either way; it is their weight that keeps them out of the score.

    Range: similarities in [-1, 1], no unit, higher is better; a negative similarity is kept as it is.

    Edges: of equally similar tokens the first one wins. Where no token of the other side is eligible
    (an empty sentence, or only special tokens with match_special=False) the match is -1 and the
    similarity nan.

    Raises InputError when the shapes do not fit together or a similarity is not finite.

    Source: Zhang et al. 2020 (BERTScore), equation 1; "Maximum Similarity" in section 3 of the
    Japanese novel paper. Departure from bert_score: no clamping of negative similarities at 0 in
    padded batches, because nothing is padded here.

    >>> matches = best_matches([[0.9, 0.1], [0.2, 0.3]], [False, False], [False, False])
    >>> matches.reference_match.tolist(), matches.candidate_similarity.tolist()
    ([0, 1], [0.9, 0.3])
    """
    matrix = np.asarray(similarity, dtype=np.float64)  # (n_ref, n_cand)
    reference_is_special = np.asarray(reference_special, dtype=bool)
    candidate_is_special = np.asarray(candidate_special, dtype=bool)
    if matrix.shape != (reference_is_special.size, candidate_is_special.size):
        raise InputError(f"A similarity matrix of shape {matrix.shape} does not fit {reference_is_special.size} "
                         f"reference and {candidate_is_special.size} candidate tokens.")
    if not np.isfinite(matrix).all():
        raise InputError("A token similarity is not finite: a token vector without length has no direction.")
    reference_match, reference_similarity = _best_along_rows(matrix, candidate_is_special & (not match_special))
    candidate_match, candidate_similarity = _best_along_rows(matrix.T, reference_is_special & (not match_special))
    return BestMatches(reference_match, reference_similarity, candidate_match, candidate_similarity)


def bertscore(matches: BestMatches, reference_weights: ArrayLike, candidate_weights: ArrayLike) -> PRF:
    """How much of each sentence is found again in the other?

        R = sum_i w_i * reference_similarity_i / sum_i w_i
        P = sum_j w_j * candidate_similarity_j / sum_j w_j        F1 = 2 P R / (P + R)

    Parameters
    ----------
    matches : of one pair, from `best_matches`.
    reference_weights, candidate_weights : (n_ref,), (n_cand,), not negative: idf, or 1 for every
        token; 0 for special tokens.

    Range: P and R in [-1, 1], F1 too for positive P and R; no unit, higher is better.

    Edges: where the weights of a side sum to 0 (every token of it is in every document of the idf
    dictionary, or it has none but special tokens) its mean is 0/0, so nan, and F1 with it. F1 is nan
    too when P + R is 0. A token of weight 0 without a match does not make the mean nan.

    Raises InputError for weights of another length, or negative or not finite.

    Source: Zhang et al. 2020 (BERTScore), equations 1 and 2, and `greedy_cos_idf` of bert_score
    0.3.13. Departure: bert_score sets an undefined F1, and the P and R of an empty sentence, to 0.

    >>> matches = best_matches([[0.9, 0.1], [0.2, 0.3]], [False, False], [False, False])
    >>> score = bertscore(matches, [1.0, 1.0], [1.0, 2.0])
    >>> round(score.precision, 3), round(score.recall, 3), round(score.f1, 3)
    (0.5, 0.6, 0.545)
    """
    recall = _weighted_mean(matches.reference_similarity, reference_weights, "reference")
    precision = _weighted_mean(matches.candidate_similarity, candidate_weights, "candidate")
    return PRF(precision, recall, harmonic_mean(precision, recall))


def harmonic_mean(precision: float, recall: float) -> float:
    """F1 = 2 P R / (P + R); nan where P + R is 0 or either is nan.

    >>> harmonic_mean(0.5, 1.0)
    0.6666666666666666
    """
    total = precision + recall
    return 2 * precision * recall / total if total != 0 else float("nan")


def _best_along_rows(matrix: NDArray[np.float64], barred: NDArray[np.bool_]
                     ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if barred.all():  # also when there is no column at all
        return np.full(len(matrix), NO_MATCH), np.full(len(matrix), np.nan)
    if barred.any():
        matrix = np.where(barred, -np.inf, matrix)
    best = matrix.argmax(axis=1)
    return best, matrix[np.arange(len(matrix)), best]


def _weighted_mean(values: NDArray[np.float64], weights: ArrayLike, side: str) -> float:
    weight = np.asarray(weights, dtype=np.float64)
    if weight.shape != values.shape:
        raise InputError(f"The {side} has {values.size} tokens and {weight.size} weights.")
    total = float(weight.sum())
    if not np.isfinite(total) or (weight < 0).any():
        raise InputError(f"The weights of the {side}'s tokens must be finite and not negative.")
    if total == 0:
        return float("nan")
    weighed = weight > 0
    return float(values[weighed] @ weight[weighed]) / total
