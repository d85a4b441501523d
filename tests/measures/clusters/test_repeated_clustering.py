"""k-means over seeds, and mini-batch k-means as the evaluator of MTEB runs it."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.cluster
import sklearn.metrics

from engine.errors import InputError
from engine.measures.clusters.repeated_clustering import minibatch_v_measure, repeated_clustering
from engine.measures.clusters.validity import ari, cluster_validity, nmi, v_measure


def classes(n: int, apart: float, seed: int = 0) -> tuple[np.ndarray, list[str]]:
    random = np.random.default_rng(seed)
    labels = [f"組{i % 4}" for i in range(n)]
    centres = apart * random.normal(size=(4, 6))
    return (centres[np.arange(n) % 4] + random.normal(size=(n, 6))).astype(np.float32), labels


def as_mteb(vectors: np.ndarray, labels: list[str], seed: int) -> float:
    """The lines of MTEB's ClusteringEvaluator.__call__, with a global seed as in mteb 1; mteb 2 hands the seed over."""
    np.random.seed(seed)
    clustering_model = sklearn.cluster.MiniBatchKMeans(n_clusters=len(set(labels)), batch_size=500, n_init="auto")
    clustering_model.fit(vectors)
    return float(sklearn.metrics.cluster.v_measure_score(labels, clustering_model.labels_))


@pytest.mark.parametrize("seed", [0, 42, 28042000])
@pytest.mark.parametrize("n", [60, 1200])  # below and above one batch
def test_equals_the_evaluator_of_mteb(n: int, seed: int) -> None:
    vectors, labels = classes(n, 0.8)
    assert minibatch_v_measure(vectors, labels, seed=seed) == as_mteb(vectors, labels, seed)


# `AbsTaskClusteringLegacy._evaluate_subset` of mteb 2.26.24 with its ClusteringEvaluator, on a model that returns the
# vectors of `classes`; with scikit-learn 1.9.1.
@pytest.mark.parametrize(
    ("n", "seed", "expected"),
    [
        (60, 0, 0.45062669645749026),
        (60, 42, 0.38573629724087355),
        (60, 28042000, 0.47164226957009264),
        (1200, 0, 0.3148025959603241),
        (1200, 42, 0.35622119103790145),
        (1200, 28042000, 0.3457526247070153),
    ],
)
def test_has_the_numbers_of_mteb(n: int, seed: int, expected: float) -> None:
    assert minibatch_v_measure(*classes(n, 0.8), seed=seed) == pytest.approx(expected, abs=1e-12)


def test_classes_far_apart_are_found_and_equal_sentences_tell_nothing() -> None:
    vectors = np.repeat([[0.0, 0.0], [100.0, 0.0]], 6, axis=0)
    assert minibatch_v_measure(vectors, ["a"] * 6 + ["b"] * 6) == 1.0
    # h = 0: one cluster holds both classes alike
    assert minibatch_v_measure(np.ones((8, 2)), list("aabb") * 2) == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(minibatch_v_measure(vectors, range(12)))  # each sentence a class: MTEB says 1


def test_each_seed_is_a_clustering_of_its_own_and_the_first_is_the_one_of_the_table() -> None:
    vectors, labels = classes(80, 0.5, seed=3)
    drawn = repeated_clustering(vectors, labels, n_seeds=5, seed=7)
    assert {key: len(values) for key, values in drawn.items()} == dict.fromkeys(
        ("v_measure_minibatch", "v_measure", "ari", "nmi"), 5
    )
    for step in range(5):
        alone = cluster_validity(vectors, labels, {"v_measure": v_measure, "ari": ari, "nmi": nmi}, seed=7 + step)
        assert all(drawn[key][step] == alone[key] for key in ("v_measure", "ari", "nmi"))
        assert drawn["v_measure_minibatch"][step] == minibatch_v_measure(vectors, labels, seed=7 + step)
    assert drawn["v_measure_minibatch"].std() > 0


def test_edges() -> None:
    vectors, labels = classes(20, 1.0)
    assert len(repeated_clustering(vectors, labels, n_seeds=2, seed=2**32 - 1)["ari"]) == 2  # 0 comes after the last
    with pytest.raises(InputError, match="at least 1 seed; got 0"):
        repeated_clustering(vectors, labels, n_seeds=0)
