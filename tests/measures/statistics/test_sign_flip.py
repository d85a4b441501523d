"""The sign-flip test: by hand, against scipy, by simulation, and by its properties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import permutation_test

from engine.errors import InputError
from engine.measures.statistics.sign_flip import MOST_GROUPS, sign_flip_test


def test_by_hand() -> None:
    # differences 1, 2, 3: of the 8 choices of signs, +6 and -6 reach 6: p = 2 / 8; no p of 3 items is below 0.25
    found = sign_flip_test([1.0, 3.0, 5.0], [0.0, 1.0, 2.0])
    assert (found.n, found.difference, found.p_value) == (3, 2.0, 0.25)
    assert np.isnan(found.ci_low) and "fewer than 6" in found.reason
    # differences 1 to 6: 64 choices, k = floor(1.6) = 1: from the least mean of a subset to the largest; p = 2 / 64
    found = sign_flip_test(np.arange(1.0, 7.0), np.zeros(6))
    assert (found.ci_low, found.ci_high, found.p_value, found.reason) == (1.0, 6.0, 2 / 64, "")


@pytest.mark.parametrize("n", [2, 5, 9, 12])
def test_p_is_that_of_scipy(n: int) -> None:
    random = np.random.default_rng(n)
    first, second = random.normal(0.4, 1, n), random.normal(0, 1, n)
    reference = permutation_test(
        (first, second),
        lambda one, other: np.mean(one - other),
        vectorized=False,
        permutation_type="samples",
        n_resamples=np.inf,
    )
    assert sign_flip_test(first, second).p_value == pytest.approx(reference.pvalue, rel=1e-12)  # the same count


def test_whole_groups_are_flipped() -> None:
    values = np.random.default_rng(1).normal(0.5, 1, 8)
    twice = sign_flip_test(np.repeat(values, 2), np.zeros(16), list(np.repeat(np.arange(8), 2)))
    once = sign_flip_test(values, np.zeros(8))
    assert (twice.p_value, twice.n) == (once.p_value, 16)
    assert (twice.ci_low, twice.ci_high) == pytest.approx((once.ci_low, once.ci_high))
    assert sign_flip_test(np.repeat(values, 2), np.zeros(16)).p_value < once.p_value


@pytest.mark.parametrize("n", [6, 10, 15])
def test_type_one_error_and_coverage_at_small_n(n: int) -> None:
    # 400 draws: two standard errors of a share of 0.05 are 0.022. The test is exact: it rejects at most 5%.
    random = np.random.default_rng(n)
    found = [sign_flip_test(random.normal(0.3, 1, n), np.full(n, 0.3)) for _ in range(400)]
    assert np.mean([test.p_value <= 0.05 for test in found]) < 0.05 + 0.022
    for test in found:  # the interval holds 0 just where the test does not reject
        assert (test.p_value <= 0.05) == (test.ci_low > 0 or test.ci_high < 0)


def test_edges() -> None:
    assert sign_flip_test([], []).reason and np.isnan(sign_flip_test([], []).difference)
    alone = sign_flip_test([1.0, np.nan], [0.5, 1.0])
    assert (alone.n, alone.difference) == (1, 0.5) and np.isnan(alone.p_value) and alone.reason
    same = sign_flip_test(np.ones(7), np.ones(7))
    assert (same.p_value, same.ci_low, same.ci_high) == (1.0, 0.0, 0.0)
    with pytest.raises(InputError, match="same items"):
        sign_flip_test([1.0, 2.0], [1.0])
    with pytest.raises(InputError, match="at most 20 groups"):
        sign_flip_test(np.ones(MOST_GROUPS + 1), np.zeros(MOST_GROUPS + 1))


def test_exchanged_sides_turn_the_interval() -> None:
    first, second = np.random.default_rng(3).normal(size=(2, 11))
    one, other = sign_flip_test(first, second), sign_flip_test(second, first)
    assert one.p_value == other.p_value and (one.ci_low, one.ci_high) == pytest.approx((-other.ci_high, -other.ci_low))
