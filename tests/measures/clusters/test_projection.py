"""Maps: the same whatever the order of the rows, neighbours kept, threads safe. All fits on tiny data."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors

from engine.errors import InputError
from engine.measures.clusters.projection import (
    SEARCHED_BY_UMAP,
    _with_neighbours,
    fewest_for_umap,
    in_one_order,
    pca_projection,
    turned_onto,
    umap_projection,
)


@pytest.fixture(scope="module")
def iris() -> tuple[np.ndarray, np.ndarray]:
    """Fisher's iris data, each third flower: 50 rows of 4, three species; no two rows are equal."""
    data = load_iris()
    rows, first = np.unique(data.data[::3], axis=0, return_index=True)
    return rows, data.target[::3][first]


def test_umap_of_other_row_order_is_the_same_map(iris: tuple[np.ndarray, np.ndarray]) -> None:
    vectors, _ = iris
    order = np.random.default_rng(0).permutation(len(vectors))
    plain = umap_projection(vectors, metric="euclidean", seed=3)
    np.testing.assert_array_equal(umap_projection(vectors[order], metric="euclidean", seed=3), plain[order])
    assert plain.dtype == np.float32 and plain.shape == (len(vectors), 2)
    assert not np.allclose(umap_projection(vectors, metric="euclidean", seed=3, n_neighbors=4), plain)


def test_umap_keeps_neighbours_together(iris: tuple[np.ndarray, np.ndarray]) -> None:
    vectors, species = iris
    drawn = umap_projection(vectors, metric="euclidean", n_neighbors=10)
    # 1 = no stranger among the 5 nearest on the map; a random map has about 0.5
    assert trustworthiness(vectors, drawn, n_neighbors=5) > 0.93
    # setosa (0) is linearly apart from the other two, so no setosa may have a nearest neighbour of another species
    distances = np.linalg.norm(drawn[:, None] - drawn[None], axis=-1) + np.diag(np.full(len(drawn), np.inf))
    nearest = species[distances.argmin(axis=1)]
    assert (nearest[species == 0] == 0).all()


def test_umap_by_cosine_does_not_see_lengths() -> None:
    # lengths change the order of the rows before the fit, so the map; but not who is near whom by direction
    vectors = np.random.default_rng(2).normal(size=(20, 6))
    lengths = 2.0 ** np.random.default_rng(3).integers(-2, 3, size=(20, 1))
    assert trustworthiness(vectors, umap_projection(vectors * lengths), metric="cosine", n_neighbors=3) > 0.8


@pytest.mark.nightly
def test_many_sentences_are_laid_out_by_their_exact_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    # three classes in five dimensions, as many points as umap would search approximately
    random = np.random.default_rng(0)
    class_of = random.integers(0, 3, SEARCHED_BY_UMAP)
    vectors = (12 * np.eye(3, 5)[class_of] + random.normal(size=(SEARCHED_BY_UMAP, 5))).astype(np.float32)
    monkeypatch.setattr("umap.umap_.nearest_neighbors", None)  # a search of umap's own would fail
    drawn = umap_projection(vectors, metric="euclidean", seed=1)
    np.testing.assert_array_equal(umap_projection(vectors[::-1], metric="euclidean", seed=1), drawn[::-1])
    nearest = NearestNeighbors(n_neighbors=6).fit(drawn).kneighbors(return_distance=False)
    assert (class_of[nearest] == class_of[:, None]).mean() > 0.999


def test_what_numba_compiles_for_a_map_is_kept_for_other_processes() -> None:
    umap_projection(np.random.default_rng(0).normal(size=(12, 4)))
    from umap.umap_ import smooth_knn_dist  # an import of its own time

    found = list(Path(smooth_knn_dist.stats.cache_path).glob("umap_.smooth_knn_dist-*.nbi"))
    assert found and sum({**smooth_knn_dist.stats.cache_hits, **smooth_knn_dist.stats.cache_misses}.values()) > 0


def test_the_neighbours_that_umap_is_given_begin_with_the_row_itself() -> None:
    indices, distances = _with_neighbours(np.array([[0.0], [1.0], [5.0], [7.0]]), 3, "euclidean")["precomputed_knn"]
    assert indices.tolist() == [[0, 1, 2], [1, 0, 2], [2, 3, 1], [3, 2, 1]]
    assert distances.tolist() == [[0, 1, 5], [0, 1, 4], [0, 2, 4], [0, 2, 6]]


