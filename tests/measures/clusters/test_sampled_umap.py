"""UMAP of more sentences than it lays out: a sample as umap-learn fits it, the others where its `transform` puts them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from engine.errors import InputError
from engine.measures.clusters import projection
from engine.measures.clusters.projection import SEARCHED_BY_UMAP, canonical_order, umap_projection
from engine.measures.clusters.stratified_sample import stratified_sample

N, FITTED = 120, 80


def clouds(n: int = N, dims: int = 5) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    class_of = random.integers(0, 3, n)
    return (12 * np.eye(3, dims)[class_of] + random.normal(size=(n, dims))).astype(np.float32), class_of


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_the_places_are_those_of_umap_learn(metric: str) -> None:
    vectors, class_of = clouds()
    drawn = umap_projection(vectors, metric=metric, seed=7, n_fitted=FITTED, class_of=class_of)
    order = canonical_order(vectors.astype(np.float64))
    sample = stratified_sample(class_of[order], FITTED, seed=7)
    rest = np.setdiff1d(np.arange(N), sample)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import umap

        reducer = umap.UMAP(metric=metric, random_state=7, transform_seed=7, n_jobs=1)
        np.testing.assert_array_equal(drawn[order][sample], reducer.fit_transform(vectors[order][sample]))
        np.testing.assert_array_equal(drawn[order][rest], reducer.transform(vectors[order][rest]))


def test_where_all_are_fitted_it_is_the_map_without_a_sample() -> None:
    vectors, class_of = clouds(40)
    plain = umap_projection(vectors, seed=1)
    np.testing.assert_array_equal(umap_projection(vectors, seed=1, n_fitted=40, class_of=class_of), plain)
    np.testing.assert_array_equal(umap_projection(vectors, seed=1, n_fitted=10_000), plain)


def test_order_changes_nothing_the_seed_does_and_others_lie_in_their_class() -> None:
    vectors, class_of = clouds()
    drawn = umap_projection(vectors, metric="euclidean", seed=2, n_fitted=FITTED, class_of=class_of)
    order = np.random.default_rng(1).permutation(N)
    again = umap_projection(vectors[order], metric="euclidean", seed=2, n_fitted=FITTED, class_of=class_of[order])
    np.testing.assert_array_equal(again, drawn[order])
    other = umap_projection(vectors, metric="euclidean", seed=3, n_fitted=FITTED, class_of=class_of)
    assert not np.allclose(other, drawn)
    nearest = NearestNeighbors(n_neighbors=6).fit(drawn).kneighbors(return_distance=False)
    assert (class_of[nearest] == class_of[:, None]).all()


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_what_transform_asks_finds_the_nearest_of_the_sample(metric: str) -> None:
    random = np.random.default_rng(3)
    sample, asked = random.normal(size=(50, 4)) + 1, (random.normal(size=(20, 4)) + 1).astype(np.float32)
    found, distances = projection._search(sample, metric).query(asked, 5, epsilon=0.1)
    exact, nearest = NearestNeighbors(n_neighbors=5, metric=metric, algorithm="brute").fit(sample).kneighbors(asked)
    np.testing.assert_array_equal(found, nearest)
    np.testing.assert_allclose(distances, exact, atol=1e-6)


@pytest.mark.nightly
def test_many_are_placed_by_their_exact_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    n_fitted = SEARCHED_BY_UMAP + 4
    vectors, class_of = clouds(n_fitted + 500)
    monkeypatch.setattr("umap.umap_.nearest_neighbors", None)  # a search of umap's own would fail
    asked: list[int] = []
    among = projection.neighbours_among
    monkeypatch.setattr(projection, "neighbours_among", lambda *a, **k: asked.append(len(a[0])) or among(*a, **k))
    drawn = umap_projection(vectors, metric="euclidean", n_fitted=n_fitted, class_of=class_of)
    assert asked == [500]
    nearest = NearestNeighbors(n_neighbors=6).fit(drawn).kneighbors(return_distance=False)
    assert (class_of[nearest] == class_of[:, None]).mean() > 0.999


def test_a_sample_too_small_for_a_map_is_refused() -> None:
    with pytest.raises(InputError, match="laid out on 4 sentences or more; got 3"):
        umap_projection(clouds()[0], n_fitted=3)
