"""Silhouette and its kin: by hand, as scikit-learn says, on a published example, and where they are undefined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike
from sklearn import metrics
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from engine.measures.clusters import validity_inputs as module
from engine.measures.clusters.validity import (
    ari,
    calinski_harabasz,
    cluster_validity,
    davies_bouldin,
    nmi,
    silhouette,
    v_measure,
)

INDICES = {index.__name__: index for index in (silhouette, calinski_harabasz, davies_bouldin, v_measure, ari, nmi)}


def validity(vectors: ArrayLike, labels: Sequence[object], seed: int = 0) -> dict[str, float]:
    return cluster_validity(vectors, labels, INDICES, seed=seed)


@pytest.fixture(scope="module")
def noisy() -> tuple[np.ndarray, list[str]]:
    random = np.random.default_rng(0)
    class_of = random.integers(0, 4, 60)
    return random.normal(size=(60, 5)) + random.normal(size=(4, 5))[class_of], [f"c{number}" for number in class_of]


def test_by_hand() -> None:
    # a: 0, 2   b: 10, 14. Silhouettes: of 0, own 2, others (10 + 14)/2 = 12: 10/12; of 2, own 2, others 10: 8/10;
    # of 10, own 4, others 9: 5/9; of 14, own 4, others 13: 9/13. Their mean is 0.7203.
    # CH: mean 6.5, centroids 1 and 12: 2 · 5.5² · 2 = 121, over 1; A = 2 + 8 = 10, over 4 - 2: 121 / 5 = 24.2.
    # DB: mean distances 1 and 2, centroids 11 apart: 3/11.
    found = validity([[0.0], [2.0], [10.0], [14.0]], list("aabb"))
    assert found["silhouette"] == pytest.approx((10 / 12 + 8 / 10 + 5 / 9 + 9 / 13) / 4)
    assert found["calinski_harabasz"] == pytest.approx(24.2) and found["davies_bouldin"] == pytest.approx(3 / 11)
    # k-means finds the labels again
    assert (found["v_measure"], found["ari"], found["nmi"]) == pytest.approx((1, 1, 1))
    assert (found["sample_size"], found["n_starts"]) == (4, 10)


def test_they_are_scikit_learns(noisy: tuple[np.ndarray, list[str]]) -> None:
    vectors, labels = noisy
    found = validity(vectors + 300, labels, seed=3)  # scikit-learn on an offset loses digits; here none is lost
    assert found["silhouette"] == pytest.approx(metrics.silhouette_score(vectors, labels), rel=1e-9)
    assert found["calinski_harabasz"] == pytest.approx(metrics.calinski_harabasz_score(vectors, labels), rel=1e-9)
    assert found["davies_bouldin"] == pytest.approx(metrics.davies_bouldin_score(vectors, labels), rel=1e-9)
    clusters = KMeans(4, n_init=10, random_state=3).fit_predict(vectors)
    # k-means of rows in another order may end in another optimum; here both find the best of ten
    assert found["v_measure"] == pytest.approx(metrics.v_measure_score(labels, clusters), abs=0.05)
    # of the geometric and the arithmetic mean the latter is the larger, so NMI is no less than V
    assert 0 < found["v_measure"] <= found["nmi"] <= 1


def test_published_values_of_iris() -> None:
    # k-means on Fisher's iris is reported everywhere with ARI 0.730 and V-measure 0.758: clusters of 50, 62 and 38.
    data = load_iris()
    found = validity(data.data, data.target.tolist())
    assert (round(found["ari"], 3), round(found["v_measure"], 3)) == (0.730, 0.758)
    # and the silhouette of the three species with 0.503
    assert round(found["silhouette"], 3) == 0.503


def test_order_place_and_unit_change_nothing(noisy: tuple[np.ndarray, list[str]]) -> None:
    vectors, labels = noisy
    plain = validity(vectors, labels)
    order = np.random.default_rng(1).permutation(60)
    for scale, shift in ((1.0, 0.0), (1e-9, 1e-9), (1e6, -3e6)):  # scikit-learn takes spreads of 1e-9 for 0
        moved = validity(vectors[order] * scale + shift, [labels[place] for place in order])
        assert moved == pytest.approx(plain, rel=1e-6)


def test_large_data_are_sampled_and_say_so(
    noisy: tuple[np.ndarray, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILHOUETTE_SENTENCES", 40)
    monkeypatch.setattr(module, "WORK", 60 * 5 * 4 * 3)
    vectors, labels = noisy
    found = validity(vectors, labels, seed=1)
    assert (found["sample_size"], found["n_starts"]) == (40, 3)
    assert validity(vectors, labels, seed=1) == found
    assert validity(vectors, labels, seed=2)["silhouette"] != found["silhouette"]


def test_undefined_is_nan() -> None:
    measured = ("silhouette", "calinski_harabasz", "davies_bouldin", "v_measure", "ari", "nmi")
    alone = validity([[0.0], [1.0], [5.0]], list("abc"))  # scikit-learn says DB 0 and V, ARI, NMI 1: all of them best
    assert np.isnan([alone[name] for name in measured]).all()
    tight = validity([[0.1], [0.1], [0.1], [0.7], [0.7]], list("aaabb"))
    assert np.isnan(tight["calinski_harabasz"]) and tight["silhouette"] == 1.0 and tight["davies_bouldin"] < 1e-15
    coincide = validity([[0.1], [0.2], [0.6], [0.3], [0.3], [0.3]], list("aaabbb"))
    assert np.isnan(coincide["davies_bouldin"])
    alike = validity(np.full((7, 3), 0.1), list("aaaabbb"))
    assert np.isnan([alike[name] for name in measured]).all()


def test_a_class_of_one_sentence_counts_as_0_in_the_silhouette() -> None:
    # 0 and 2 have 10/12 … as above without 14: of 0 own 2, other 10: 8/10; of 2, own 2, other 8: 6/8; of 10: 0
    assert validity([[0.0], [2.0], [10.0]], list("aab"))["silhouette"] == pytest.approx((0.8 + 0.75 + 0) / 3)


def test_the_distances_of_all_pairs_are_taken_over_a_sample_alone(
    noisy: tuple[np.ndarray, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILHOUETTE_SENTENCES", 40)
    inputs = module.validity_inputs(*noisy, seed=1)
    assert silhouette(inputs) == pytest.approx(
        metrics.silhouette_score(inputs.array[inputs.sample], inputs.class_of[inputs.sample]), rel=1e-12
    )
    assert len(inputs.array) == 60 and len(inputs.sample) == 40 == len(set(inputs.sample))


def test_only_what_is_named_is_computed_under_its_name() -> None:
    found = cluster_validity([[0.0], [2.0], [10.0], [14.0]], list("aabb"), {"mine": lambda inputs: len(inputs.array)})
    assert found == {"mine": 4, "sample_size": 4, "n_starts": 10}
