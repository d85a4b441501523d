"""Linear CKA and the correlation of distances: by hand, against their definitions, and what leaves them as they are."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr

from engine.errors import InputError
from engine.measures.clusters import model_similarity as module
from engine.measures.clusters.model_similarity import (
    distance_correlation,
    distance_correlation_error,
    linear_cka,
    model_similarity,
)


def clouds(n: int, d: int, m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    first = random.normal(size=(n, d))
    return first, first @ random.normal(size=(d, m)) + random.normal(size=(n, m))


def test_by_hand() -> None:
    # centred: x = (−1, 0, 1), y = (1, −2, 1); x · y = 0, so CKA is 0
    assert linear_cka(np.array([[1.0], [2], [3]]), np.array([[4.0], [1], [4]]))[0] == pytest.approx(0, abs=1e-12)
    # x = (−1, 0, 1), y = (−1, −1, 2) / 3: (x · y)² / (|x|² |y|²) = 9 / (2 · 6) = 0.75; chance 1 / (n − 1) = 0.5
    cka, expected = linear_cka(np.array([[1.0], [2], [3]]), np.array([[0.0], [0], [1]]))
    assert cka == pytest.approx(0.75) and expected == pytest.approx(0.5)
    # distances 1, 3, 2 against 3, 4, 1: ranks 1 3 2 and 2 3 1, ρ = 1 − 6 · 2 / 24
    assert distance_correlation(np.array([[0.0], [1], [3]]), np.array([[0.0], [3], [4]]), "euclidean") == (
        pytest.approx(0.5)
    )


@pytest.mark.parametrize("shape", [(40, 5, 7), (12, 30, 20), (20, 3, 60)])
def test_equals_the_definitions(shape: tuple[int, int, int]) -> None:
    x, y = clouds(*shape)
    n = len(x)
    centring = np.eye(n) - 1 / n
    k, l_ = centring @ x @ x.T @ centring, centring @ y @ y.T @ centring  # Kornblith et al. 2019, equations 2 and 3
    similarity = model_similarity(x, y)
    assert similarity.cka == pytest.approx((k * l_).sum() / np.sqrt((k * k).sum() * (l_ * l_).sum()), rel=1e-9)
    assert similarity.rsa == pytest.approx(spearmanr(pdist(x, "cosine"), pdist(y, "cosine")).statistic, abs=1e-9)
    euclidean = model_similarity(x, y, metric="euclidean").rsa
    assert euclidean == pytest.approx(spearmanr(pdist(x), pdist(y)).statistic, abs=1e-9) and euclidean != similarity.rsa


def test_what_chance_gives_is_the_mean_over_all_orders() -> None:
    x, y = clouds(5, 3, 4, seed=2)
    over_orders = np.mean([linear_cka(x, y[list(order)])[0] for order in permutations(range(5))])
    assert linear_cka(x, y)[1] == pytest.approx(over_orders, rel=1e-9)


def test_turn_scale_and_place_change_nothing_and_the_sides_may_change() -> None:
    x, y = clouds(30, 6, 6)
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))
    first, moved = model_similarity(x, y, metric="euclidean"), model_similarity(y @ turn * 5 + 2, x, metric="euclidean")
    assert (moved.cka, moved.rsa) == (pytest.approx(first.cka), pytest.approx(first.rsa))
    alike = model_similarity(x, x @ turn * 3 + 100, metric="euclidean")
    assert alike.cka == pytest.approx(1) and alike.rsa == pytest.approx(1)


def test_a_sample_of_many_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RSA_SENTENCES", 50)
    x, y = clouds(200, 4, 4)
    whole = distance_correlation(x, y)
    sampled = model_similarity(x, y, seed=1)
    assert sampled.n_rsa == 50 and sampled.rsa == pytest.approx(whole, abs=0.15)
    assert sampled.rsa == model_similarity(x, y, seed=1).rsa != model_similarity(x, y, seed=2).rsa
    monkeypatch.setattr(module, "RSA_SENTENCES", 199)  # each sentence once, so that one is missing
    assert model_similarity(x, y, seed=1).rsa == pytest.approx(whole, abs=0.01)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_the_error_of_a_sample_is_its_spread_over_seeds(monkeypatch: pytest.MonkeyPatch, metric: str) -> None:
    monkeypatch.setattr(module, "RSA_SENTENCES", 100)
    x, y = clouds(400, 4, 4)
    drawn = [model_similarity(x, y, metric=metric, seed=seed, error=True) for seed in range(60)]
    # 60 samples know a standard deviation to about 9%.
    spread = np.std([one.rsa for one in drawn], ddof=1)
    assert np.mean([one.rsa_error for one in drawn]) == pytest.approx(spread, rel=0.3)
    assert np.isnan(model_similarity(x, y, metric=metric).rsa_error)  # not asked for
    assert np.isnan(model_similarity(x[:100], y[:100], metric=metric, error=True).rsa_error)  # all are taken


def test_the_error_by_hand() -> None:
    # Distances of (1, 2), (1, 3), (2, 3): 1, 3, 2 and 3, 4, 1, ranks / 3 - 1/6: (1, 5, 3) / 6 and (3, 5, 1) / 6.
    # In 36ths: u v is 3, 25, 3; v' over u' > u and half of the own v sum to 7.5, 2.5, 5.5, u' over v' > v likewise to
    # 5.5, 2.5, 7.5, each · 6 / 3. I: 29, 35, 29; the means over the pairs of a sentence 32, 29, 32, of variance 3.
    # A = B = 2 / 27; of u with itself I is 35, 35, 35, which has no variance.
    first, second = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [3.0], [4.0]])
    assert distance_correlation_error(first, second, 3, "euclidean") == 0
    assert distance_correlation_error(first, second, 6, "euclidean") == pytest.approx(
        2 * 13.5 * np.sqrt((1 - 3 / 6) * 3 / 3) / 36
    )
    with pytest.raises(InputError, match="is not of 2"):
        distance_correlation_error(first, second, 2)


@pytest.mark.parametrize(("steps_of_first", "steps_of_second"), [(1, 1), (1, 100), (0.5, 0.5)])
def test_the_error_holds_where_many_distances_are_tied(steps_of_first: float, steps_of_second: float) -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=(240, 1))
    y = np.round((x + random.normal(size=(240, 1))) * steps_of_second)
    x = np.round(x * steps_of_first)
    samples = [random.choice(240, 60, replace=False) for _ in range(400)]
    spread = np.std([distance_correlation(x[rows], y[rows], "euclidean") for rows in samples], ddof=1)
    errors = [distance_correlation_error(x[rows], y[rows], 240, "euclidean") for rows in samples]
    # 400 samples know a standard deviation to 3.5%, and the error, of first order in 1 / k, is 2 to 6% too small at
    # k = 60 (four seeds); where ties were ordered by chance it was 1.3 to 2.6 times the spread.
    assert np.mean(errors) == pytest.approx(spread, rel=0.15)


def test_models_with_the_same_ties_agree_in_every_sample_and_the_order_of_sentences_is_nothing() -> None:
    x, y = (np.round(vectors) for vectors in clouds(40, 1, 1))
    # ρ is 1 in all samples: only rounding is left, of a sum of 780 pairs
    assert distance_correlation_error(x, 2 * x, 80, "euclidean") == pytest.approx(0, abs=1e-12)
    order = np.random.default_rng(1).permutation(40)
    assert distance_correlation_error(x, y, 80, "euclidean") == pytest.approx(
        distance_correlation_error(x[order], y[order], 80, "euclidean"), rel=1e-9
    )


def test_edges() -> None:
    x, y = clouds(6, 3, 3)
    equal = model_similarity(x, np.full((6, 3), 0.1))
    assert np.isnan([equal.cka, equal.expected_cka, equal.rsa]).all()
    x[0] = 0  # no direction: a cosine is undefined, a distance is not
    assert np.isnan(model_similarity(x, y).rsa) and np.isfinite(model_similarity(x, y, metric="euclidean").rsa)
    with pytest.raises(InputError, match="same sentences; got 6 and 5"):
        model_similarity(x, y[:5])
    with pytest.raises(InputError, match="Unknown metric 'l1'"):
        model_similarity(x, y, metric="l1")
