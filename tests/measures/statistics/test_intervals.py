"""Wilson's interval: by hand, as published, as scipy gives it, and by its properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from engine.errors import InputError
from engine.measures.statistics.intervals import wilson_interval


def test_by_hand() -> None:
    # 1 of 2, z = 1.959964, z^2 = 3.841459: shrink = 1 + 3.841459 / 2 = 2.920729
    # centre = (0.5 + 3.841459 / 4) / 2.920729 = 0.5
    # half = 1.959964 / 2.920729 * sqrt(0.25 / 2 + 3.841459 / 16) = 0.671053 * sqrt(0.365091) = 0.405469
    assert wilson_interval(1, 2) == pytest.approx((0.094531, 0.905469), abs=1e-6)  # six decimals by hand


# Newcombe 1998 (Statistics in Medicine 17), table I, method 3: the score interval without correction, four decimals.
@pytest.mark.parametrize(
    ("n_correct", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_published_table(n_correct: int, n: int, low: float, high: float) -> None:
    found = wilson_interval(n_correct, n)
    assert [round(end, 4) for end in found] == [low, high]


def test_331_pairs_at_three_quarters_are_known_to_five_points() -> None:
    low, high = wilson_interval(248, 331)
    assert (high - low) / 2 == pytest.approx(0.047, abs=0.0005)


@settings(max_examples=100)
@given(n=st.integers(1, 5000), share=st.floats(0, 1), confidence=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_equals_scipy_and_holds_the_share(n: int, share: float, confidence: float) -> None:
    k = round(share * n)
    low, high = wilson_interval(k, n, confidence)
    expected = binomtest(k, n).proportion_ci(confidence, method="wilson")
    # the same formula in another order of operations; near 0 the difference of two near numbers
    assert [low, high] == pytest.approx([expected.low, expected.high], rel=1e-9, abs=1e-12)
    assert 0 <= low <= k / n <= high <= 1
    # wrong answers counted instead of right ones: the mirror image
    assert wilson_interval(n - k, n, confidence) == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_more_pairs_or_less_confidence_make_it_narrower() -> None:
    def width(k: int, n: int, confidence: float = 0.95) -> float:
        low, high = wilson_interval(k, n, confidence)
        return high - low

    assert width(750, 1000) < width(75, 100) < width(3, 4)
    assert width(75, 100, 0.5) < width(75, 100, 0.95) < width(75, 100, 0.99)


def test_whole_columns_at_once_equal_one_by_one() -> None:
    n = np.array([0, 1, 20, 331, 67_000])
    k = np.array([0, 1, 0, 248, 45_000])
    low, high = wilson_interval(k, n)
    for index in range(len(n)):
        np.testing.assert_array_equal(wilson_interval(int(k[index]), int(n[index])), (low[index], high[index]))


def test_none_of_none_is_unknown() -> None:
    assert all(math.isnan(end) for end in wilson_interval(0, 0))


def test_ends_are_exact() -> None:
    assert wilson_interval(0, 7)[0] == 0.0 and wilson_interval(7, 7)[1] == 1.0


@pytest.mark.parametrize(("n_correct", "n"), [(3, 2), (-1, 2), (0, -1)])
def test_impossible_counts_are_refused(n_correct: int, n: int) -> None:
    with pytest.raises(InputError, match="between 0 and the number of answers"):
        wilson_interval(n_correct, n)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, math.nan])
def test_impossible_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(InputError, match="must be between 0 and 1"):
        wilson_interval(1, 2, confidence)
