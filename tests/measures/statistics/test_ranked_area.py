"""The area under the curve: by hand, beside scikit-learn, and by its symmetry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from engine.errors import InputError
from engine.measures.statistics.ranked_area import area_of_pairs, area_under_curve, area_with_interval

scored = st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3, 0.4]), st.booleans()), min_size=2, max_size=20)


def test_by_hand() -> None:
    # 0.9 beats 0.5 and 0.1, 0.5 ties with 0.5 and beats 0.1: (2 + 1.5) / 4
    assert area_under_curve([0.9, 0.5, 0.5, 0.1], [True, True, False, False]) == 3.5 / 4
    assert math.isnan(area_under_curve([0.1], [True]))
    with pytest.raises(InputError, match="1 of 2 scores are not numbers"):
        area_under_curve([0.1, np.nan], [True, False])
    with pytest.raises(InputError, match="Each score needs one flag"):
        area_under_curve([0.1], [True, False])


@given(scored)
def test_it_is_that_of_scikit_learn_and_turns_with_the_groups(rows: list[tuple[float, bool]]) -> None:
    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    if positive.all() or not positive.any():
        return
    area = area_under_curve(scores, positive)
    assert area == pytest.approx(roc_auc_score(positive, scores))
    assert area + area_under_curve(scores, ~positive) == pytest.approx(1)


def test_the_interval_by_hand() -> None:
    # V+ of 3, 2, 1.5: 1, 1, 3/4; V- of 1.5, 0: 5/6, 1; mean 11/12; variance (1/48) / 3 + (1/72) / 2
    area = area_with_interval([3, 2, 1.5, 1.5, 0], [True, True, True, False, False])
    error = math.sqrt(1 / 72) / (11 / 12 * 1 / 12)
    assert area.value == pytest.approx(11 / 12)
    odds = [math.log(end / (1 - end)) for end in (area.ci_low, area.ci_high)]
    assert odds == pytest.approx([math.log(11) - 1.959964 * error, math.log(11) + 1.959964 * error], rel=1e-6)


@given(scored)
def test_the_interval_holds_the_area_and_knows_only_the_order(rows: list[tuple[float, bool]]) -> None:
    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    area, moved = area_with_interval(scores, positive), area_with_interval(np.exp(5 * scores), positive)
    np.testing.assert_array_equal([area.value, area.ci_low, area.ci_high], [moved.value, moved.ci_low, moved.ci_high])
    assert area.reason or 0 < area.ci_low < area.value < area.ci_high < 1


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    # P(N(1, 1) > N(0, 1)) = Φ(1 / √2); 400 samples: a standard error of 1.1 points about 95%
    random, truth = np.random.default_rng(0), 0.7602
    flags = np.repeat([True, False], [40, 25])
    areas = [area_with_interval(random.normal(flags.astype(float)), flags) for _ in range(400)]
    assert 0.915 < np.mean([area.ci_low <= truth <= area.ci_high for area in areas]) < 0.985


def test_without_spread_there_is_no_interval() -> None:
    constant = area_with_interval([1.0] * 5, [True, True, False, False, False])
    assert constant.value == 0.5 and math.isnan(constant.ci_low) and "all alike" in constant.reason
    assert area_with_interval([1, 2, 3, 4], [False, False, True, True]).value == 1
    assert "at least 2" in area_with_interval([1, 2, 3], [True, False, False]).reason
    assert area_with_interval([1, 2], [True, True]).reason == "all sentences have one judgement"


def test_the_area_of_pairs_takes_a_pair_as_one_observation() -> None:
    """Against the bootstrap over pairs: what the two scores of a pair share does not make the interval narrower."""
    random = np.random.default_rng(11)
    shared = random.normal(size=300) * 2
    good, bad = shared + random.normal(0.5, 1, 300), shared + random.normal(0, 1, 300)
    area = area_of_pairs(good, bad)
    flags = np.arange(600) < 300
    assert area.value == area_under_curve(np.concatenate([good, bad]), flags)
    drawn = [random.integers(0, 300, 300) for _ in range(1000)]
    areas = [area_under_curve(np.concatenate([good[rows], bad[rows]]), flags) for rows in drawn]
    assert (area.ci_low, area.ci_high) == pytest.approx(tuple(np.quantile(areas, [0.025, 0.975])), abs=0.006)
    apart = area_with_interval(np.concatenate([good, bad]), flags)
    assert apart.ci_high - apart.ci_low > 1.5 * (area.ci_high - area.ci_low)  # takes the sentences for unrelated


def test_the_area_of_pairs_has_the_edges_of_the_area() -> None:
    separated = area_of_pairs([3.0, 4.0], [1.0, 2.0])
    assert separated.value == 1 and math.isnan(separated.ci_low) and "separate" in separated.reason
    assert "at least 2 pairs" in area_of_pairs([1.0], [0.0]).reason and math.isnan(area_of_pairs([], []).value)
    with pytest.raises(InputError, match="two scores each; got 1 and 2"):
        area_of_pairs([1.0], [0.0, 2.0])
