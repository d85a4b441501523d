"""IsoScore: the published properties, its algorithm step by step, and its edges."""

from __future__ import annotations

import numpy as np
import pytest
from IsoScore.IsoScore import IsoScore

from engine.measures.clusters.isotropy import isoscore
from engine.measures.clusters.validity_inputs import validity_inputs


def score(vectors: np.ndarray) -> float:
    return isoscore(validity_inputs(vectors, ["a", "b"] * (len(vectors) // 2)))


def cross(*scales: float) -> np.ndarray:
    """Points ± scale on each axis: the covariance is diagonal."""
    return np.concatenate([np.diag(scales), -np.diag(scales)])


def step_by_step(vectors: np.ndarray) -> float:
    """Rudman et al. 2022, algorithm 1: the seven steps as printed."""
    d = vectors.shape[1]
    variances = np.linalg.eigvalsh(np.cov(vectors.T))  # the diagonal after a turn by PCA
    unit = np.sqrt(d) * variances / np.linalg.norm(variances)
    defect = np.linalg.norm(unit - 1) / np.sqrt(2 * (d - np.sqrt(d)))
    share = (d - defect**2 * (d - np.sqrt(d))) ** 2 / d**2
    return float((d * share - 1) / (d - 1))


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_k_of_d_directions_alike_give_the_published_score(k: int) -> None:
    # Rudman et al. 2022, section 5.2: with k of n dimensions used alike the score is (k − 1) / (n − 1)
    assert score(cross(*[3.0] * k, *[0.0] * (5 - k))) == pytest.approx((k - 1) / 4, abs=1e-12)


def test_by_hand() -> None:
    # variances in the ratio 4 : 1 : 0; (4 + 1)² / (16 + 1) = 25 / 17 directions; (25/17 − 1) / 2 = 4/17
    assert score(cross(2.0, 1.0, 0.0)) == pytest.approx(4 / 17, abs=1e-12)


@pytest.mark.parametrize("shape", [(40, 6), (10, 30)])
def test_is_the_published_algorithm_wherever_the_cloud_lies(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(3)
    vectors = random.normal(size=shape) * np.geomspace(1, 20, shape[1])
    turn, _ = np.linalg.qr(random.normal(size=(shape[1], shape[1])))
    assert score(vectors) == pytest.approx(step_by_step(vectors), abs=1e-9)
    assert score(3 * vectors @ turn + 100) == pytest.approx(score(vectors), abs=1e-9)


@pytest.mark.parametrize("shape", [(40, 6), (10, 30), (200, 64)])
def test_equals_the_package_of_its_authors(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(6)
    vectors = random.normal(size=shape) * np.geomspace(1, 20, shape[1]) + 5
    # Its square root of d is in single precision.
    assert score(vectors) == pytest.approx(float(IsoScore(vectors)), abs=1e-6)


def test_few_sentences_bound_it() -> None:
    random = np.random.default_rng(4).normal(size=(6, 50))
    assert score(random) <= 4 / 49  # (n − 2) / (d − 1)


def test_undefined_without_a_direction_to_compare() -> None:
    assert np.isnan(score(np.full((4, 3), 0.1))) and np.isnan(score(np.arange(4.0)[:, None]))
