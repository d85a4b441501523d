"""Means over clusters and their intervals: how often they hold the truth, by hand, and by their properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from engine.errors import InputError
from engine.measures.statistics import clustered_means as module
from engine.measures.statistics.clustered_means import clustered_means

BETAS = [(1, 8), (0.3, 3), (0.1, 1), (2, 2)]  # the last is symmetric, the others have a long tail to the right


def skewed(random: np.random.Generator, shape: tuple[float, float], n: int) -> np.ndarray:
    """Five sentences of each of n words, (5 n,)."""
    return np.clip(np.repeat(random.beta(*shape, n), 5) + random.normal(0, 0.005, 5 * n), 0, 1)


@pytest.mark.parametrize("shape", BETAS)
@pytest.mark.parametrize("n", [20, 50])
def test_the_interval_covers_at_its_nominal_rate(n: int, shape: tuple[float, float]) -> None:
    """Of 400 draws, whose share has a standard error of 0.011; a percentile interval of 20 words covers 87 to 93%."""
    random, words, draws = np.random.default_rng(n), np.repeat(np.arange(n), 5), 400
    truth, held = shape[0] / sum(shape), 0
    for draw in range(draws):
        found = clustered_means([skewed(random, shape, n)], words, resamples=400, seed=draw)
        held += bool(found.low[0] <= truth <= found.high[0])
    assert 0.93 - 0.011 <= held / draws <= 0.97 + 0.011


@pytest.mark.parametrize("shape", BETAS)
@pytest.mark.parametrize("n", [5, 20])
def test_equal_ones_are_told_apart_as_seldom_as_they_say(n: int, shape: tuple[float, float]) -> None:
    """Percentile intervals tell 17 to 21% of 5 words apart."""
    random, words, draws = np.random.default_rng(n), np.repeat(np.arange(n), 5), 500
    apart = 0
    for _ in range(draws):
        found = clustered_means([skewed(random, shape, n) - skewed(random, shape, n)], words, by_t=True)
        apart += bool(found.low[0] > 0 or found.high[0] < 0)
    assert apart / draws <= 0.05 + 2 * 0.0098


def test_the_standard_error_by_hand() -> None:
    # Clusters 1 1 | 2 | 4 | 5 5 | 8, n = 7, m = 26/7: z = -38/7, -12/7, 2/7, 18/7, 30/7 with Σ z = 0 and
    # Σ z² = (1444 + 144 + 4 + 324 + 900) / 49 = 2816/49; s² = 5/4 · 2816/49 / 49
    found = clustered_means([[1, 1, 2, 4, 5, 5, 8]], [1, 1, 2, 3, 4, 4, 5], by_t=True)
    half = stats.t.ppf(0.975, 4) * math.sqrt(5 / 4 * 2816 / 49 / 49)
    assert (found.mean[0], found.low[0], found.high[0]) == pytest.approx((26 / 7, 26 / 7 - half, 26 / 7 + half))


def test_the_distances_are_those_of_a_loop() -> None:
    random = np.random.default_rng(0)
    sizes = random.integers(1, 4, 9)
    words, members = np.repeat(np.arange(9), sizes), [np.arange(4), np.arange(4, 9)]
    values = random.normal(size=(2, len(words)))
    values -= values.mean(axis=1, keepdims=True)
    sums = np.stack([np.bincount(words, weights=row) for row in values], axis=1)
    parts = [module._parts(sums[its], sizes[its].astype(float)) for its in members]
    found = module._distances(parts, 30, 5)
    draws = np.random.default_rng(5)
    counts = [draws.multinomial(len(its), np.full(len(its), 1 / len(its)), size=30) for its in members]
    compared = 0
    for number in range(30):
        drawn = [np.repeat(its, count[number]) for its, count in zip(members, counts, strict=True)]
        for column in range(2):
            chosen = [[values[column][words == word] for word in its] for its in drawn]
            everything = np.concatenate([one for its in chosen for one in its])
            sums_of_words = [np.array([(one - everything.mean()).sum() for one in its]) for its in chosen]
            error = math.sqrt(sum(z.var(ddof=1) * len(z) for z in sums_of_words)) / len(everything)
            observed = module._means_and_errors(parts, [np.ones((1, 4)), np.ones((1, 5))])[1][0, column]
            if error > module.LEAST_SPREAD * observed:
                compared += 1
                assert found[number, column] == pytest.approx(everything.mean() / error)
    assert compared > 50


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values, words = np.random.default_rng(1).uniform(size=(2, 40)), np.arange(40) // 2
    whole = clustered_means(values, words, seed=7)
    monkeypatch.setattr(module, "_BLOCK_NUMBERS", 300)
    again = clustered_means(values, words, seed=7)
    np.testing.assert_allclose([again.low, again.high], [whole.low, whole.high], rtol=1e-12)


def test_strata_of_one_cluster_are_drawn_together() -> None:
    assert [its.tolist() for its in module._members(np.array([0, 1, 2, 2, 2]))] == [[0, 1], [2, 3, 4]]
    assert [its.tolist() for its in module._members(np.array([0, 1, 1, 2, 2, 2]))] == [[0, 1, 2], [3, 4, 5]]
    assert [its.tolist() for its in module._members(np.array([0, 0, 0]))] == [[0, 1, 2]]
    found = clustered_means([np.random.default_rng(0).normal(size=12)], np.arange(12), np.arange(12))  # each its own
    assert found.low[0] < found.mean[0] < found.high[0]


def test_what_has_no_spread_has_no_interval() -> None:
    found = clustered_means([[0.25] * 30, [0.1] * 30, np.arange(30)], np.arange(30) // 2)
    assert np.isnan(found.low).tolist() == np.isnan(found.high).tolist() == [True, True, False]
    few = clustered_means([np.arange(8)], np.arange(8) // 2)
    assert few.n_clusters == 4 and few.mean[0] == 3.5 and np.isnan([few.low[0], few.high[0]]).all()


@pytest.mark.parametrize(("columns", "clusters"), [([[1, 2]], [1]), ([1, 2], [1, 2]), ([[]], [])])
def test_what_does_not_fit_is_refused(columns: list, clusters: list) -> None:
    with pytest.raises(InputError, match="do not fit"):
        clustered_means(columns, clusters)


def test_a_confidence_beyond_0_and_1_is_refused() -> None:
    with pytest.raises(InputError, match="confidence"):
        clustered_means([[1, 2]], [1, 2], confidence=1)


@pytest.mark.parametrize("n_large", [1, 3, 10])
def test_a_few_large_values_among_many_small_ones_leave_an_end(n_large: int) -> None:
    """Of 1,000 words of which three are probable, a resample in twenty draws none of them."""
    values = np.random.default_rng(0).uniform(0, 1e-5, 1000)
    values[:n_large] = 0.6
    found = clustered_means([values], np.arange(1000))
    # The exact upper end of a count of n_large is 5.6, 8.8 and 18.4 (Poisson).
    assert {1: 5.0, 3: 8.0, 10: 17.0}[n_large] * 0.6e-3 < found.high[0] < 12 * n_large * 0.6e-3


def test_the_order_of_the_answers_changes_nothing() -> None:
    random = np.random.default_rng(0)
    values, words, order = random.uniform(size=60), np.arange(60) // 3, random.permutation(60)
    first, second = clustered_means([values], words), clustered_means([values[order]], words[order])
    assert (first.low[0], first.high[0]) == pytest.approx((second.low[0], second.high[0]), rel=1e-9)


def test_a_difference_by_rounding_is_none() -> None:
    p = np.random.default_rng(0).uniform(size=30)
    found = clustered_means([np.nextafter(p, 1) - p], np.arange(30), by_t=True, rounding=1e-7)
    assert np.isnan([found.low[0], found.high[0]]).all()
