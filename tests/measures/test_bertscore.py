"""Best matches and BERTScore: by hand, against bert_score's own arithmetic, against plain loops, by properties."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures import similarity_blocks
from engine.measures.bertscore import (
    NO_MATCH,
    BestMatches,
    bertscore,
    best_matches,
    harmonic_mean,
    sentence_sums,
    weight_shares,
)
from tests.measures import oracles


def framed(n: int) -> np.ndarray:
    """Special tokens at both ends, as [CLS] … [SEP]."""
    return np.r_[True, np.zeros(n - 2, dtype=bool), True]


def matched(
    matrix: Sequence[Sequence[float]] | np.ndarray,
    special: Sequence[bool] | np.ndarray = (),
    match_special: bool = True,
) -> BestMatches:
    """The matches of one pair; `special` of the reference's tokens, then of the candidate's, none where left out."""
    array = np.asarray(matrix)
    flags = special if len(special) else np.zeros(sum(array.shape), dtype=bool)
    return best_matches(array.ravel(), array.shape, flags, match_special=match_special)


def scored(
    matrix: Sequence[Sequence[float]] | np.ndarray,
    reference_weights: Sequence[float] | np.ndarray,
    candidate_weights: Sequence[float] | np.ndarray,
) -> tuple[float, float, float]:
    """Precision, recall and F1 of one pair without special tokens."""
    score = bertscore(matched(matrix), np.shape(matrix), np.r_[reference_weights, candidate_weights])
    return score.precision.item(), score.recall.item(), score.f1.item()


def test_equal_sentences_tie_at_1_whatever_float32_makes_of_a_vector_and_itself() -> None:
    random = np.random.default_rng(0)
    scores = []
    for n in (3, 5, 9):
        vectors = random.normal(size=(n, 300)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        products = vectors @ vectors.T
        assert set(products.diagonal().tolist()) != {1.0}
        scores.append(scored(products, random.random(n), random.random(n)))
    assert set(scores) == {(1.0, 1.0, 1.0)}
    assert matched([[-1.0000001, -1.00000012]]).similarity.tolist() == [-1.0] * 3


def test_by_hand() -> None:
    #              candidate: a    b    c
    # reference x            0.9  0.2  0.1      best a, 0.9
    #           y            0.5  0.8  0.4      best b, 0.8
    # best of a: x 0.9; of b: y 0.8; of c: y 0.4
    matrix = [[0.9, 0.2, 0.1], [0.5, 0.8, 0.4]]
    matches = matched(matrix)
    assert matches.position.tolist() == [0, 1, 0, 1, 1]
    assert matches.similarity.tolist() == [0.9, 0.8, 0.9, 0.8, 0.4]
    precision, recall, f1 = scored(matrix, [1.0, 3.0], [1.0, 1.0, 2.0])
    # R = (1 * 0.9 + 3 * 0.8) / 4 = 0.825;  P = (0.9 + 0.8 + 2 * 0.4) / 4 = 0.625
    # F1 = 2 * 0.825 * 0.625 / 1.45 = 0.71120689…
    assert recall == pytest.approx(0.825, rel=1e-15)
    assert precision == pytest.approx(0.625, rel=1e-15)
    assert f1 == pytest.approx(2 * 0.825 * 0.625 / 1.45, rel=1e-15)


def test_two_pairs_by_hand() -> None:
    # pair 1 is the 2 by 1 matrix (0.5, 0.9), pair 2 the 1 by 2 matrix (-0.4, 0.2); all weights 1
    matches = best_matches([0.5, 0.9, -0.4, 0.2], [2, 1, 1, 2], [False] * 6)
    assert matches.position.tolist() == [0, 0, 1, 1, 0, 0]
    score = bertscore(matches, [2, 1, 1, 2], np.ones(6))
    # R1 = (0.5 + 0.9) / 2, P1 = 0.9;  R2 = 0.2, P2 = (-0.4 + 0.2) / 2
    assert score.recall == pytest.approx([0.7, 0.2], rel=1e-15)
    assert score.precision == pytest.approx([0.9, -0.1], rel=1e-15)
    # F1: 2 * 0.9 * 0.7 / 1.6 and 2 * -0.1 * 0.2 / 0.1
    assert score.f1 == pytest.approx([0.7875, -0.4], rel=1e-14)


def test_the_papers_worked_example() -> None:
    # Zhang et al. 2020, figure 1: of the reference "the weather is cold today" the best similarities are
    # .713 .515 .858 .796 .913 with idf 1.27 7.94 1.82 7.90 8.88, and
    # R = (0.713 * 1.27 + 0.515 * 7.94 + …) / (1.27 + 7.94 + 1.82 + 7.90 + 8.88)
    similarity, idf = [0.713, 0.515, 0.858, 0.796, 0.913], [1.27, 7.94, 1.82, 7.90, 8.88]
    # 0.9055 + 4.0891 + 1.5616 + 6.2884 + 8.1074 = 20.9520; / 27.81 = 0.75340
    _, recall, _ = scored(np.diag(similarity), idf, np.ones(5))
    assert recall == pytest.approx(0.7534, abs=5e-5)  # four decimals by hand


@pytest.mark.filterwarnings("ignore")  # what bert_score's imports warn of is not ours
@pytest.mark.parametrize("seed", range(5))
def test_equals_bert_scores_own_arithmetic(seed: int) -> None:
    torch = pytest.importorskip("torch")
    greedy_cos_idf = pytest.importorskip("bert_score.utils").greedy_cos_idf
    random = np.random.default_rng(seed)
    n_ref, n_cand = random.integers(4, 20, 2)
    reference, candidate = (random.normal(size=(n, 16)) + 0.5 for n in (n_ref, n_cand))
    idf = [np.r_[0.0, random.random(n - 2) * 5, 0.0] for n in (n_ref, n_cand)]
    expected = [
        float(value)
        for value in greedy_cos_idf(
            torch.tensor(reference[None]),
            torch.ones(1, n_ref),
            torch.tensor(idf[0][None]),
            torch.tensor(candidate[None]),
            torch.ones(1, n_cand),
            torch.tensor(idf[1][None]),
        )
    ]
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (reference, candidate)]
    matches = matched(units[0] @ units[1].T, np.r_[framed(n_ref), framed(n_cand)])
    score = bertscore(matches, [n_ref, n_cand], np.concatenate(idf))
    # the same float64 sums in another order; bert_score masks the similarities in float32 ones, which changes nothing
    assert [*score.precision, *score.recall, *score.f1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("cells_at_once", [1, 40, 10**6])
@pytest.mark.parametrize("special_share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("match_special", [True, False])
def test_all_pairs_at_once_equal_each_by_plain_loops(
    cells_at_once: int, special_share: float, match_special: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similarity_blocks, "CELLS_AT_ONCE", cells_at_once)
    random = np.random.default_rng(1)
    lengths = random.integers(0, 8, 80)  # 40 pairs, some sentences of them empty
    matrices = [random.integers(-3, 4, (n, m)) / 4 for n, m in zip(lengths[::2], lengths[1::2], strict=True)]  # ties
    similarity = np.concatenate([matrix.ravel() for matrix in matrices])
    special = random.random(lengths.sum()) < special_share
    weights = np.where(special, 0.0, random.integers(0, 3, lengths.sum()))
    arguments = similarity.copy(), special.copy(), weights.copy()
    matches = best_matches(similarity, lengths, special, match_special=match_special)
    score = bertscore(matches, lengths, weights)
    for before, after in zip(arguments, (similarity, special, weights), strict=True):
        np.testing.assert_array_equal(before, after)  # nothing is written to

    flags, weight = (np.split(values, np.cumsum(lengths)[:-1]) for values in (special, weights))
    positions, similarities, expected = [], [], []
    for k, matrix in enumerate(matrices):
        sides = oracles.best_matches(matrix, flags[2 * k], flags[2 * k + 1], match_special=match_special)
        recall, precision = (oracles.weighted_mean(side.similarity, weight[2 * k + i]) for i, side in enumerate(sides))
        expected.append((precision, recall, oracles.f1(precision, recall)))
        for side in sides:
            positions += side.position
            similarities += side.similarity
    np.testing.assert_array_equal(matches.position, positions)
    np.testing.assert_array_equal(matches.similarity, similarities)
    # float64 sums in another order
    np.testing.assert_allclose(np.transpose([score.precision, score.recall, score.f1]), expected, rtol=1e-12)


def test_no_pair_has_no_score() -> None:
    matches = best_matches([], [], [])
    assert len(matches.position) == len(matches.similarity) == 0
    assert len(bertscore(matches, [], []).f1) == 0


def test_float32_stays_what_it_was() -> None:
    matches = best_matches(np.array([0.1, 0.7, 0.3], dtype=np.float32), [1, 3], np.zeros(4, bool))
    assert matches.similarity[0] == np.float64(np.float32(0.7))


matrices = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000)).map(
    lambda drawn: np.random.default_rng(drawn[2]).uniform(-1, 1, drawn[:2])
)


@settings(max_examples=60)
@given(matrix=matrices, seed=st.integers(0, 1000))
def test_symmetry_bounds_and_permutation(matrix: np.ndarray, seed: int) -> None:
    random = np.random.default_rng(seed)
    n_ref, n_cand = map(int, matrix.shape)
    w_ref, w_cand = random.random(n_ref) + 0.01, random.random(n_cand) + 0.01
    precision, recall, f1 = scored(matrix, w_ref, w_cand)
    # sides exchanged: precision and recall change places, F1 stays
    turned = scored(matrix.T, w_cand, w_ref)
    assert turned[:2] == (recall, precision)
    assert turned[2] == f1 or math.isnan(f1)
    for value in (precision, recall):
        assert matrix.min() - 1e-12 <= value <= matrix.max() + 1e-12  # a mean of entries, rounding apart
    rows, columns = random.permutation(n_ref), random.permutation(n_cand)
    mixed = scored(matrix[rows][:, columns], w_ref[rows], w_cand[columns])
    assert mixed[:2] == pytest.approx((precision, recall), rel=1e-9, abs=1e-12)


def test_a_sentence_against_itself_scores_one() -> None:
    assert scored(np.eye(4), np.ones(4), np.ones(4)) == (1.0, 1.0, 1.0)


def test_special_tokens_may_win_or_not() -> None:
    matrix = np.array([[1.0, 0.9, 0.2], [0.8, 0.3, 0.1], [0.1, 0.7, 0.6]])
    special = np.tile([True, False, False], 2)
    assert matched(matrix, special).position.tolist() == [0, 0, 1, 0, 0, 2]
    without = matched(matrix, special, match_special=False)
    # column 0 and row 0 are barred for the other side's tokens, special or not
    assert without.position.tolist() == [1, 1, 1, 1, 2, 2]
    assert without.similarity.tolist() == [0.9, 0.3, 0.7, 0.8, 0.7, 0.6]


def test_a_sentence_of_special_tokens_only_matches_nothing() -> None:
    matches = matched(np.full((2, 3), 0.5), np.r_[True, True, framed(3)], match_special=False)
    assert matches.position[2:].tolist() == [NO_MATCH] * 3 and np.isnan(matches.similarity[2:]).all()
    assert matches.position[:2].tolist() == [1, 1]
    score = bertscore(matches, [2, 3], [0.0, 0.0, 0.0, 1.0, 0.0])
    assert math.isnan(score.precision[0]) and math.isnan(score.recall[0]) and math.isnan(score.f1[0])


def test_a_sentence_without_tokens_matches_nothing() -> None:
    # the first pair has no reference; the second is as if alone
    matches = best_matches([0.25], [0, 2, 1, 1], [False] * 4)
    assert matches.position.tolist() == [NO_MATCH, NO_MATCH, 0, 0]
    score = bertscore(matches, [0, 2, 1, 1], np.ones(4))
    np.testing.assert_array_equal(score.recall, [np.nan, 0.25])
    np.testing.assert_array_equal(score.precision, [np.nan, 0.25])


def test_negative_similarities_are_not_clamped() -> None:
    precision, recall, _ = scored([[-0.5, -0.2]], [1.0], [1.0, 1.0])
    assert recall == -0.2 and precision == pytest.approx(-0.35, rel=1e-15)


def test_ties_go_to_the_first() -> None:
    assert matched([[0.5, 0.5]]).position.tolist() == [0, 0, 0]


def test_weights_that_are_all_zero_leave_the_score_undefined() -> None:
    precision, recall, f1 = scored(np.eye(2), [0.0, 0.0], [1.0, 1.0])
    assert math.isnan(recall) and precision == 1.0 and math.isnan(f1)


def test_a_token_of_no_weight_may_lack_a_match() -> None:
    matches = best_matches([0.5], [1, 1], [True, False], match_special=False)
    assert math.isnan(bertscore(matches, [1, 1], [0.0, 1.0]).precision[0])  # its only weighted token has no match
    assert math.isnan(bertscore(matches, [1, 1], [0.0, 0.0]).precision[0])
    both = best_matches([0.5, 0.25], [1, 2], [False, True, False], match_special=False)
    # the reference has no special token, so all are matched; without its weight [CLS] adds nothing
    assert bertscore(both, [1, 2], [1.0, 0.0, 1.0]).precision.tolist() == [0.25]


def test_weight_shares_by_hand() -> None:
    # 1 / 4 and 3 / 4; nothing in the empty sentence; 0 / 0
    np.testing.assert_array_equal(weight_shares([2, 0, 1, 1], [1.0, 3.0, 0.0, 5.0]), [0.25, 0.75, np.nan, 1.0])


@settings(max_examples=40)
@given(st.lists(st.integers(0, 4), max_size=6))
def test_sums_of_sentences_are_those_of_each(lengths: list[int]) -> None:
    values = np.arange(1.0, sum(lengths) + 1)
    expected = [part.sum() for part in np.split(values, np.cumsum(lengths)[:-1])] if lengths else []
    assert sentence_sums(values, np.array(lengths, dtype=np.int64)).tolist() == expected


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(0.5, 1.0, 2 / 3), (1.0, 1.0, 1.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), (0.0, -0.0, 0.0)],
)
def test_harmonic_mean(precision: float, recall: float, expected: float) -> None:
    assert harmonic_mean(precision, recall) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(("precision", "recall"), [(0.3, -0.3), (math.nan, 1.0), (math.nan, 0.0)])
def test_harmonic_mean_undefined(precision: float, recall: float) -> None:
    assert math.isnan(harmonic_mean(precision, recall))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(
        InputError,
        match=r"4 similarities and 5 special-token flags do not fit sentences of 5 tokens, "
        "whose pairs have 6 cells",
    ):
        best_matches(np.eye(2).ravel(), [3, 2], np.zeros(5))
    with pytest.raises(InputError, match="6 similarities and 4 special-token flags do not fit"):
        best_matches(np.ones(6), [3, 2], np.zeros(4))
    for lengths in ([1], [-1, 2], [[1, 1]]):
        with pytest.raises(InputError, match="Each pair has the lengths of two sentences"):
            best_matches([0.5], lengths, [False] * 2)
    for similarity in (np.nan, np.inf, -np.inf):
        with pytest.raises(InputError, match="not finite"):
            best_matches([similarity], [1, 1], [False] * 2)
    matches = matched(np.eye(2))
    with pytest.raises(InputError, match="The sentences have 4 tokens and 5 weights"):
        bertscore(matches, [2, 2], np.ones(5))
    with pytest.raises(InputError, match="The sentences have 4 tokens and 5 weights"):
        weight_shares([2, 2], np.ones(5))
    with pytest.raises(InputError, match="The sentences have 3 tokens and 4 matches"):
        bertscore(matches, [2, 1], np.ones(3))
    for weights in ([1.0, -0.5], [1.0, np.nan], [np.inf, 1.0]):
        with pytest.raises(InputError, match="tokens must be finite and not negative"):
            bertscore(matches, [2, 2], [1, 1, *weights])
