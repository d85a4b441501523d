"""Whitening and all-but-the-top: worked by hand, against their definitions, and what they cannot change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from engine.errors import InputError
from engine.measures.clusters.correction import whitened, without_top


def cloud(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Vectors about a common point, far longer in some directions than in others."""
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) @ random.normal(size=(d, d)) * np.geomspace(1, 50, d) + 300


def test_whitening_by_hand() -> None:
    # mean (2, 7); variances 1 along x and 4 along y: x − 2 is divided by 1, y − 7 by 2, the longer direction first
    np.testing.assert_allclose(
        whitened([[1, 5], [3, 5], [1, 9], [3, 9]], 2), [[-1, -1], [-1, 1], [1, -1], [1, 1]], atol=1e-12
    )
    np.testing.assert_allclose(whitened([[1, 5], [3, 5], [1, 9], [3, 9]], 1), [[-1], [-1], [1], [1]], atol=1e-12)


@pytest.mark.parametrize("shape", [(50, 8), (20, 40)])
def test_whitening_is_the_published_algorithm(shape: tuple[int, int]) -> None:
    vectors = cloud(*shape)
    kept = min(6, shape[0] // 2)
    # Su et al. 2021, algorithm 1: SVD of the covariance, W = U sqrt(Λ^-1), x W[:, :k]
    u, variances, _ = np.linalg.svd(np.cov(vectors.T, bias=True))
    expected = (vectors - vectors.mean(axis=0)) @ (u[:, :kept] / np.sqrt(variances[:kept]))
    mine = whitened(vectors, kept)
    np.testing.assert_allclose(np.cov(mine.T, bias=True), np.eye(kept), atol=1e-9)
    # directions are known but for their sign: distances do not depend on it
    np.testing.assert_allclose(pdist(mine), pdist(expected), rtol=1e-6)


def test_the_default_keeps_at_most_half_as_many_dimensions_as_sentences() -> None:
    assert whitened(cloud(20, 40)).shape == (20, 10) and whitened(cloud(600, 300)).shape == (600, 256)
    flat = np.repeat(cloud(30, 2), [1, 1], axis=1) @ np.eye(2, 5)  # 5 dimensions, 2 directions
    assert whitened(flat).shape == (30, 2)


def test_whitening_does_not_depend_on_place_turn_or_scale() -> None:
    vectors = cloud(40, 6)
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))
    np.testing.assert_allclose(pdist(whitened(7 * vectors @ turn - 30, 4)), pdist(whitened(vectors, 4)), rtol=1e-6)


def test_all_directions_kept_are_refused_since_all_distances_are_equal_then() -> None:
    vectors = cloud(8, 20)
    centred = vectors - vectors.mean(axis=0)
    u, _, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(pdist(u[:, :7] * np.sqrt(8)), np.sqrt(2 * 8), rtol=1e-9)  # the claim of the docstring
    with pytest.raises(InputError, match=r"any 8 sentences are equally far .* Keep fewer than 7"):
        whitened(vectors, 7)
    assert whitened(vectors, 6).shape == (8, 6)
    with pytest.raises(InputError, match="All 4 sentence vectors are equal"):
        whitened(np.full((4, 3), 0.1))


def test_all_but_the_top_by_hand() -> None:
    # mean (4, 0.5); the longest direction is x: what remains is y − 0.5
    np.testing.assert_allclose(
        without_top([[0, 0], [8, 1], [0, 1], [8, 0]], 1), [[0, -0.5], [0, 0.5], [0, 0.5], [0, -0.5]], atol=1e-12
    )


@pytest.mark.parametrize("shape", [(50, 8), (20, 40)])
def test_all_but_the_top_is_the_published_algorithm(shape: tuple[int, int]) -> None:
    from sklearn.decomposition import PCA

    vectors = cloud(*shape)
    centred = vectors - vectors.mean(axis=0)
    components = PCA(3, svd_solver="full").fit(vectors).components_
    expected = centred - sum((centred @ u)[:, None] * u for u in components)  # Mu and Viswanath 2018, algorithm 1
    scale = np.abs(vectors).max()
    np.testing.assert_allclose(without_top(vectors, 3), expected, atol=1e-9 * scale)
    assert np.abs(without_top(vectors, 3) @ components.T).max() < 1e-7 * scale


def test_a_hundredth_of_the_dimensions_is_taken_off_by_default() -> None:
    vectors = cloud(30, 250)
    np.testing.assert_allclose(without_top(vectors), without_top(vectors, 2))
    few = cloud(30, 8)
    np.testing.assert_allclose(without_top(few), without_top(few, 1))


def test_nothing_left_is_refused() -> None:
    with pytest.raises(InputError, match="Without the mean and 2 principal components nothing remains of these 3"):
        without_top(cloud(3, 5), 2)
    for bad in (lambda: without_top(np.eye(4), 0), lambda: whitened(np.eye(4), 0)):
        with pytest.raises(InputError, match="at least 1"):
            bad()