def test_the_seed_decides_the_layout(iris: tuple[np.ndarray, np.ndarray]) -> None:
    vectors = iris[0][:20]
    first = umap_projection(vectors, seed=1)
    np.testing.assert_array_equal(umap_projection(vectors, seed=1), first)
    assert not np.allclose(umap_projection(vectors, seed=2), first)


@pytest.mark.parametrize(("n", "n_components"), [(4, 2), (5, 2), (16, 2), (5, 3), (6, 3)])
def test_few_sentences_have_a_map(n: int, n_components: int) -> None:
    drawn = umap_projection(np.random.default_rng(n).normal(size=(n, 8)), n_components=n_components)
    assert drawn.shape == (n, n_components) and np.isfinite(drawn).all() and n >= fewest_for_umap(n_components)


def test_umap_in_space_is_the_same_map_in_other_row_order(iris: tuple[np.ndarray, np.ndarray]) -> None:
    vectors = iris[0][:24]
    order = np.random.default_rng(1).permutation(24)
    plain = umap_projection(vectors, n_components=3, seed=2)
    np.testing.assert_array_equal(umap_projection(vectors[order], n_components=3, seed=2), plain[order])


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_identical_sentences_have_a_map_and_equal_ones_throughout_one_point(metric: str) -> None:
    twice = np.repeat(np.random.default_rng(0).normal(size=(6, 5)), 3, axis=0)
    assert np.isfinite(umap_projection(twice, metric=metric)).all()
    np.testing.assert_array_equal(umap_projection(np.full((9, 5), 0.1), metric=metric), np.zeros((9, 2)))


def test_two_threads_may_ask_at_once(iris: tuple[np.ndarray, np.ndarray]) -> None:
    vectors = iris[0][:30]
    expected = umap_projection(vectors, seed=5)
    drawn: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: drawn.append(umap_projection(vectors, seed=5))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # without the lock numba's workqueue layer ends the process here
    assert len(drawn) == 2
    for one in drawn:
        np.testing.assert_array_equal(one, expected)


