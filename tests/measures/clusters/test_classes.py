"""Labelled vectors: one numbering of the classes for all measures on them."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import InputError
from engine.measures.clusters.classes import labelled_vectors


def test_classes_are_numbered_in_the_order_of_their_names() -> None:
    given = labelled_vectors(np.float32([[0, 2], [4, 4], [2, 0], [9, 9]]), ["b", "a", "b", "c"])
    assert given.names == ("a", "b", "c")
    assert given.class_of.tolist() == [1, 0, 1, 2] and given.sizes.tolist() == [1, 2, 1]
    assert given.centroids.tolist() == [[4, 4], [1, 1], [9, 9]]
    assert given.middle.tolist() == pytest.approx([14 / 3, 14 / 3]) and given.members(1).tolist() == [[0, 2], [2, 0]]
    assert given.vectors.dtype == np.float64


def test_numbers_are_labels_too_and_sort_by_size() -> None:
    vectors = np.arange(6.0).reshape(3, 2)
    assert labelled_vectors(vectors, [10, 9, 10]).class_of.tolist() == [1, 0, 1]
    assert labelled_vectors(vectors, ["10", "9", "10"]).class_of.tolist() == [0, 1, 0]  # characters: "1" before "9"
    assert labelled_vectors(vectors, np.array([1, 0, 1])).names == ("0", "1")


@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (1e-6, 0.0), (1.0, 1e6)])
def test_rounding_is_more_than_the_centroids_of_one_mean_are_apart_and_far_less_than_others(
    scale: float, offset: float
) -> None:
    random = np.random.default_rng(0)
    half = random.normal(size=(50, 20))
    one_mean = np.vstack([half, half[::-1]]) * scale + offset
    given = labelled_vectors(one_mean, ["a"] * 50 + ["b"] * 50)
    assert np.square(given.centroids - given.middle).sum() <= given.rounding
    apart = labelled_vectors(one_mean + np.repeat([[0.0], [1e-3 * scale]], 50, axis=0), ["a"] * 50 + ["b"] * 50)
    assert np.square(apart.centroids - apart.middle).sum() > 100 * apart.rounding


def test_labels_and_vectors_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="got 2 vectors and 3 labels"):
        labelled_vectors(np.eye(2), ["a", "b", "c"])
    with pytest.raises(InputError, match=r"at least 2 labels; got 1 \('a'\) over 2 sentences"):
        labelled_vectors(np.eye(2), ["a", "a"])
