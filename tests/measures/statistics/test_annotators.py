"""z-scores, gold and agreement of annotators: by hand, as scipy and numpy have them, and by their properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from engine.errors import InputError
from engine.measures.statistics.annotators import annotator_agreement, gold_scores, human_ceiling, z_scores

NAN = math.nan


def test_by_hand() -> None:
    # a scored 2 4 4 6: mean 4, squares 4 + 0 + 0 + 4 = 8, s = sqrt(8 / 4) = sqrt 2; b left the second out:
    # 0 _ 50 100: mean 50, s = sqrt(5000 / 3)
    a, b = z_scores([2, 4, 4, 6]), z_scores([0, NAN, 50, 100])
    np.testing.assert_allclose(a, [-math.sqrt(2), 0, 0, math.sqrt(2)], rtol=1e-15)
    np.testing.assert_allclose(b, [-math.sqrt(1.5), NAN, 0, math.sqrt(1.5)], rtol=1e-15)
    # the second pair has a's word alone
    half = (math.sqrt(2) + math.sqrt(1.5)) / 2
    np.testing.assert_allclose(gold_scores([a, b]), [-half, 0, 0, half], rtol=1e-15, atol=1e-16)
    # over the common pairs a is 2 4 6 and b 0 50 100: one line
    found = annotator_agreement({"a": [2, 4, 4, 6], "b": [0, NAN, 50, 100]})
    assert found.mean == pytest.approx(1.0) and found.pairs[0].correlation.n == 3


def test_the_papers_mean_over_three() -> None:
    # Three evaluators make three couples. a, b, c in -1 0 1 patterns: r(a,b) = 0.5, r(a,c) = -0.5, r(b,c) = 0.5
    found = annotator_agreement({"a": [1, 2, 3], "b": [1, 3, 2], "c": [2, 3, 1]})
    assert [(pair.annotator, pair.other) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [pair.correlation.value for pair in found.pairs] == pytest.approx([0.5, -0.5, 0.5])
    assert found.mean == pytest.approx(0.5 / 3)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 80), missing=st.floats(0, 0.5))
def test_equal_scipys_and_numpys(seed: int, n: int, missing: float) -> None:
    random = np.random.default_rng(seed)
    scores = np.where(random.random((3, n)) < missing, NAN, random.integers(0, 101, (3, n)).astype(float))
    z = np.stack([z_scores(column) for column in scores])
    for column, found in zip(scores, z, strict=True):
        if np.unique(column[~np.isnan(column)]).size > 1:
            # the same sums in another order
            np.testing.assert_allclose(found, stats.zscore(column, nan_policy="omit"), atol=1e-12)
        else:
            assert np.isnan(found).all()
    for pair in range(n):
        known = z[~np.isnan(z[:, pair]), pair]
        expected = known.mean() if known.size else NAN
        np.testing.assert_allclose(gold_scores(z)[pair], expected, atol=1e-12)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), scale=st.floats(0.01, 1000), shift=st.floats(-1000, 1000))
def test_a_scale_of_its_own_changes_nothing(seed: int, scale: float, shift: float) -> None:
    random = np.random.default_rng(seed)
    scores = random.normal(size=(2, 25))
    # rounding: entries of 1000 whose differences are about 0.01 at worst
    np.testing.assert_allclose(z_scores(scale * scores[0] + shift), z_scores(scores[0]), atol=1e-6)
    before = annotator_agreement({"a": scores[0], "b": scores[1]})
    after = annotator_agreement({"a": scale * scores[0] + shift, "b": scores[1]})
    assert after.mean == pytest.approx(before.mean, abs=1e-6)


def test_several_annotators_are_less_spread_than_one() -> None:
    random = np.random.default_rng(0)
    z = np.stack([z_scores(column) for column in random.normal(size=(3, 200))])
    assert np.std(gold_scores(z)) < 1 and np.std(gold_scores(z[:1])) == pytest.approx(1)


def test_an_annotator_who_gave_one_score_has_no_scale() -> None:
    assert np.isnan(z_scores([3, 3, 3])).all() and np.isnan(z_scores([NAN, 7])).all()
    assert z_scores([]).size == 0
    found = annotator_agreement({"a": [1, 2, 3], "b": [5, 5, 5], "c": [3, 2, 1]})
    assert found.mean == pytest.approx(-1) and "b is 5 in all 3 pairs" in found.pairs[0].correlation.reason


def test_what_nobody_scored_has_no_gold() -> None:
    assert np.isnan(gold_scores([[NAN, 1.0], [NAN, 0.0]])[0])


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"a": [1, 2, 3]}, "at least two annotators"),
        ({"a": [1, NAN, 3, NAN], "b": [NAN, 2, NAN, 4]}, "no two annotators have a correlation"),
    ],
)
def test_no_agreement_is_nan_with_a_reason(scores: dict[str, list[float]], said: str) -> None:
    found = annotator_agreement(scores)
    assert math.isnan(found.mean) and said in found.reason


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(InputError, match="finite"):
        z_scores([1, math.inf])
    with pytest.raises(InputError, match=r"\(n_annotators, n_pairs\); got \(3,\)"):
        gold_scores([1.0, 2.0, 3.0])


def test_the_human_ceiling_by_hand() -> None:
    # z of a, b and c, all with mean 0 and s = sqrt(2/3): a = (-1, 0, 1)/s, b = (-1, 1, 0)/s, c = (0, -1, 1)/s.
    # a against (b + c)/2 = (-1/2, 0, 1/2)/s: r = 1; b against (a + c)/2 = (-1/2, -1/2, 1)/s:
    # (1/2 - 1/2) / ... = 0; c against (a + b)/2 = (-1, 1/2, 1/2)/s: (-1/2 + 1/2) = 0. Mean 1/3.
    found = human_ceiling({"a": [1, 2, 3], "b": [1, 3, 2], "c": [20, 10, 30]})
    assert [round(one.pearson.value, 12) for one in found.annotators] == [1.0, 0.0, 0.0]
    assert found.pearson == pytest.approx(1 / 3) and (found.n, found.missing, found.reason) == (3, 0, "")


def test_the_human_ceiling_is_the_correlation_with_the_others_mean() -> None:
    scores = np.random.default_rng(4).normal(size=(4, 60)) + np.linspace(0, 3, 60)
    found = human_ceiling({str(index): 7 * column + index for index, column in enumerate(scores)})
    z = stats.zscore(scores, axis=1)
    for measure, of_scipy in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        expected = [of_scipy(z[a], np.delete(z, a, axis=0).mean(axis=0))[0] for a in range(4)]
        np.testing.assert_allclose([getattr(one, measure).value for one in found.annotators], expected, rtol=1e-12)
        assert getattr(found, measure) == pytest.approx(np.mean(expected), rel=1e-12)
        assert all(
            getattr(one, measure).ci_low < getattr(one, measure).value < getattr(one, measure).ci_high
            for one in found.annotators
        )


def test_missing_scores_are_left_out_pair_by_pair_and_counted() -> None:
    found = human_ceiling(
        {"a": [1, 2, 3, 4, NAN, 9], "b": [2, 1, 4, 3, 5, NAN], "c": [NAN, 1, 2, 3, 4, NAN], "same": [5, 5, 5, 5, 5, 5]}
    )
    assert [(one.annotator, one.n, one.missing) for one in found.annotators] == [
        ("a", 4, 2),
        ("b", 5, 1),
        ("c", 4, 2),
        ("same", 0, 6),
    ]
    assert found.annotators[3].pearson.reason and (found.n, found.missing) == (5, 1)
    assert found.pearson == pytest.approx(np.mean([one.pearson.value for one in found.annotators[:3]]))


def test_one_annotator_has_no_ceiling() -> None:
    assert "two annotators" in human_ceiling({"a": [1, 2, 3]}).reason and human_ceiling({}).reason
    with pytest.raises(InputError, match="same pairs"):
        human_ceiling({"a": [1, 2, 3], "b": [1, 2]})


def test_a_correlation_that_is_undefined_says_whose_scores_are_all_one() -> None:
    # the z of b and c are each other's negative: their mean is 0; a scored the pairs that the others did alike
    for scores, reason in (
        ({"a": [1, 2, 3], "b": [1, 2, 3], "c": [3, 2, 1]}, "the mean of the other annotators is 0 in all 3 pairs"),
        ({"a": [1, 1, 1, 5], "b": [1, 2, 3, NAN], "c": [1, 3, 2, NAN]}, "a is -0.5"),
    ):
        first = human_ceiling(scores).annotators[0]
        for of_first in (first.pearson, first.spearman, first.kendall):
            assert str(of_first.reason).startswith(reason)


def test_a_metric_can_lie_above_the_human_ceiling() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=500)
    found = human_ceiling({str(index): truth + rng.normal(size=500) for index in range(3)})
    assert found.pearson < np.corrcoef(truth, truth + rng.normal(size=(3, 500)).mean(axis=0))[0, 1]
