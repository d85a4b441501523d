"""Probabilities of masked words and their means: by hand, against numpy, and by their properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from engine.errors import InputError
from engine.measures.mask_probability import mean_probabilities, probability_differences, word_probability


def test_pieces_multiply() -> None:
    # 1/2 for the first piece, 1/4 for the second with the first in place: 1/8.
    assert word_probability(np.log([0.5, 0.25])) == pytest.approx(0.125, rel=1e-12)
    assert word_probability([0.0]) == 1.0 and word_probability([-np.inf, 0.0]) == 0.0


@given(st.lists(st.floats(-50, 0), min_size=1, max_size=8))
def test_a_word_is_no_more_probable_than_its_least_probable_piece(log_likelihoods: list[float]) -> None:
    p = word_probability(log_likelihoods)
    assert 0 <= p <= np.exp(min(log_likelihoods)) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("given", "message"), [([], "at least one piece"), ([0.1], "0 or less; got 0.1"), ([float("nan")], "0 or less")]
)
def test_what_is_no_log_likelihood_is_refused(given: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        word_probability(given)


def test_means_are_the_papers() -> None:
    # Table 4, Kyoto Univ. Ver.: 11.53% books, 11.18% DVDs, 9.24% music, as many sentences each: 10.65% over all.
    p = np.repeat([0.1153, 0.1118, 0.0924], 100)[None]
    domains = np.repeat(["books", "DVDs", "music"], 100).tolist()
    means = mean_probabilities(p, [str(i // 5) for i in range(300)], domains)
    assert round(float(means.mean[0]), 4) == 0.1065


def test_words_and_not_sentences_are_drawn() -> None:
    # Six words of ten like sentences are as sure as six sentences; as sixty independent ones they would be much surer.
    levels = np.random.default_rng(3).beta(2, 5, 6)
    alone = mean_probabilities([levels], list("abcdef"), ["d"] * 6)
    repeated = mean_probabilities([np.repeat(levels, 10)], np.repeat(list("abcdef"), 10).tolist(), ["d"] * 60)
    assert (repeated.low[0], repeated.high[0]) == pytest.approx((alone.low[0], alone.high[0]), rel=1e-9)
    independent = mean_probabilities([np.repeat(levels, 10)], [str(i) for i in range(60)], ["d"] * 60)
    assert independent.high[0] - independent.low[0] < 0.5 * (alone.high[0] - alone.low[0])


def test_domains_keep_their_share() -> None:
    # Within each domain all words are alike but for a little: how many of each are drawn does not matter.
    p = np.tile([0.1, 0.9], 10) + np.random.default_rng(0).normal(0, 0.001, 20)
    means = mean_probabilities([p], [str(i // 2) for i in range(20)], ["x", "y"] * 10)
    assert means.n_clusters == 20 and 0.498 < means.low[0] < means.high[0] < 0.502


def test_a_difference_is_of_the_same_words() -> None:
    random = np.random.default_rng(0)
    p = random.uniform(0, 0.5, (1, 60))
    words, domains = [str(i) for i in range(60)], ["d"] * 60
    noise = random.normal(0, 0.001, (1, 60))
    found = probability_differences(np.concatenate([p, p + 0.25 + noise, p]), words, domains)
    assert found.mean == pytest.approx([-0.25, 0, 0.25], abs=0.001)
    assert (found.high - found.low)[[0, 2]].max() < 0.001 and np.isnan(found.low[1])  # the same everywhere: no spread
    expected = stats.ttest_1samp((noise + 0.25)[0], 0).confidence_interval(0.95)
    assert (-found.high[0], -found.low[0]) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_the_seed_decides() -> None:
    p, words = np.random.default_rng(1).uniform(size=(1, 40)), [str(i) for i in range(40)]
    first, again, other = (mean_probabilities(p, words, ["d"] * 40, seed=seed) for seed in (0, 0, 1))
    assert (first.low, first.high) == (again.low, again.high) != (other.low, other.high)


def test_the_order_of_the_sentences_changes_nothing() -> None:
    random = np.random.default_rng(0)
    p, words, domains = random.uniform(size=60), [f"w{i // 3}" for i in range(60)], [f"d{i % 3}" for i in range(60)]
    order = random.permutation(60)
    first = mean_probabilities([p], words, domains)
    second = mean_probabilities([p[order]], [words[i] for i in order], [domains[i] for i in order])
    assert (first.low[0], first.high[0]) == pytest.approx((second.low[0], second.high[0]), rel=1e-9)
    nearly = probability_differences([p, np.nextafter(p, 1)], words, domains)
    assert np.isnan([nearly.low[0], nearly.high[0]]).all()


def test_few_words_have_no_interval() -> None:
    for n in (1, 4):
        means = mean_probabilities([np.linspace(0.1, 0.9, 2 * n)], [str(i // 2) for i in range(2 * n)], ["x"] * 2 * n)
        assert means.mean[0] == pytest.approx(0.5) and np.isnan([means.low[0], means.high[0]]).all()
        assert means.n_clusters == n


@pytest.mark.parametrize(
    ("p", "words"), [([[]], []), ([[0.5]], ["a", "b"]), ([0.5], ["a"]), ([[1.5]], ["a"]), ([[float("nan")]], ["a"])]
)
def test_what_does_not_fit_is_refused(p: list, words: list[str]) -> None:
    with pytest.raises(InputError):
        mean_probabilities(p, words, ["d"] * len(words))
