"""Pearson, Spearman, Kendall: by hand, as published, as scipy has them, and by their properties."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from engine.errors import InputError
from engine.measures.statistics.correlations.correlation import Correlation, kendall, pearson, spearman

Measure = Callable[..., Correlation]
ALL: tuple[Measure, ...] = (pearson, spearman, kendall)
# statpsych 2.0 (Bonett), example of ci.spear
Y = [21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19]
X = [67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51]


def columns(seed: int, n: int, slope: float = 0.7, levels: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    x = random.normal(size=n)
    y = slope * x + random.normal(size=n)
    return x, y if levels is None else np.round(y * levels / 4)


def test_by_hand() -> None:
    # x 1 2 3 4 5, y 2 1 4 3 5, both of mean 3: products (-2)(-1) + (-1)(-2) + 0 + 1*0 + 2*2 = 8; squares 10 and 10
    # r = 8 / 10, and the ranks are the numbers themselves.
    # artanh 0.8 = 1.098612; Fisher: 1.959964 / sqrt 2 = 1.385904, tanh(1.098612 -+ 1.385904) = -0.279640, 0.986195
    # Kendall: of 10 couples only (1,2) and (3,4) are turned round: (8 - 2) / 10 = 0.6
    x, y = [1, 2, 3, 4, 5], [2, 1, 4, 3, 5]
    for measure, value in ((pearson, 0.8), (spearman, 0.8), (kendall, 0.6)):
        found = measure(x, y)
        assert found.value == pytest.approx(value, rel=1e-15) and (found.n, found.reason) == (5, "")
    # six decimals by hand, from inputs of six decimals
    assert (pearson(x, y).ci_low, pearson(x, y).ci_high) == pytest.approx((-0.279640, 0.986195), abs=3e-6)


def test_ties_by_hand() -> None:
    # x 1 1 2, y 1 2 3: ranks 1.5 1.5 3 and 1 2 3, of mean 2; products 0.5 + 0 + 1 = 1.5, squares 1.5 and 2
    # rho = 1.5 / sqrt 3; couples: one tied in x, two in the same order: (2 - 0) / sqrt((2 + 1) * 2)
    assert spearman([1, 1, 2], [1, 2, 3]).value == pytest.approx(1.5 / math.sqrt(3), rel=1e-15)
    assert kendall([1, 1, 2], [1, 2, 3]).value == pytest.approx(2 / math.sqrt(6), rel=1e-15)


def test_published_spearman() -> None:
    # printed by ci.spear(.05, y, x), which forms the interval otherwise: 0.8699639 0.5840951 0.9638297
    found = spearman(Y, X)
    assert found.value == pytest.approx(0.8699639, abs=5e-8)
    assert 0.5 < found.ci_low < found.value < found.ci_high < 0.97


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), n=st.integers(5, 200), levels=st.sampled_from([None, 3, 12]))
def test_equal_scipys(seed: int, n: int, levels: int | None) -> None:
    x, y = columns(seed, n, levels=levels)
    if np.ptp(y) == 0:
        return
    expected = stats.pearsonr(x, y)
    found = pearson(x, y)
    low, high = expected.confidence_interval()
    # the same sums in another order
    assert (found.value, found.ci_low, found.ci_high) == pytest.approx((expected.statistic, low, high), abs=1e-12)
    assert spearman(x, y).value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert kendall(x, y).value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), n=st.integers(6, 60), shift=st.floats(-1e3, 1e3), scale=st.floats(1e-3, 1e3))
@pytest.mark.parametrize("measure", ALL)
def test_properties(measure: Measure, seed: int, n: int, shift: float, scale: float) -> None:
    x, y = columns(seed, n, levels=8)
    y += np.arange(n) * 1e-3
    found = measure(x, y)
    assert -1 <= found.ci_low <= found.value <= found.ci_high <= 1
    order = np.random.default_rng(seed).permutation(n)
    # rounding in sums of another order, and in columns of another size
    assert measure(y[order], x[order]).value == pytest.approx(found.value, abs=1e-9)
    assert measure(scale * x + shift, y).value == pytest.approx(found.value, abs=1e-6)
    mirrored = measure(-x, y)
    assert (mirrored.ci_low, mirrored.value) == pytest.approx((-found.ci_high, -found.value), abs=1e-9)
    narrow, wide = measure(x, y, 0.5), measure(x, y, 0.99)
    assert wide.ci_low <= found.ci_low <= narrow.ci_low <= narrow.ci_high <= found.ci_high <= wide.ci_high


@pytest.mark.parametrize("measure", [spearman, kendall])
def test_ranks_do_not_mind_how_far_apart_numbers_are(measure: Measure) -> None:
    x, y = columns(4, 50)
    assert measure(np.exp(5 * x), y**3) == measure(x, y)


@pytest.mark.parametrize("measure", ALL)
def test_missing_pairs_are_left_out_and_counted(measure: Measure) -> None:
    x, y = columns(1, 20)
    with_holes = measure(np.append(x, [math.nan, 5.0, math.nan]), np.append(y, [1.0, math.nan, math.nan]))
    assert with_holes == measure(x, y) and with_holes.n == 20


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ([3, 3, 3, 3], [1, 2, 3, 4], "score is 3 in all 4 pairs"),
        ([1, 2, 3, math.nan], [5, 5, 5, 7], "gold is 5 in all 3 pairs"),
        ([0.1 + 0.2, 0.3, 0.3], [1, 2, 3], "score is 0.3 in all 3 pairs"),
        ([1, 1, 1], [2, 2, 2], "score is 1 in all 3 pairs and gold is 2 in all 3 pairs"),
        ([1, 2], [2, 1], "at least 3 pairs; there are 2"),
        ([], [], "at least 3 pairs; there are 0"),
    ],
)
def test_undefined_is_nan_with_a_reason(measure: Measure, x: list[float], y: list[float], said: str) -> None:
    found = measure(x, y, names=("score", "gold"))
    assert all(math.isnan(value) for value in (found.value, found.ci_low, found.ci_high))
    assert said in found.reason


def test_too_few_pairs_for_an_interval() -> None:
    found = pearson(range(3), range(3))
    assert (found.value, found.ci_low, found.ci_high) == (1.0, -1.0, 1.0)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_very_small_and_very_large_numbers(scale: float) -> None:
    x, y = columns(2, 30)
    assert pearson(x * scale, y).value == pytest.approx(pearson(x, y).value, rel=1e-12)


@pytest.mark.parametrize("measure", ALL)
def test_what_cannot_be_measured_is_refused(measure: Measure) -> None:
    with pytest.raises(InputError, match=r"one length; got shapes \(2,\) and \(3,\)"):
        measure([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="finite"):
        measure([1, 2, math.inf], [1, 2, 3])
    with pytest.raises(InputError, match="between 0 and 1"):
        measure([1, 2, 3], [1, 2, 3], 95)


def test_the_arguments_are_not_written_to() -> None:
    x, y = columns(3, 10)
    before = x.copy(), y.copy()
    for measure in ALL:
        measure(x, y)
    np.testing.assert_array_equal((x, y), before)
