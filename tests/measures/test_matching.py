"""Best matches and BERTScore: by hand, against bert_score's own arithmetic, and by their properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.matching import NO_MATCH, bertscore, best_matches, harmonic_mean


def plain(n: int) -> np.ndarray:
    return np.zeros(n, dtype=bool)


def framed(n: int) -> np.ndarray:
    """Special tokens at both ends, as [CLS] … [SEP]."""
    return np.r_[True, np.zeros(n - 2, dtype=bool), True]


def test_by_hand() -> None:
    #              candidate: a    b    c
    # reference x            0.9  0.2  0.1      best a, 0.9
    #           y            0.5  0.8  0.4      best b, 0.8
    # best of a: x 0.9; of b: y 0.8; of c: y 0.4
    matches = best_matches([[0.9, 0.2, 0.1], [0.5, 0.8, 0.4]], plain(2), plain(3))
    assert matches.reference_match.tolist() == [0, 1] and matches.reference_similarity.tolist() == [0.9, 0.8]
    assert matches.candidate_match.tolist() == [0, 1, 1] and matches.candidate_similarity.tolist() == [0.9, 0.8, 0.4]
    score = bertscore(matches, [1.0, 3.0], [1.0, 1.0, 2.0])
    # R = (1 * 0.9 + 3 * 0.8) / 4 = 0.825;  P = (0.9 + 0.8 + 2 * 0.4) / 4 = 0.625
    # F1 = 2 * 0.825 * 0.625 / 1.45 = 0.71120689…
    assert score.recall == pytest.approx(0.825, rel=1e-15)
    assert score.precision == pytest.approx(0.625, rel=1e-15)
    assert score.f1 == pytest.approx(2 * 0.825 * 0.625 / 1.45, rel=1e-15)


def test_the_papers_worked_example() -> None:
    # Zhang et al. 2020, figure 1: of the reference "the weather is cold today" the best similarities are
    # .713 .515 .858 .796 .913 with idf 1.27 7.94 1.82 7.90 8.88, and
    # R = (0.713 * 1.27 + 0.515 * 7.94 + …) / (1.27 + 7.94 + 1.82 + 7.90 + 8.88)
    similarity, idf = [0.713, 0.515, 0.858, 0.796, 0.913], [1.27, 7.94, 1.82, 7.90, 8.88]
    matches = best_matches(np.diag(similarity), plain(5), plain(5))
    # 0.9055 + 4.0891 + 1.5616 + 6.2884 + 8.1074 = 20.9520; / 27.81 = 0.75340
    assert bertscore(matches, idf, np.ones(5)).recall == pytest.approx(0.7534, abs=5e-5)  # four decimals by hand


@pytest.mark.filterwarnings("ignore")  # what bert_score's imports warn of is not ours
@pytest.mark.parametrize("seed", range(5))
def test_equals_bert_scores_own_arithmetic(seed: int) -> None:
    torch = pytest.importorskip("torch")
    greedy_cos_idf = pytest.importorskip("bert_score.utils").greedy_cos_idf
    random = np.random.default_rng(seed)
    n_ref, n_cand = random.integers(4, 20, 2)
    reference, candidate = (random.normal(size=(n, 16)) + 0.5 for n in (n_ref, n_cand))
    idf = [np.r_[0.0, random.random(n - 2) * 5, 0.0] for n in (n_ref, n_cand)]
    expected = [float(value) for value in greedy_cos_idf(
        torch.tensor(reference[None]), torch.ones(1, n_ref), torch.tensor(idf[0][None]),
        torch.tensor(candidate[None]), torch.ones(1, n_cand), torch.tensor(idf[1][None]))]
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (reference, candidate)]
    score = bertscore(best_matches(units[0] @ units[1].T, framed(n_ref), framed(n_cand)), *idf)
    # the same float64 sums in another order; bert_score masks the similarities in float32 ones, which changes nothing
    assert [score.precision, score.recall, score.f1] == pytest.approx(expected, rel=1e-12)


matrices = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000)).map(
    lambda drawn: np.random.default_rng(drawn[2]).uniform(-1, 1, drawn[:2]))


@settings(max_examples=60)
@given(matrix=matrices, seed=st.integers(0, 1000))
def test_symmetry_bounds_and_permutation(matrix: np.ndarray, seed: int) -> None:
    random = np.random.default_rng(seed)
    n_ref, n_cand = map(int, matrix.shape)
    w_ref, w_cand = random.random(n_ref) + 0.01, random.random(n_cand) + 0.01
    score = bertscore(best_matches(matrix, plain(n_ref), plain(n_cand)), w_ref, w_cand)
    # sides exchanged: precision and recall change places, F1 stays
    turned = bertscore(best_matches(matrix.T, plain(n_cand), plain(n_ref)), w_cand, w_ref)
    assert (turned.precision, turned.recall) == (score.recall, score.precision)
    assert turned.f1 == score.f1 or math.isnan(score.f1)
    for value in (score.precision, score.recall):
        assert matrix.min() - 1e-12 <= value <= matrix.max() + 1e-12  # a mean of entries, rounding apart
    rows, columns = random.permutation(n_ref), random.permutation(n_cand)
    mixed = bertscore(best_matches(matrix[rows][:, columns], plain(n_ref), plain(n_cand)), w_ref[rows], w_cand[columns])
    assert [mixed.precision, mixed.recall] == pytest.approx([score.precision, score.recall], rel=1e-9, abs=1e-12)


def test_a_sentence_against_itself_scores_one() -> None:
    score = bertscore(best_matches(np.eye(4), plain(4), plain(4)), np.ones(4), np.ones(4))
    assert (score.precision, score.recall, score.f1) == (1.0, 1.0, 1.0)


def test_special_tokens_may_win_or_not() -> None:
    matrix = np.array([[1.0, 0.9, 0.2], [0.8, 0.3, 0.1], [0.1, 0.7, 0.6]])
    special = np.array([True, False, False])
    with_them = best_matches(matrix, special, special)
    assert with_them.reference_match.tolist() == [0, 0, 1] and with_them.candidate_match.tolist() == [0, 0, 2]
    without = best_matches(matrix, special, special, match_special=False)
    # column 0 and row 0 are barred for the other side's tokens, special or not
    assert without.reference_match.tolist() == [1, 1, 1] and without.reference_similarity.tolist() == [0.9, 0.3, 0.7]
    assert without.candidate_match.tolist() == [1, 2, 2] and without.candidate_similarity.tolist() == [0.8, 0.7, 0.6]


def test_a_sentence_of_special_tokens_only_matches_nothing() -> None:
    matches = best_matches(np.full((2, 3), 0.5), np.array([True, True]), framed(3), match_special=False)
    assert matches.candidate_match.tolist() == [NO_MATCH] * 3 and np.isnan(matches.candidate_similarity).all()
    assert matches.reference_match.tolist() == [1, 1]
    score = bertscore(matches, [0.0, 0.0], [0.0, 1.0, 0.0])
    assert math.isnan(score.precision) and math.isnan(score.recall) and math.isnan(score.f1)


def test_a_sentence_without_tokens_matches_nothing() -> None:
    matches = best_matches(np.zeros((0, 2)), plain(0), plain(2))
    assert matches.reference_match.size == 0 and matches.candidate_match.tolist() == [NO_MATCH] * 2


def test_negative_similarities_are_not_clamped() -> None:
    score = bertscore(best_matches([[-0.5, -0.2]], plain(1), plain(2)), [1.0], [1.0, 1.0])
    assert score.recall == -0.2 and score.precision == pytest.approx(-0.35, rel=1e-15)


def test_ties_go_to_the_first() -> None:
    assert best_matches([[0.5, 0.5]], plain(1), plain(2)).reference_match.tolist() == [0]


def test_weights_that_are_all_zero_leave_the_score_undefined() -> None:
    score = bertscore(best_matches(np.eye(2), plain(2), plain(2)), [0.0, 0.0], [1.0, 1.0])
    assert math.isnan(score.recall) and score.precision == 1.0 and math.isnan(score.f1)


def test_a_token_of_no_weight_may_lack_a_match() -> None:
    matches = best_matches([[0.5]], [True], [False], match_special=False)
    assert math.isnan(bertscore(matches, [0.0], [1.0]).precision)  # its only weighted token has no match
    assert math.isnan(bertscore(matches, [0.0], [0.0]).precision)


@pytest.mark.parametrize(("precision", "recall", "expected"), [(0.5, 1.0, 2 / 3), (1.0, 1.0, 1.0), (0.0, 1.0, 0.0)])
def test_harmonic_mean(precision: float, recall: float, expected: float) -> None:
    assert harmonic_mean(precision, recall) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(("precision", "recall"), [(0.0, 0.0), (0.3, -0.3), (math.nan, 1.0)])
def test_harmonic_mean_undefined(precision: float, recall: float) -> None:
    assert math.isnan(harmonic_mean(precision, recall))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(2, 2\) does not fit 3 reference and 2 candidate"):
        best_matches(np.eye(2), plain(3), plain(2))
    with pytest.raises(InputError, match="not finite"):
        best_matches([[np.nan]], plain(1), plain(1))
    matches = best_matches(np.eye(2), plain(2), plain(2))
    with pytest.raises(InputError, match="The reference has 2 tokens and 3 weights"):
        bertscore(matches, [1, 1, 1], [1, 1])
    for weights in ([1.0, -0.5], [1.0, np.nan], [np.inf, 1.0]):
        with pytest.raises(InputError, match="candidate's tokens must be finite and not negative"):
            bertscore(matches, [1, 1], weights)
