"""Perplexity and bits by hand; what of a text is scored; intervals of ratios of sums beside those of means."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_rel

from engine.errors import InputError
from engine.measures.running_text import (
    LN_2,
    bits_per,
    corpus_ratios,
    perplexity,
    ratio_difference,
    scored_extent,
)
from engine.measures.statistics.clustered_means import clustered_means, ratios_of_sums


def test_the_numbers_worked_by_hand() -> None:
    # 猫が: two tokens of probability 1/8 and 1/32, 8 bits over 2 characters of 3 bytes each.
    log_likelihood = math.log(1 / 8) + math.log(1 / 32)
    assert perplexity(log_likelihood, 2) == pytest.approx(16)  # the geometric mean of 8 and 32
    assert bits_per(log_likelihood, 2) == pytest.approx(4)
    assert bits_per(log_likelihood, 6) == pytest.approx(8 / 6)
    assert np.isnan(perplexity(0.0, 0)) and np.isnan(bits_per(0.0, 0)) and np.isinf(perplexity(-1e6, 1))


def test_what_is_not_scored_is_not_counted() -> None:
    text = "猫が 寝た"
    assert scored_extent(text, [[0, 1], [1, 2], [3, 5]], []).n_bytes == 13  # the space belongs to no token
    first = scored_extent(text, [[1, 2], [3, 5]], [[0, 1]])
    assert (first.n_characters, first.n_bytes) == (4, 10)
    # A character of which one byte is scored counts.
    assert scored_extent("猫", [[0, 1]], [[0, 1]]).n_bytes == 3
    assert scored_extent(text, [], []).n_characters == 5


def test_a_ratio_of_sums_is_the_mean_over_answers_in_clusters() -> None:
    random = np.random.default_rng(1)
    sizes = random.integers(1, 9, 30)
    clusters = np.repeat(np.arange(30), sizes)
    values = random.exponential(2, (2, sizes.sum())) + clusters / 30
    sums = np.stack([np.bincount(clusters, weights=row) for row in values])
    for by_t in (False, True):
        of_means, of_sums = clustered_means(values, clusters, by_t=by_t), ratios_of_sums(sums, sizes, by_t=by_t)
        for name in ("mean", "low", "high", "p_value"):
            np.testing.assert_allclose(getattr(of_sums, name), getattr(of_means, name), rtol=1e-9)
    # Each column has an error of its own, however much greater another is.
    beside = ratios_of_sums(np.stack([sums[0], 1e15 * sums[1]]), sizes)
    np.testing.assert_allclose(beside.low[0], ratios_of_sums(sums[:1], sizes).low[0], rtol=1e-9)
    # Only the proportions of the denominators matter.
    scaled = ratios_of_sums(3 * sums, 3.0 * sizes)
    np.testing.assert_allclose(scaled.low, ratios_of_sums(sums, sizes).low, rtol=1e-9)


def test_the_interval_of_a_corpus_covers_what_it_says() -> None:
    random, covered = np.random.default_rng(0), 0
    for _ in range(300):
        counts = random.integers(50, 2000, 25)
        bits = counts * random.gamma(20, 0.2, 25)  # 4 a byte, whatever the length
        found = corpus_ratios(-bits * LN_2, counts)
        covered += bool(found.low[0] <= 4 * LN_2 <= found.high[0])
    assert 0.91 <= covered / 300 <= 0.98
    few = corpus_ratios([-1.0, -2.0], [1, 2])
    assert few.mean[0] == 1.0 and np.isnan(few.low[0])


def test_a_difference_over_documents_of_one_length_is_the_paired_t_test() -> None:
    random = np.random.default_rng(3)
    first, second = random.normal(4, 1, (2, 12))
    found, expected = ratio_difference(first, [1] * 12, second, [1] * 12), ttest_rel(first, second)
    assert found.p_value[0] == pytest.approx(expected.pvalue) and found.mean[0] == pytest.approx(
        first.mean() - second.mean()
    )
    low, high = expected.confidence_interval(0.95)
    assert (found.low[0], found.high[0]) == pytest.approx((low, high))


def test_a_difference_with_the_same_bytes_is_that_of_the_paired_differences() -> None:
    random = np.random.default_rng(4)
    counts = random.integers(10, 500, 15)
    first, second = counts * random.gamma(20, 0.2, (2, 15))
    found = ratio_difference(first, counts, second, counts)
    expected = ratios_of_sums((first - second)[None], counts, by_t=True)
    for name in ("mean", "low", "high", "p_value"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9)
    # A model against itself, and other bytes that leave its ratio: nothing differs.
    assert ratio_difference(first, counts, 2 * first, 2 * counts).mean[0] == pytest.approx(0)


def test_what_cannot_be_a_ratio_is_refused() -> None:
    with pytest.raises(InputError, match="a denominator above 0"):
        ratios_of_sums([[1.0, 2.0]], [1, 0])
    with pytest.raises(InputError, match="confidence level"):
        ratios_of_sums([[1.0, 2.0]], [1, 1], confidence=1)