def test_pca_by_hand() -> None:
    # Points on the line through (3, 4)/5, at -5, 0, 0 and 5 of their mean (3, 4), in any order: one dimension holds
    # everything, the second 0. The sign makes the direction's largest entry, 4/5, positive.
    drawn = pca_projection([[6.0, 8.0], [3.0, 4.0], [0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(drawn, [[5, 0], [0, 0], [-5, 0], [0, 0]], atol=1e-6)  # float32 out


@pytest.mark.parametrize(("n", "n_components"), [(50, 2), (4, 2), (50, 3)])
def test_pca_equals_scikit_learns(iris: tuple[np.ndarray, np.ndarray], n: int, n_components: int) -> None:
    vectors = iris[0][:n]
    expected = PCA(n_components=n_components, svd_solver="full").fit_transform(vectors)
    # float32 output: seven digits of numbers up to 4; signs are set alike
    np.testing.assert_allclose(pca_projection(vectors, n_components), expected, atol=2e-6)


def test_the_sign_of_pca_does_not_hang_on_rounding() -> None:
    # Along (1, -1): both entries of the direction are as large. The first decides, so the sign is the same however the
    # entries are perturbed in their last places.
    line = np.outer(np.arange(-3.0, 4.0), [1.0, -1.0])
    random = np.random.default_rng(0)
    for _ in range(20):
        drawn = pca_projection(line + random.normal(size=line.shape) * 1e-13, n_components=1)
        np.testing.assert_allclose(drawn[:, 0], np.arange(-3, 4) * 2**0.5, atol=1e-6)


def test_a_common_offset_costs_pca_no_digits(iris: tuple[np.ndarray, np.ndarray]) -> None:
    vectors, _ = iris
    # 2**20 away float64 keeps 1e-10 of each entry; a covariance taken before centring keeps nothing
    np.testing.assert_allclose(pca_projection(vectors + 2.0**20), pca_projection(vectors), atol=2e-6)


@pytest.mark.parametrize("shape", [(40, 5), (10, 30)])
def test_pca_of_other_row_order_is_the_same_map(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(7)
    vectors = random.normal(size=shape).round(1) + 50  # an offset, and equal entries in the sorting column
    order = random.permutation(len(vectors))
    np.testing.assert_array_equal(pca_projection(vectors[order]), pca_projection(vectors)[order])
    assert pca_projection(vectors).var(axis=0)[0] >= pca_projection(vectors).var(axis=0)[1]


def test_arguments_are_not_written_to() -> None:
    vectors = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32)
    before = vectors.copy()
    umap_projection(vectors)
    pca_projection(vectors)
    np.testing.assert_array_equal(vectors, before)


@pytest.mark.parametrize(
    ("vectors", "wanted", "said"),
    [
        (np.eye(3), {}, "at least 4 sentences; got 3. Add sentences, or choose PCA."),
        (np.eye(4), {"n_components": 3}, "UMAP in 3 dimensions needs at least 5 sentences; got 4."),
        (np.eye(5), {"metric": "hamming"}, "Unknown metric 'hamming'; there are cosine and euclidean."),
        (np.eye(5), {"n_neighbors": 1}, "n_neighbors of 2 or more"),
        (np.eye(5), {"min_dist": 1.5}, "min_dist between 0 and 1"),
        (np.eye(5) - np.eye(5), {}, "zero vector has no direction"),
        (np.full((5, 2), np.nan), {}, "not finite"),
    ],
)
def test_umap_refuses_what_it_cannot_draw(vectors: np.ndarray, wanted: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as caught:
        umap_projection(vectors, **wanted)  # type: ignore[arg-type]
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("vectors", "n_components"), [(np.ones((1, 3)), 1), (np.ones((5, 1)), 2), (np.ones((5, 3)), 0)]
)
def test_pca_refuses_what_it_cannot_draw(vectors: np.ndarray, n_components: int) -> None:
    with pytest.raises(InputError, match="needs at least 2 sentences"):
        pca_projection(vectors, n_components)


def test_pca_of_equal_vectors_is_one_point() -> None:
    np.testing.assert_array_equal(pca_projection(np.full((4, 3), 7.0)), np.zeros((4, 2)))


@pytest.mark.parametrize("n_components", [2, 3])
def test_a_turned_map_is_turned_back(n_components: int) -> None:
    random = np.random.default_rng(0)
    places = random.normal(size=(40, n_components)) * [3, 2, 1][:n_components]
    turn = np.linalg.qr(random.normal(size=(n_components, n_components)))[0]
    turn[:, 0] *= -np.sign(np.linalg.det(turn))  # and mirrored
    turned = turned_onto(places @ turn + 5, places)
    np.testing.assert_allclose(turned, places - places.mean(axis=0), atol=1e-6)  # float32


def test_a_turned_map_keeps_its_distances_and_comes_nearer_than_by_other_turns() -> None:
    random = np.random.default_rng(1)
    moved, held = random.normal(size=(30, 2)), random.normal(size=(30, 2))
    held -= held.mean(axis=0)
    turned = turned_onto(moved, held).astype(np.float64)
    np.testing.assert_allclose(pdist(turned), pdist(moved), rtol=1e-5)
    best = ((turned - held) ** 2).sum()
    for angle in np.linspace(0, 2 * np.pi, 60):
        for mirror in (1, -1):
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) * [1, mirror]
            assert (((moved - moved.mean(axis=0)) @ turn - held) ** 2).sum() >= best - 1e-4


def test_the_order_of_the_rows_changes_no_bit_of_a_turned_map() -> None:
    random = np.random.default_rng(2)
    moved, held, order = random.normal(size=(50, 2)), random.normal(size=(50, 2)), random.permutation(50)
    np.testing.assert_array_equal(turned_onto(moved[order], held[order]), turned_onto(moved, held)[order])
    vectors = random.normal(size=(50, 9)).astype(np.float32)

    def spread(rows: np.ndarray) -> np.ndarray:
        return (rows - rows.mean(axis=0)) / rows.std(axis=0)

    np.testing.assert_array_equal(in_one_order(spread, vectors[order]), in_one_order(spread, vectors)[order])
    with pytest.raises(InputError, match="same sentences"):
        turned_onto(moved, held[:49])


def test_maps_turned_onto_the_widest_directions_lie_as_near_as_they_can() -> None:
    random = np.random.default_rng(0)
    vectors = 2 * random.normal(size=(3, 32))[np.arange(60) % 3] + random.normal(size=(60, 32))
    first, *others = (umap_projection(vectors, seed=seed) for seed in range(4))
    widest = pca_projection(vectors)
    held = turned_onto(first, widest)
    for other in others:
        plain, turned, nearest = (
            np.sqrt(((places - held) ** 2).sum(axis=1).mean())
            for places in (other - other.mean(axis=0), turned_onto(other, widest), turned_onto(other, held))
        )
        assert turned <= 1.1 * nearest and turned < plain
