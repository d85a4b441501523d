"""Williams' test: by hand, as published, by simulation, and by its properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.statistics.correlations.correlation import pearson
from engine.measures.statistics.correlations.williams import (
    best_against_others,
    compare_correlations,
    correlation_difference_interval,
    williams_test,
)
from engine.measures.statistics.paired_tests import holm


def test_by_hand() -> None:
    # r12 0.6, r13 0.4, r23 0.5, n 28: K = 1 - 0.36 - 0.16 - 0.25 + 2 * 0.6 * 0.4 * 0.5 = 0.47
    # mean 0.5: spread = 2 * 0.47 * 27 / 25 + 0.25 * 0.125 = 1.0152 + 0.03125 = 1.04645
    # t = 0.2 * sqrt(27 * 1.5 / 1.04645) = 0.2 * sqrt(38.70228) = 0.2 * 6.221116 = 1.244223
    found = compare_correlations(0.6, 0.4, 0.5, n=28)
    assert found.t == pytest.approx(1.244223, abs=1e-6)  # six decimals by hand
    # tables of t with 25 degrees of freedom: 1.058 leaves 0.30 at both ends together, 1.316 leaves 0.20
    assert 0.20 < found.p_value < 0.30


def test_steigers_example_as_rs_psych_prints_it() -> None:
    # psych::r.test(103, .4, .5, .1), Steiger's case A: "t value -0.89 with probability < 0.37"
    found = compare_correlations(0.4, 0.5, 0.1, n=103)
    assert (round(found.t, 2), round(found.p_value, 2)) == (-0.89, 0.37)


def test_the_example_of_a_published_script() -> None:
    # A Python port of Graham and Baldwin's nlp-williams prints for --r12 0.65 --r13 0.55 --r23 0.3 --n 50 the
    # one-sided p-value 0.20928617286753592
    found = compare_correlations(0.65, 0.55, 0.3, n=50)
    assert found.p_value / 2 == pytest.approx(0.20928617286753592, rel=1e-12)  # the same formula in float64


def test_without_a_difference_p_is_below_5_per_cent_in_5_per_cent() -> None:
    # Two scores that are equally good: 1,500 draws, two standard errors of a share of 0.05 are 0.011.
    random = np.random.default_rng(0)
    draws, n, rejected = 1500, 40, 0
    for _ in range(draws):
        human, shared = random.normal(size=(2, n))
        first, second = (human + shared + random.normal(size=n) for _ in range(2))
        rejected += williams_test(human, first, second).p_value < 0.05
    assert abs(rejected / draws - 0.05) < 0.011


def test_the_interval_of_zous_worked_example() -> None:
    # Zou 2007, overlapping correlations (data of Olkin and Finn 1990): .396, .179, .088, n = 66: (-0.093, 0.517)
    assert correlation_difference_interval(0.396, 0.179, 0.088, 66) == pytest.approx((-0.093, 0.517), abs=5e-4)
    low, high = correlation_difference_interval(0.179, 0.396, 0.088, 66)
    assert (low, high) == pytest.approx((-0.517, 0.093), abs=5e-4)
    test = compare_correlations(0.396, 0.179, 0.088, 66)
    assert (test.ci_low, test.ci_high) == pytest.approx((-high, -low))
    assert all(math.isnan(end) for end in correlation_difference_interval(1.0, 0.5, 0.5, 20))


def test_the_interval_holds_the_difference_in_95_per_cent() -> None:
    # Correlations 0.8 (noise 0.75) and 0.6 (noise 4/3) with the human score: 600 draws, two standard errors are 0.018.
    random = np.random.default_rng(0)
    draws, n, held = 600, 40, 0
    for _ in range(draws):
        human = random.normal(size=n)
        found = williams_test(human, human + 0.75 * random.normal(size=n), human + 4 / 3 * random.normal(size=n))
        held += found.ci_low <= 0.2 <= found.ci_high
    assert abs(held / draws - 0.95) < 0.018


@settings(max_examples=100)
@given(seed=st.integers(0, 100_000), n=st.integers(4, 300), noise=st.floats(0.1, 5))
def test_properties(seed: int, n: int, noise: float) -> None:
    random = np.random.default_rng(seed)
    human = random.normal(size=n)
    first, second = human + random.normal(size=n), human + noise * random.normal(size=n)
    found = williams_test(human, first, second)
    assume(not found.reason)
    assert 0 <= found.p_value <= 1
    better = pearson(human, first).value - pearson(human, second).value
    assert np.sign(found.t) == np.sign(better)
    turned = williams_test(human, second, first)
    # the same sums; units and order of the pairs do not matter beyond rounding
    assert (turned.t, turned.p_value) == pytest.approx((-found.t, found.p_value), rel=1e-9)
    order = random.permutation(n)
    moved = williams_test(3 * human[order] - 1, 0.1 * first[order], second[order] + 7)
    assert moved.t == pytest.approx(found.t, rel=1e-6, abs=1e-9)


def test_more_pairs_make_the_same_difference_surer() -> None:
    p = [compare_correlations(0.5, 0.4, 0.6, n=n).p_value for n in (10, 100, 1000)]
    assert p == sorted(p, reverse=True)


def test_only_complete_triples_count() -> None:
    random = np.random.default_rng(1)
    human, first, second = random.normal(size=(3, 30))
    first[3], second[5], human[7] = math.nan, math.nan, math.nan
    kept = np.setdiff1d(np.arange(30), [3, 5, 7])
    assert williams_test(human, first, second) == williams_test(human[kept], first[kept], second[kept])
    assert williams_test(human, first, second).n == 27


@pytest.mark.parametrize(
    ("human", "first", "second", "said"),
    [
        ([1, 2, 3], [1, 3, 2], [2, 1, 3], "at least 4 pairs; there are 3"),
        ([1, 2, 3, 4], [2, 1, 4, 3], [4, 2, 8, 6], "agree exactly"),
        ([1, 2, 3, 4], [1, 1, 1, 1], [4, 2, 8, 6], "the first score is 1 in all 4 pairs"),
        ([2, 2, 2, 2], [1, 2, 3, 4], [4, 2, 8, 6], "the human score is 2"),
        ([1, 2, 3, 4], [1, 2, 3, 4], [-1, -2, -3, -4], "determine each other"),
    ],
)
def test_undefined_is_nan_with_a_reason(human: list[float], first: list[float], second: list[float], said: str) -> None:
    found = williams_test(human, first, second)
    assert math.isnan(found.t) and math.isnan(found.p_value) and said in found.reason


@pytest.mark.parametrize("correlations", [(1.2, 0.1, 0.1), (0.1, math.nan, 0.1), (0.9, -0.9, 0.9)])
def test_impossible_correlations_are_refused(correlations: tuple[float, float, float]) -> None:
    with pytest.raises(InputError, match="orrelations"):
        compare_correlations(*correlations, n=20)


def test_the_chosen_best_is_corrected_over_all_pairs_of_scores() -> None:
    random = np.random.default_rng(7)
    human = random.normal(size=40)
    scores = np.stack([human + noise * random.normal(size=40) for noise in (0.3, 0.6, 1.5)] + [np.full(40, 2.0)])
    scores[1, :3] = np.nan
    p = [williams_test(human, scores[i], scores[j]).p_value for i, j in ((0, 1), (0, 2), (1, 2))]
    found = best_against_others(human, scores, 0)
    # Holm by hand: the least times 3, the next times 2, and none below one before; a constant score has no test.
    order = np.argsort(p)
    steps = np.maximum.accumulate([min(1, factor * p[index]) for factor, index in zip((3, 2, 1), order, strict=True)])
    by_pair = dict(zip(order.tolist(), steps.tolist(), strict=True))
    np.testing.assert_array_equal(found, [math.nan, by_pair[0], by_pair[1], math.nan])
    assert found[1] >= p[0] and found[2] >= p[1]
    # Two scores are one comparison: nothing to correct.
    assert best_against_others(human, scores[[0, 2]], 0)[1] == p[1]
    assert np.isnan(best_against_others(human, scores[:1], 0)).all()


def test_after_the_choice_of_the_best_a_false_difference_is_found_in_5_per_cent_at_most() -> None:
    # Six scores follow the human's equally well, so every difference that the best seems to have is false.
    random, n_studies = np.random.default_rng(11), 600
    rejected = of_the_chosen_alone = 0
    for _ in range(n_studies):
        human = random.normal(size=50)
        scores = human + 1.5 * random.normal(size=(6, 50))
        best = int(np.argmax([np.corrcoef(human, values)[0, 1] for values in scores]))
        rejected += np.nanmin(best_against_others(human, scores, best)) < 0.05
        alone = [williams_test(human, scores[best], scores[other]).p_value for other in range(6) if other != best]
        of_the_chosen_alone += holm(alone).min() < 0.05
    assert rejected / n_studies <= 0.06
    assert of_the_chosen_alone / n_studies > 0.06  # what it is corrected over all pairs for
