"""The null of permuted labels: by hand, by its meaning under the null, and by what must not change it."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import InputError
from engine.measures.clusters import label_permutation as module
from engine.measures.clusters.dispersion import dispersion
from engine.measures.clusters.label_permutation import label_permutation


def test_by_hand() -> None:
    # 0, 1 | 10, 11: A = 1/2 + 1/2, B = 5² + 5² = 50, M = 0.02. The three ways to make two pairs:
    # 0, 1 | 10, 11  M = 0.02;   0, 10 | 1, 11  A = 50 + 50, B = 1/2 · 1² = 0.5, M = 200;
    # 0, 11 | 1, 10  A = 60.5 + 40.5 and both centroids 5.5: infinite.
    null = label_permutation([[0.0], [1.0], [10.0], [11.0]], list("aabb"), n_permutations=3000)
    assert null.score == pytest.approx(0.02)
    finite = null.scores[np.isfinite(null.scores)]
    assert {round(float(score), 6) for score in finite} == {0.02, 200.0}
    # each way has probability 1/3; four standard errors of 3,000 draws are 0.034
    assert null.p_value == pytest.approx(1 / 3, abs=0.035)
    assert np.isinf(null.scores).mean() == pytest.approx(1 / 3, abs=0.035)
    assert null.p_value == (1 + (null.scores < 1).sum()) / 3001


def test_scores_are_those_of_dispersion_under_the_same_permutation() -> None:
    # The permutations drawn are those of numpy's generator: order[0] lists the sentences of the first class, then …
    random = np.random.default_rng(3)
    vectors = random.normal(size=(12, 130)) + 40  # more dimensions than are taken at a time, and an offset
    labels = np.array(list("aaaaabbbcccc"))
    null = label_permutation(vectors, labels.tolist(), n_permutations=7, seed=11)
    orders = np.random.default_rng(11).permuted(np.tile(np.arange(12), (7, 1)), axis=1)
    for order, score in zip(orders, null.scores, strict=True):
        permuted = np.empty_like(labels)
        permuted[order] = labels
        assert score == pytest.approx(dispersion(vectors, permuted.tolist()).score, rel=1e-9)
    assert null.score == pytest.approx(dispersion(vectors, labels.tolist()).score, rel=1e-9)


def test_p_is_even_where_labels_mean_nothing_and_small_where_they_mean_much() -> None:
    random = np.random.default_rng(0)
    labels = list("aabbcc" * 5)
    p_values = [
        label_permutation(random.normal(size=(30, 4)), labels, n_permutations=99, seed=seed).p_value
        for seed in range(200)
    ]
    # uniform on 0.01, 0.02, … 1: mean 0.505, standard error of 200 is 0.0204; four of them. And 5% up to 0.05:
    # 10 of 200, binomial standard deviation 3.1.
    assert np.mean(p_values) == pytest.approx(0.505, abs=0.082)
    assert sum(p <= 0.05 for p in p_values) <= 22
    apart = random.normal(size=(30, 4)) + np.array([{"a": 0, "b": 3, "c": 6}[label] for label in labels])[:, None]
    assert label_permutation(apart, labels, n_permutations=99).p_value == 0.01  # no permutation reaches it


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, labels = np.random.default_rng(1).normal(size=(20, 3)), list("abcd" * 5)
    whole = label_permutation(vectors, labels, n_permutations=50, seed=2)
    monkeypatch.setattr(module, "BLOCK_BYTES", 1)
    monkeypatch.setattr(module, "DIMENSIONS", 2)
    np.testing.assert_allclose(label_permutation(vectors, labels, n_permutations=50, seed=2).scores, whole.scores)


def test_edges() -> None:
    undefined = label_permutation(np.full((6, 2), 0.1), list("aaabbb"))
    assert np.isnan([undefined.score, undefined.p_value]).all() and undefined.scores.size == 0
    tight = label_permutation([[0.0], [0.0], [1.0], [1.0]], list("aabb"), n_permutations=300)
    assert tight.score == 0.0 and tight.p_value == pytest.approx(1 / 3, abs=0.11)  # ties count, up to rounding
    alone = label_permutation([[0.0], [1.0], [5.0]], list("abc"), n_permutations=9)
    assert np.isnan([alone.score, alone.p_value]).all()  # every permutation has classes of one sentence too
    with pytest.raises(InputError, match="at least 1 permutation; got 0"):
        label_permutation(np.eye(4), list("aabb"), n_permutations=0)
