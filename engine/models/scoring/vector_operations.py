"""The operations of a worker on sentence vectors, without any model: each takes vectors (n, d) and returns one piece.

The measures themselves, and what their settings mean, are in `engine.measures`; here their results become plain arrays
and numbers that can be sent and cached. `class_of` are class numbers: class names are not part of a cache key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

# scikit-learn and scipy take a second to import: a worker that runs no measure does not need them.


def _bootstrap(vectors: np.ndarray, *, class_of: Sequence[int], n_resamples: int, seed: int) -> dict[str, Any]:
    """{"in_class": float64 (n_resamples,), "out_of_class": …}."""
    from engine.measures.clusters.resampling import bootstrap

    drawn = bootstrap(vectors, class_of, n_resamples=n_resamples, seed=seed)
    return {"in_class": drawn.in_class, "out_of_class": drawn.out_of_class}


def _label_permutation(vectors: np.ndarray, *, class_of: Sequence[int], n_permutations: int,
                       seed: int) -> dict[str, Any]:
    """{"scores": float64 (n_permutations,), "p_value": float}; no scores and nan where the score is undefined."""
    from engine.measures.clusters.label_permutation import label_permutation

    null = label_permutation(vectors, class_of, n_permutations=n_permutations, seed=seed)
    return {"scores": null.scores, "p_value": null.p_value}


def _cluster_validity(vectors: np.ndarray, *, class_of: Sequence[int], seed: int) -> dict[str, Any]:
    """The fields of `ClusterValidity`."""
    from engine.measures.clusters.validity import cluster_validity

    return asdict(cluster_validity(vectors, class_of, seed=seed))


def _nearest_neighbours(vectors: np.ndarray, *, n_neighbours: int, metric: str) -> dict[str, Any]:
    """{"neighbours": int32 (n, n_neighbours), "distances": float32 (n, n_neighbours)}."""
    from engine.measures.clusters.neighbours import nearest_neighbours

    neighbours, distances = nearest_neighbours(vectors, n_neighbours=n_neighbours, metric=metric)
    return {"neighbours": neighbours, "distances": distances}


VECTOR_OPERATIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "bootstrap": _bootstrap,
    "label_permutation": _label_permutation,
    "cluster_validity": _cluster_validity,
    "nearest_neighbours": _nearest_neighbours,
}
