"""Shares and differences over clusters: worked by hand, coverage by simulation, properties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from engine.errors import InputError
from engine.measures.statistics.clustered import clustered_difference, clustered_share, detectable_difference
from engine.measures.statistics.intervals import wilson_interval
from engine.measures.statistics.paired_difference import paired_difference


def beta_clusters(generator: np.random.Generator, n_clusters: int, size: int, share: float, correlation: float
                  ) -> np.ndarray:
    """Whether each answer is right, bool (n_clusters, size), with that correlation of two answers of a cluster."""
    total = 1 / correlation - 1  # of a beta distribution: the correlation is 1 / (a + b + 1)
    shares = generator.beta(share * total, (1 - share) * total, size=(n_clusters, 1))
    return generator.random((n_clusters, size)) < shares


def test_a_share_by_hand() -> None:
    # 8 answers, 5 right, p = 5/8. Clusters a: 3 of 3, b: 0 of 2, c: 2 of 3.
    # Sums of deviations: 3 - 15/8 = 9/8, 0 - 10/8 = -10/8, 2 - 15/8 = 1/8. Squares: (81 + 100 + 1) / 64 = 182/64.
    # s² = 3/2 · 182/64 / 64 = 0.066650; independent: 15/64 / 8 = 0.029297; n' = 15/64 / 0.066650 = 3.51648.
    share = clustered_share([1, 1, 1, 0, 0, 1, 1, 0], list("aaabbccc"))
    assert (share.n, share.n_clusters, share.share) == (8, 3, 0.625)
    assert share.standard_error == pytest.approx(np.sqrt(273 / 4096))
    assert share.design_effect == pytest.approx(8 / (960 / 273))
    # t of 2 degrees at 97.5 % is 4.302653, t² = 18.512821, t² / n' = 5.264583 (tables)
    # centre = (0.625 + 2.632292) / 6.264583 = 0.519953
    # half = 4.302653 / 6.264583 · sqrt(0.066650 + 18.512821 / (4 · 12.365656)) = 0.686822 · sqrt(0.440928) = 0.456064
    assert (share.ci_low, share.ci_high) == pytest.approx((0.0639, 0.9760), abs=5e-5)


def test_a_difference_by_hand() -> None:
    # differences by cluster: a 1, 0; b 1, 1; c 0, -1: mean 2/6. Deviations' sums: 1 - 2/3, 2 - 2/3, -1 - 2/3
    # squares (1 + 16 + 25) / 9 = 42/9; s² = 3/2 · 42/9 / 36 = 7/36; t = (1/3) / (sqrt(7)/6) = 2 / sqrt(7)
    test = clustered_difference([1, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1], list("aabbcc"))
    assert test.difference == pytest.approx(1 / 3) and test.standard_error == pytest.approx(np.sqrt(7) / 6)
    # Student's with 2 degrees has P(|T| > t) = 1 - t / sqrt(2 + t²) = 1 - sqrt(4/7 / (18/7)) = 1 - sqrt(2/9)
    assert test.p_value == pytest.approx(1 - np.sqrt(2 / 9))
    assert (test.ci_high - test.ci_low) / 2 == pytest.approx(4.302653 * np.sqrt(7) / 6, rel=1e-6)


def test_every_answer_its_own_cluster_is_the_paired_t_test() -> None:
    generator = np.random.default_rng(1)
    first, second = generator.random(80) < 0.7, generator.random(80) < 0.5
    test = clustered_difference(first, second, np.arange(80))
    reference = stats.ttest_rel(first.astype(float), second.astype(float))
    interval = reference.confidence_interval(0.95)
    assert test.p_value == pytest.approx(reference.pvalue)
    assert (test.ci_low, test.ci_high) == pytest.approx((interval.low, interval.high))
    items = generator.integers(0, 9, 80)
    paired = paired_difference(first, second, items, np.zeros(80))
    clustered = clustered_difference(first, second, items)
    assert (clustered.ci_low, clustered.ci_high) == pytest.approx((paired.ci_low, paired.ci_high))


def test_many_clusters_of_one_answer_are_wilsons_interval() -> None:
    right = np.arange(40_000) % 4 > 0  # t of 39,999 degrees is z to 4e-5, and s² has n - 1 where Wilson's has n
    share = clustered_share(right, np.arange(right.size))
    assert (share.ci_low, share.ci_high) == pytest.approx(wilson_interval(30_000, 40_000), abs=2e-7)
    # Each answer copied five times in its cluster says no more than once.
    copied = clustered_share(np.repeat(right[:40], 5), np.repeat(np.arange(40), 5))
    once = clustered_share(right[:40], np.arange(40))
    assert (once.design_effect, copied.design_effect) == pytest.approx((40 / 39, 200 / 39))  # n' = G - 1 = 39 in both
    assert (copied.ci_low, copied.ci_high) == pytest.approx((once.ci_low, once.ci_high))


@pytest.mark.parametrize(("share", "correlation", "n_clusters"), [(0.75, 0.15, 67), (0.7, 0.3, 30), (0.6, 0.02, 40)])
def test_the_interval_of_a_share_covers_the_truth(share: float, correlation: float, n_clusters: int) -> None:
    generator, codes = np.random.default_rng(7), np.repeat(np.arange(n_clusters), 20)
    covered, naive = 0, 0
    for _ in range(2000):  # the error of the coverage is 0.5 points
        right = beta_clusters(generator, n_clusters, 20, share, correlation).ravel()
        interval = clustered_share(right, codes)
        covered += interval.ci_low <= share <= interval.ci_high
        low, high = wilson_interval(int(right.sum()), right.size)
        naive += low <= share <= high
    assert 0.93 <= covered / 2000 <= 0.97
    assert naive < covered  # independence claims too much


def test_the_interval_of_a_difference_covers_the_truth_and_its_test_keeps_its_level() -> None:
    generator, codes = np.random.default_rng(8), np.repeat(np.arange(40), 15)
    covered, rejected = 0, 0
    for _ in range(2000):
        first, second = (beta_clusters(generator, 40, 15, 0.7, 0.2).ravel() for _ in range(2))
        test = clustered_difference(first, second, codes)
        covered += test.ci_low <= 0 <= test.ci_high
        rejected += test.p_value < 0.05
    assert 0.93 <= covered / 2000 <= 0.97 and rejected == 2000 - covered


def test_a_detectable_difference_is_detected_as_often_as_the_power_says() -> None:
    # 30 clusters with differences of mean d and standard deviation 1/sqrt(12): s = sqrt(1/12/30).
    generator, error = np.random.default_rng(9), np.sqrt(1 / 12 / 30)
    size = detectable_difference(error, 30)
    shifted = generator.random((4000, 30)) - 0.5 + size
    t = shifted.mean(axis=1) / (shifted.std(axis=1, ddof=1) / np.sqrt(30))
    assert (np.abs(t) > stats.t.ppf(0.975, 29)).mean() == pytest.approx(0.8, abs=0.02)


def test_edges() -> None:
    one = clustered_share([1, 0, 1], [1, 1, 1])
    assert one.share == pytest.approx(2 / 3) and np.isnan([one.ci_low, one.ci_high, one.standard_error]).all()
    assert np.isnan(clustered_share([], []).share)
    # All right in 10 clusters of 5: as 10 answers would say, with t of 9 degrees (2.262157): low = 1 / (1 + t² / 10)
    full = clustered_share(np.ones(50), np.repeat(np.arange(10), 5))
    assert full.ci_high == 1 and full.ci_low == pytest.approx(1 / (1 + 2.262157**2 / 10), abs=1e-6)
    assert full.design_effect == 5
    assert clustered_difference([1, 0], [1, 0], [1, 2]).p_value == 1
    assert clustered_difference([1] * 6, [0] * 6, [1, 1, 2, 2, 3, 3]).p_value == 0.25  # 2 of 8 changes of signs
    assert np.isnan(clustered_difference([1, 0], [0, 0], [1, 1]).p_value)
    assert np.isnan([detectable_difference(0, 9), detectable_difference(np.nan, 9), detectable_difference(1, 1)]).all()
    with pytest.raises(InputError, match="3 answers and 2 clusters"):
        clustered_share([1, 0, 1], [1, 2])
    with pytest.raises(InputError, match="power lies between"):
        detectable_difference(0.1, 9, power=0.3)
    with pytest.raises(InputError, match="between 0 and 1"):
        clustered_share([1], [1], confidence=1)
