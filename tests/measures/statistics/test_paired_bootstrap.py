"""The paired bootstrap: worked by hand, against scipy's, and by its properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from engine.errors import InputError
from engine.measures.statistics.paired_bootstrap import paired_bootstrap

RANDOM = np.random.default_rng(5)
FIRST = RANDOM.normal(0.3, 1, 200)
SECOND = FIRST + RANDOM.normal(-0.1, 0.5, 200)


def test_interval_is_that_of_scipys_percentile_bootstrap() -> None:
    found = paired_bootstrap(FIRST, SECOND, resamples=20_000)
    peer = bootstrap((FIRST - SECOND,), np.mean, method="percentile", n_resamples=20_000, random_state=1)
    assert found.difference == pytest.approx((FIRST - SECOND).mean())
    assert (found.ci_low, found.ci_high) == pytest.approx(peer.confidence_interval, abs=0.004)


def test_two_items_have_the_three_means_that_draws_can_give() -> None:
    # of four draws of two items one is (1, 1), one (3, 3), two have the mean 2
    found = paired_bootstrap([1.0, 3.0], [0.0, 0.0], resamples=4000)
    assert (found.difference, found.ci_low, found.ci_high) == (2.0, 1.0, 3.0)
    assert found.p_value == pytest.approx(2 / 4001)


def test_groups_are_drawn_whole() -> None:
    # the two items of a group are no independent witnesses: their interval is that of one item a group
    values = RANDOM.normal(0, 1, 50)
    twice = paired_bootstrap(np.repeat(values, 2), np.zeros(100), list(np.repeat(np.arange(50), 2)), seed=3)
    once = paired_bootstrap(values, np.zeros(50), seed=3)
    assert (twice.ci_low, twice.ci_high, twice.p_value) == pytest.approx((once.ci_low, once.ci_high, once.p_value))
    alone = paired_bootstrap(np.repeat(values, 2), np.zeros(100), seed=3)
    assert alone.ci_high - alone.ci_low < 0.85 * (once.ci_high - once.ci_low)


def test_the_interval_covers_and_the_test_holds_its_level() -> None:
    """Over 300 draws of 60 items without a difference: 95% cover 0, and 5% are called significant; ± 3 errors."""
    random = np.random.default_rng(11)
    found = [
        paired_bootstrap(random.normal(0, 1, 60), random.normal(0, 1, 60), resamples=400, seed=seed)
        for seed in range(300)
    ]
    covered = np.mean([test.ci_low <= 0 <= test.ci_high for test in found])
    assert 0.90 <= covered <= 0.985
    assert np.mean([test.p_value < 0.05 for test in found]) <= 0.10


def test_what_is_undefined_has_a_reason() -> None:
    assert paired_bootstrap([], []).reason and np.isnan(paired_bootstrap([], []).difference)
    alone = paired_bootstrap([1.0, np.nan], [0.5, 1.0])
    assert (alone.n, alone.difference) == (1, 0.5) and alone.reason and np.isnan(alone.p_value)
    with pytest.raises(InputError, match="same items; got 2 and 1"):
        paired_bootstrap([1.0, 2.0], [1.0])


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=20))
def test_sides_exchanged_turn_the_sign(pairs: list[tuple[float, float]]) -> None:
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    one, other = paired_bootstrap(first, second, resamples=50), paired_bootstrap(second, first, resamples=50)
    assert one.difference == pytest.approx(-other.difference, abs=1e-12)
    assert 0 < one.p_value <= 1 and one.ci_low <= one.ci_high


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_difference_of_none_counts_on_both_sides(sign: float) -> None:
    # of four draws of the differences (1, 0) one has the mean 0: it is no draw above and none below
    found = paired_bootstrap([sign, 5.0], [0.0, 5.0], resamples=4000)
    assert found.p_value == pytest.approx(2 / 4, abs=0.03)
