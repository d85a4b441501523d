"""Nearest neighbours and their overlap: by hand, as scikit-learn finds them, and by their properties."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from engine.errors import InputError
from engine.measures.clusters import neighbours as module
from engine.measures.clusters.neighbours import (
    expected_overlap,
    nearest_neighbours,
    neighbour_overlap,
    neighbours_among,
)


def test_by_hand() -> None:
    # On a circle at 0°, 60°, 90°, 180°; lengths do not matter. 1 - cos: 0-60 1/2, 60-90 1 - √3/2 = 0.134, 0-90 1,
    # 90-180 1, 60-180 3/2, 0-180 2.
    angles = np.radians([0, 60, 90, 180])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1) * [[1], [5], [2], [3]]
    found, distances = nearest_neighbours(vectors, n_neighbours=2)
    assert found.tolist() == [[1, 2], [2, 0], [1, 0], [2, 1]]
    np.testing.assert_allclose(distances, [[0.5, 1], [0.133975, 0.5], [0.133975, 1], [1, 1.5]], atol=1e-6)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_they_are_scikit_learns(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 7)  # several blocks
    vectors = np.random.default_rng(0).normal(size=(60, 5)) + 3
    found, distances = nearest_neighbours(vectors, n_neighbours=4, metric=metric)
    exact, nearest = NearestNeighbors(n_neighbors=5, metric=metric, algorithm="brute").fit(vectors).kneighbors(vectors)
    np.testing.assert_array_equal(found, nearest[:, 1:])  # the first is the sentence itself
    np.testing.assert_allclose(distances, exact[:, 1:], atol=1e-6)  # float32


def test_equal_sentences_are_at_no_distance_and_come_in_order() -> None:
    vectors = np.random.default_rng(1).normal(size=(6, 4)).astype(np.float32)
    vectors[[1, 3, 4]] = vectors[0]
    for metric in ("cosine", "euclidean"):
        found, distances = nearest_neighbours(vectors, n_neighbours=3, metric=metric)
        assert found[[0, 1, 3, 4]].tolist() == [[1, 3, 4], [0, 3, 4], [0, 1, 4], [0, 1, 3]]
        assert (distances[[0, 1, 3, 4]] == 0).all()


def test_an_offset_and_a_common_direction_cost_no_neighbour() -> None:
    vectors = np.random.default_rng(2).normal(size=(40, 8))
    plain, _ = nearest_neighbours(vectors, n_neighbours=5, metric="euclidean")
    moved, _ = nearest_neighbours(vectors + 2.0**20, n_neighbours=5, metric="euclidean")
    np.testing.assert_array_equal(plain, moved)  # float32 throughout would keep no digit
    close = vectors + 200  # all cosines about 0.99998
    exact = NearestNeighbors(n_neighbors=6, metric="cosine", algorithm="brute").fit(close).kneighbors(close)[1]
    np.testing.assert_array_equal(nearest_neighbours(close, n_neighbours=5)[0], exact[:, 1:])


def test_few_sentences_have_fewer_neighbours() -> None:
    found, distances = nearest_neighbours([[1.0, 0.0], [0.0, 1.0]])
    assert found.tolist() == [[1], [0]] and distances.tolist() == [[1.0], [1.0]]
    assert (found.dtype, distances.dtype) == (np.int32, np.float32)


@pytest.mark.parametrize(
    ("vectors", "wanted", "said"),
    [
        (np.ones((1, 2)), {}, "at least 2 sentences and 1 neighbour; got 1 and 10"),
        (np.eye(3), {"n_neighbours": 0}, "got 3 and 0"),
        (np.eye(3), {"metric": "manhattan"}, "Unknown metric 'manhattan'"),
        (np.zeros((3, 2)), {}, "zero vector has no direction"),
        (np.full((3, 2), np.nan), {}, "not finite"),
    ],
)
def test_what_has_no_neighbours_is_refused(vectors: np.ndarray, wanted: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as caught:
        nearest_neighbours(vectors, **wanted)  # type: ignore[arg-type]
    assert said in str(caught.value)


def test_overlap_by_hand_and_by_its_bounds() -> None:
    # 2 of 3 shared, then 0 of 3: 1/3
    assert neighbour_overlap(np.array([[1, 2, 3], [0, 2, 3]]), np.array([[3, 9, 1], [7, 8, 9]])) == pytest.approx(1 / 3)
    lists = np.random.default_rng(0).permuted(np.tile(np.arange(30), (50, 1)), axis=1)[:, :10]
    assert neighbour_overlap(lists, np.flip(lists, axis=1)) == 1.0 and neighbour_overlap(lists, lists + 30) == 0.0
    assert np.isnan(neighbour_overlap(np.empty((0, 3)), np.empty((0, 3))))
    with pytest.raises(InputError, match="as many neighbours"):
        neighbour_overlap(lists, lists[:, :5])


def test_overlap_by_chance_is_what_random_lists_have() -> None:
    # Two models that read 0 to 59 and 20 to 99: 40 sentences in common. Of one sentence, 30, random lists of 10.
    random = np.random.default_rng(4)
    pool = np.setdiff1d(np.arange(60), 30)
    lists = [np.stack([random.choice(pool, 10, replace=False) for _ in range(3000)]) for _ in range(2)]
    # 10 / 59 = 0.169; 3,000 means of 10 have the standard error 0.002
    assert neighbour_overlap(lists[0], lists[1]) == pytest.approx(expected_overlap(60, 10), abs=0.008)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("equal", [0, 60])
def test_among_many_the_same_are_found(metric: str, equal: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(4).normal(size=(150, 5)) + 1
    vectors[:equal] = vectors[0]  # more equal ones than candidates: a block is then sorted in part
    plain, distances = nearest_neighbours(vectors, n_neighbours=4, metric=metric)
    monkeypatch.setattr(module, "MANY_SENTENCES", 100)
    monkeypatch.setattr(module, "PILOT", 40)
    monkeypatch.setattr(module, "ROWS_OF_MANY", 7)
    monkeypatch.setattr(module, "COLUMNS_OF_MANY", 32)
    found, others = nearest_neighbours(vectors, n_neighbours=4, metric=metric)
    np.testing.assert_array_equal(found[equal:], plain[equal:])
    np.testing.assert_allclose(others, distances, atol=1e-7)
    assert (found[:equal] < max(equal, 1)).all() and (found != np.arange(150)[:, None]).all()


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("many", [10**6, 20])
def test_neighbours_among_others_are_scikit_learns(metric: str, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY_SENTENCES", many)
    random = np.random.default_rng(5)
    asked, others = random.normal(size=(30, 5)) + 3, random.normal(size=(60, 5)) + 3
    asked[0] = others[9]
    found, distances = neighbours_among(asked, others, n_neighbours=4, metric=metric)
    exact, nearest = NearestNeighbors(n_neighbors=4, metric=metric, algorithm="brute").fit(others).kneighbors(asked)
    np.testing.assert_array_equal(found, nearest)
    np.testing.assert_allclose(distances, exact, atol=1e-6)
    assert found[0, 0] == 9 and distances[0, 0] == pytest.approx(0, abs=1e-12)
    assert neighbours_among(asked, others[:2], metric=metric)[0].shape == (30, 2)
    with pytest.raises(InputError, match="at least 2 sentences"):
        neighbours_among(asked, others, n_neighbours=0)
