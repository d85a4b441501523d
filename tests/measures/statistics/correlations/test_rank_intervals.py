"""The intervals of rank correlations: how often they hold the truth, and how few pairs they may come from."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from engine.measures.statistics.correlations import rank_intervals as module
from engine.measures.statistics.correlations.correlation import Correlation, kendall, pearson, spearman

MEASURES = {"spearman": spearman, "kendall": kendall}


def truths(r: float, levels: int) -> tuple[float, float]:
    """Spearman's and Kendall's of normal pairs of correlation r, whose second column has so many levels (0: all)."""
    if not levels:
        return 6 / np.pi * math.asin(r / 2), 2 / np.pi * math.asin(r)
    x, y = pairs(np.random.default_rng(5), r, 20_000, levels)
    return spearman(x, y).value, kendall(x, y).value


def pairs(random: np.random.Generator, r: float, n: int, levels: int) -> tuple[np.ndarray, np.ndarray]:
    x = random.normal(size=n)
    y = r * x + math.sqrt(1 - r**2) * random.normal(size=n)
    return (x, y) if not levels else (levelled(x, levels), levelled(y, levels))


def levelled(values: np.ndarray, levels: int) -> np.ndarray:
    return np.clip(np.floor((values + 1.5) / 3 * levels), 0, levels - 1)


@pytest.mark.parametrize(
    ("n", "levels", "least"),
    [
        # Before, at r = 0.79 a perfect order of 4 was the interval [1, 1]: 73% for Spearman, and fewer for Kendall.
        (4, 0, 0.93),
        (8, 0, 0.93),
        (30, 0, 0.93),
        # The formula of Fieller, Hartley and Pearson covers 86 to 89% here, and 70% at r = 0.99.
        (12, 5, 0.90),
        (40, 5, 0.92),
    ],
)
@pytest.mark.parametrize("r", [0.0, 0.8, 0.97])
def test_intervals_hold_the_truth_as_often_as_they_say(n: int, levels: int, least: float, r: float) -> None:
    random, expected, draws = np.random.default_rng(n), truths(r, levels), 400
    held, measured = np.zeros(2), 0
    while measured < draws:
        x, y = pairs(random, r, n, levels)
        if np.ptp(x) and np.ptp(y):
            measured += 1
            found = spearman(x, y), kendall(x, y)
            held += [one.ci_low <= truth <= one.ci_high for one, truth in zip(found, expected, strict=True)]
    assert (held / draws >= least - 0.015).all()  # a standard error of a share of 0.95 is 0.011


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("n", [3, 4, 5, 8, 19, 20, 200])
def test_a_perfect_order_has_a_lower_end_below_it(name: str, n: int) -> None:
    found = MEASURES[name](np.arange(n), np.exp(np.arange(n) / n))
    assert found.value == pytest.approx(1, abs=1e-15) and found.ci_high == 1 and found.ci_low < 0.999
    opposite = MEASURES[name](np.arange(n), -np.arange(n))
    assert (opposite.ci_low, opposite.ci_high) == pytest.approx((-1, -found.ci_low), abs=1e-12)


def test_the_lower_end_at_a_perfect_order_of_three_is_where_it_is_one_in_forty() -> None:
    # Drawn here by another rule and oftener; the grid's 10,000 draws have a standard error of 0.0016.
    low = kendall([1, 2, 3], [1, 2, 3]).ci_low
    r = math.sin(np.pi / 2 * low)
    random = np.random.default_rng(11)
    x = random.standard_normal((300_000, 3))
    y = r * x + math.sqrt(1 - r**2) * random.standard_normal(x.shape)
    perfect = (np.argsort(x, axis=1) == np.argsort(y, axis=1)).all(axis=1).mean()
    assert perfect == pytest.approx(0.025, abs=0.004)


def test_a_line_and_two_values_that_agree_throughout_are_not_certain() -> None:
    # 1 - 2 (1 - 0.025^(1/10)) = 0.3831, and of 40 pairs 0.8239
    assert pearson(np.arange(10), 3 * np.arange(10)).ci_low == pytest.approx(2 * 0.025**0.1 - 1)
    two = np.arange(40) % 2
    for measure in (pearson, spearman, kendall):
        found = measure(two, two)
        assert found.value == 1 and found.ci_low == pytest.approx(2 * 0.025 ** (1 / 40) - 1) and found.ci_high == 1


@pytest.mark.parametrize("name", MEASURES)
def test_what_is_drawn_are_all_orders_alike_where_nothing_is_correlated(name: str) -> None:
    orders = np.array(list(permutations(range(4))))
    exact = np.bincount(module._inversions(orders)[name]) / 24
    drawn = np.diff(module._drawn(4)[name][len(module.GRID) // 2], prepend=0)
    np.testing.assert_allclose(drawn, exact, atol=0.012)  # three standard errors of 10,000 draws


@pytest.mark.parametrize("levels", [2, 4, 1000])
@pytest.mark.parametrize("n", [1, 2, 7, 64, 65])
def test_the_couples_of_each_pair_are_counted_as_by_a_loop(n: int, levels: int) -> None:
    random = np.random.default_rng(n)
    a, b = random.integers(0, levels, n), random.integers(0, levels, n)
    by_loop = [sum(int(np.sign(a[i] - a[j]) * np.sign(b[i] - b[j])) for j in range(n)) for i in range(n)]
    assert module._concordant_minus_discordant(a, b).tolist() == by_loop


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("levels", [0, 4])
def test_the_spread_of_the_influences_is_that_of_a_jackknife(name: str, levels: int) -> None:
    x, y = pairs(np.random.default_rng(2), 0.6, 300, levels)
    left_out = [MEASURES[name](np.delete(x, i), np.delete(y, i)).value for i in range(300)]
    jackknife = math.sqrt(299**2 / 300 * np.var(left_out))  # of the plain jackknife: equal but for terms of 1/n
    influences = (
        module._spearman_influences(x, y)
        if name == "spearman"
        else module._kendall_influences(x, y, kendall(x, y).value)
    )
    assert math.sqrt(influences.var(ddof=1) / 300) == pytest.approx(jackknife, rel=0.01)
    found = MEASURES[name](x, y)
    half = 1.968 * jackknife / (1 - found.value**2)  # t of 298 degrees of freedom
    of_normal = math.sqrt((1 + found.value**2 / 2) / 297 if name == "spearman" else 0.437 / 296)
    assert np.arctanh(found.ci_high) - np.arctanh(found.value) == pytest.approx(max(half, 1.968 * of_normal), rel=0.01)


@pytest.mark.parametrize("measure", [spearman, kendall])
def test_a_value_that_nearly_all_pairs_have_leaves_nothing_claimed(measure: Callable[..., Correlation]) -> None:
    rare = np.zeros(100)
    rare[:9] = 1
    found = measure(rare, np.arange(100))
    assert -1 < found.value < 0 and (found.ci_low, found.ci_high) == (-1, 1)
    rare[9] = 1
    found = measure(rare, np.arange(100))
    assert -1 < found.ci_low < found.value < found.ci_high < 0


@pytest.mark.parametrize("measure", [spearman, kendall])
@pytest.mark.parametrize("n", [10, 11, 20, 21, 50])
def test_influences_that_happen_to_be_equal_make_no_sliver(measure: Callable[..., Correlation], n: int) -> None:
    swapped = np.arange(n) ^ 1  # every two neighbours
    in_pairs = np.arange(n) // 2
    for found in (measure(np.arange(n), swapped), measure(in_pairs, np.arange(n))):
        assert found.ci_low < found.value - 0.3 * (1 - found.value)
