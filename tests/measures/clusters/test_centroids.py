"""Distances to and between centroids: by hand, by A_m, and by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from engine.measures.clusters import centroids as module
from engine.measures.clusters.centroids import centroid_distances
from engine.measures.clusters.dispersion import dispersion


def test_by_hand() -> None:
    # a: (0,0), (6,0), centroid (3,0); b: (7,0), (7,2), centroid (7,1). (6,0) is 3 from its own, √(1 + 1) from b's.
    found = centroid_distances([[0, 0], [6, 0], [7, 0], [7, 2]], ["a", "a", "b", "b"])
    np.testing.assert_allclose(found.between, [[0, 17**0.5], [17**0.5, 0]])
    np.testing.assert_allclose(found.own, [3, 3, 1, 1])
    assert [found.names[place] for place in found.nearest_class] == ["a", "b", "b", "b"]
    np.testing.assert_allclose(found.nearest, [3, 2**0.5, 1, 1])


def test_own_distances_add_up_to_a_and_all_agree_with_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 7)
    random = np.random.default_rng(0)
    labels = [f"c{number}" for number in random.integers(0, 5, 40)]
    vectors = random.normal(size=(40, 6)) + 1000
    found = centroid_distances(vectors, labels)
    assert np.square(found.own).sum() == pytest.approx(dispersion(vectors, labels).in_class, rel=1e-12)
    centroids = np.stack([vectors[np.array(labels) == name].mean(axis=0) for name in found.names])
    to_all = cdist(vectors, centroids)
    np.testing.assert_allclose(found.nearest, to_all.min(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(found.nearest_class, to_all.argmin(axis=1))
    np.testing.assert_allclose(found.between, cdist(centroids, centroids), atol=1e-12)


def test_of_two_centroids_as_near_its_own_is_the_nearest() -> None:
    # b and c have one centroid, 0.3 up to rounding; b comes first in the order of names
    found = centroid_distances([[9.0], [0.1], [0.2], [0.6], [0.3], [0.3]], ["a", "b", "b", "b", "c", "c"])
    assert [found.names[place] for place in found.nearest_class] == ["a", "b", "b", "b", "c", "c"]
    alike = centroid_distances(np.full((4, 3), 0.1), list("abab"))
    assert alike.own.max() < 1e-15 and [alike.names[place] for place in alike.nearest_class] == list("abab")


def test_a_sentence_alone_is_its_own_centroid() -> None:
    found = centroid_distances([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    assert found.own.tolist() == [0.5, 0.5, 0.0] and found.nearest_class.tolist() == [0, 0, 1]
