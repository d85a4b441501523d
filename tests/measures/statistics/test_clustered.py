"""Shares and differences over clusters: worked by hand, coverage by simulation, properties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from engine.errors import InputError
from engine.measures.statistics.clustered import (
    clustered_difference,
    clustered_share,
    detectable_difference,
    mean_share,
)
from engine.measures.statistics.intervals import wilson_interval
from engine.measures.statistics.paired_difference import paired_difference


def beta_clusters(
    generator: np.random.Generator, n_clusters: int, size: int, share: float, correlation: float
) -> np.ndarray:
    """Whether each answer is right, bool (n_clusters, size), with that correlation of two answers of a cluster."""
    total = 1 / correlation - 1  # of a beta distribution: the correlation is 1 / (a + b + 1)
    shares = generator.beta(share * total, (1 - share) * total, size=(n_clusters, 1))
    return generator.random((n_clusters, size)) < shares


def test_a_share_by_hand() -> None:
    # 12 answers, 7 right, p = 7/12. Clusters a: 3 of 3, b: 0 of 2, c: 2 of 3, d: 1 of 2, e: 1 of 2.
    # Sums of deviations in twelfths: 36 - 21 = 15, -14, 24 - 21 = 3, 12 - 14 = -2, -2.
    # s² = 5/4 · (225 + 196 + 9 + 4 + 4) / 144 / 144 = 5/4 · 438 / 20736 = 0.0264034
    # p (1 - p) = 35/144 = 0.243056; n' = 0.243056 / 0.0264034 = 9.20548
    share = clustered_share([1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0], list("aaabbcccddee"))
    assert (share.n, share.n_clusters, share.share) == (12, 5, 7 / 12)
    assert share.standard_error == pytest.approx(np.sqrt(5 / 4 * 438) / 144)
    assert share.design_effect == pytest.approx(12 / 9.20548, rel=1e-5)
    # t of 4 and 11 degrees at 97.5% are 2.776445 and 2.200985 (tables): m = 9.20548 · 0.628430 = 5.784988
    # p m = 3.374577: the ends leave 2.5% of Beta(3.374577, 3.410412) below and of Beta(4.374577, 2.410412) above them
    assert stats.beta.cdf(share.ci_low, 3.374577, 3.410412) == pytest.approx(0.025, abs=1e-6)
    assert stats.beta.sf(share.ci_high, 4.374577, 2.410412) == pytest.approx(0.025, abs=1e-6)
    assert (share.ci_low, share.ci_high) == pytest.approx((0.160834, 0.926923), abs=1e-6)


def test_a_difference_by_hand() -> None:
    # differences by cluster: a 1, 0; b 1, 1; c 0, -1; d 0, 0; e 1, 0: mean 3/10.
    # Deviations' sums in tenths: 10 - 6, 20 - 6, -10 - 6, -6, 10 - 6: squares 16 + 196 + 256 + 36 + 16 = 520
    # s² = 5/4 · 520 / 100 / 100 = 0.065; t = 0.3 / sqrt(0.065) = 1.176697
    test = clustered_difference([1, 0, 1, 1, 0, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 1, 1, 0, 0, 0], list("aabbccddee"))
    assert test.difference == pytest.approx(0.3) and test.standard_error == pytest.approx(np.sqrt(0.065))
    # Student's with 4 degrees has P(|T| > t) = 1 - (1 + 2 / (4 + t²)) · t / sqrt(4 + t²), t² = 18/13
    # t / sqrt(4 + t²) = sqrt(18/70) = 0.507093; 1 + 2 / (70/13) = 1.371429: p = 1 - 0.695442
    assert test.p_value == pytest.approx(0.304558, abs=1e-6)
    # half = 2.776445 · 0.254951 = 0.707858: 0.3 + half is above 1
    assert test.ci_low == pytest.approx(0.3 - 0.707858, abs=1e-6) and test.ci_high == 1


def test_two_clusters_claim_nothing() -> None:
    first, second = np.arange(80) % 4 > 0, np.arange(80) % 3 > 0
    clusters = np.repeat([1, 2], 40)
    test = clustered_difference(first, second, clusters)
    assert test.standard_error > 0 and np.isnan([test.ci_low, test.ci_high, test.p_value]).all()
    assert np.isnan(detectable_difference(test.standard_error, 2))
    share = clustered_share(first, clusters)
    assert share.share == 0.75 and np.isnan([share.ci_low, share.ci_high]).all()
    assert np.isnan(mean_share(first, clusters).ci_low) and mean_share(first, clusters).mean == 0.75


def test_a_mean_of_shares_by_hand() -> None:
    # Shares 3/4, 1/2, 0, 1, 1/4 of 4 answers each: m = 1/2; deviations 1/4, 0, 1/2, 1/2, 1/4: squares' sum 10/16.
    # s² = 10/16 / 4 / 5 = 1/32, above the chance within, (3/16 + 1/4 + 3/16) / 4 / 25 = 1/160; n' = 1/4 · 32 = 8
    right = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0]
    means = mean_share(right, np.repeat(np.arange(5), 4))
    # t of 19 and 4 degrees at 97.5% are 2.093024 and 2.776445: m = 8 · 0.568290 = 4.546323, half of it 2.273161
    assert (means.n_groups, means.mean) == (5, 0.5)
    assert stats.beta.cdf(means.ci_low, 2.273161, 3.273161) == pytest.approx(0.025, abs=1e-6)
    assert means.ci_high == pytest.approx(1 - means.ci_low)
    assert mean_share([], []).n_groups == 0 and np.isnan(mean_share([], []).mean)


def test_groups_that_happen_to_be_equal_leave_the_chance_within_them() -> None:
    # 5 groups of 40 with 30 right: no spread between; within 3/16 / 40 / 5 = s², so n' is all 200 answers.
    right = np.tile(np.arange(40) < 30, 5)
    means = mean_share(right, np.repeat(np.arange(5), 40))
    # t of 199 and 4 degrees are 1.971957 and 2.776445: m = 200 · 0.504448 = 100.8896, p m = 75.66722
    assert means.mean == 0.75
    assert stats.beta.cdf(means.ci_low, 75.66722, 26.22240) == pytest.approx(0.025, abs=1e-6)
    assert stats.beta.sf(means.ci_high, 76.66722, 25.22240) == pytest.approx(0.025, abs=1e-6)
    full = mean_share(np.ones(20), np.repeat(np.arange(5), 4))
    # n' = 5 groups, m = 5 · 0.568290 = 2.841452, low ** m = 0.025
    assert full.ci_high == 1 and full.ci_low == pytest.approx(0.025 ** (1 / 2.841452), abs=1e-6)


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


def test_clusters_of_one_answer_are_clopper_and_pearsons_interval() -> None:
    right = np.arange(4000) % 4 > 0
    share = clustered_share(right, np.arange(right.size))
    exact = stats.binomtest(3000, 4000).proportion_ci(method="exact")
    # s² has n - 1 where a binomial has n: n' = 3999
    assert (share.ci_low, share.ci_high) == pytest.approx((exact.low, exact.high), abs=3e-6)
    # Each answer copied five times in its cluster says no more than once.
    copied = clustered_share(np.repeat(right[:40], 5), np.repeat(np.arange(40), 5))
    once = clustered_share(right[:40], np.arange(40))
    assert (once.design_effect, copied.design_effect) == pytest.approx((40 / 39, 200 / 39))  # n' = G - 1 = 39 in both
    # but for the degrees of freedom of the answers, of which t is nearly that of a normal distribution
    assert (copied.ci_low, copied.ci_high) == pytest.approx((once.ci_low, once.ci_high), abs=0.006)


@pytest.mark.parametrize(
    ("share", "correlation", "n_clusters"),
    [(0.75, 0.15, 67), (0.7, 0.3, 30), (0.6, 0.02, 40), (0.9, 0.15, 20), (0.9, 0.3, 40), (0.95, 0.15, 67)],
)
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


@pytest.mark.parametrize("n_clusters", [5, 12])
def test_the_intervals_over_few_clusters_cover_the_truth(n_clusters: int) -> None:
    generator, codes = np.random.default_rng(10), np.repeat(np.arange(n_clusters), 20)
    shares, differences = 0, 0
    for _ in range(2000):
        first, second = (beta_clusters(generator, n_clusters, 20, 0.7, 0.15).ravel() for _ in range(2))
        share, test = clustered_share(first, codes), clustered_difference(first, second, codes)
        shares += share.ci_low <= 0.7 <= share.ci_high
        differences += test.ci_low <= 0 <= test.ci_high
    # A share over very few clusters is rather too sure of nothing: 97.3% over five.
    assert 0.93 <= shares / 2000 <= 0.975 and 0.93 <= differences / 2000 <= 0.97


def test_the_interval_of_a_mean_of_shares_covers_the_truth() -> None:
    # Groups of 5 to 30 pairs: the mean of their shares is 0.7 whatever their sizes.
    generator, sizes = np.random.default_rng(11), np.arange(5, 31)
    codes, covered = np.repeat(np.arange(26), sizes), 0
    for _ in range(2000):
        shares = generator.beta(0.7 * 4, 0.3 * 4, size=26)
        means = mean_share(generator.random(codes.size) < shares[codes], codes)
        covered += means.ci_low <= 0.7 <= means.ci_high
    assert 0.93 <= covered / 2000 <= 0.97


def test_edges() -> None:
    one = clustered_share([1, 0, 1], [1, 1, 1])
    assert one.share == pytest.approx(2 / 3) and np.isnan([one.ci_low, one.ci_high, one.standard_error]).all()
    assert np.isnan(clustered_share([], []).share)
    # All right in 10 clusters of 5: n' = 10, t of 49 and 9 degrees 2.009575 and 2.262157: m = 7.891562,
    # and low ** m = 0.025
    full = clustered_share(np.ones(50), np.repeat(np.arange(10), 5))
    assert full.ci_high == 1 and full.ci_low == pytest.approx(0.025 ** (1 / 7.891562), abs=1e-6)
    none = clustered_share(np.zeros(50), np.repeat(np.arange(10), 5))
    assert (none.ci_low, none.ci_high) == (0, pytest.approx(1 - full.ci_low))
    assert full.design_effect == 5
    alike = clustered_difference([1] * 6, [1] * 6, range(6))
    assert alike.p_value == 1 and np.isnan([alike.ci_low, alike.ci_high]).all()
    always = clustered_difference([1] * 12, [0] * 12, np.repeat(np.arange(6), 2))
    assert always.p_value == 2 / 2**6 and np.isnan(always.ci_high)  # 2 of 64 changes of signs
    assert np.isnan(clustered_difference([1, 0], [0, 0], [1, 1]).p_value)
    assert np.isnan(detectable_difference(0.3, 5, largest=1)) and detectable_difference(0.3, 5) > 1
    assert np.isnan([detectable_difference(0, 9), detectable_difference(np.nan, 9), detectable_difference(1, 1)]).all()
    with pytest.raises(InputError, match="3 answers and 2 clusters"):
        clustered_share([1, 0, 1], [1, 2])
    with pytest.raises(InputError, match="power must be between"):
        detectable_difference(0.1, 9, power=0.3)
    with pytest.raises(InputError, match="between 0 and 1"):
        clustered_share([1], [1], confidence=1)
