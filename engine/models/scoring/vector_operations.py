"""The operations of a worker on sentence vectors, without any model: each takes vectors (n, d) and returns one piece.

The measures themselves, and what their settings mean, are in `engine.measures`; here their results become plain arrays
and numbers that can be sent and cached. `class_of` are class numbers: class names are not part of a cache key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from typing import Any

import numpy as np

from engine.messages.message import Message

# scikit-learn and scipy take a second to import: a worker that runs no measure does not need them.


def _bootstrap(vectors: np.ndarray, *, class_of: Sequence[int], n_resamples: int, seed: int) -> dict[str, Any]:
    """{"in_class": float64 (n_resamples,), "out_of_class": …}."""
    from engine.measures.clusters.resampling import bootstrap

    drawn = bootstrap(vectors, class_of, n_resamples=n_resamples, seed=seed)
    return {"in_class": drawn.in_class, "out_of_class": drawn.out_of_class}


def _label_permutation(
    vectors: np.ndarray, *, class_of: Sequence[int], n_permutations: int, seed: int
) -> dict[str, Any]:
    """{"scores": float64 (n_permutations,), "p_value": float}; no scores and nan where the score is undefined."""
    from engine.measures.clusters.label_permutation import label_permutation

    null = label_permutation(vectors, class_of, n_permutations=n_permutations, seed=seed)
    return {"scores": null.scores, "p_value": null.p_value}


def _cluster_validity(
    vectors: np.ndarray, *, class_of: Sequence[int], functions: Mapping[str, str], seed: int
) -> dict[str, Any]:
    """{name: the index that its function computes, "sample_size": int, "n_starts": int}.

    `functions`: name -> "module:function" of a measure, as its card has it; the text is in the cache's key.
    """
    from engine.measures.clusters.validity import cluster_validity

    return cluster_validity(
        vectors, class_of, {name: measure_function(path) for name, path in functions.items()}, seed=seed
    )


def measure_function(path: str) -> Callable[..., Any]:
    """The function of `engine.measures` that a card names as "module:function".

    >>> measure_function("engine.measures.clusters.validity:ari").__name__
    'ari'
    """
    module, _, name = path.partition(":")
    if not module.startswith("engine.measures."):
        raise ValueError(Message("A measure's function is one of engine.measures; got {path!r}.", path=path))
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def _nearest_neighbours(vectors: np.ndarray, *, n_neighbours: int, metric: str) -> dict[str, Any]:
    """{"neighbours": int32 (n, n_neighbours), "distances": float32 (n, n_neighbours)}."""
    from engine.measures.clusters.neighbours import nearest_neighbours

    neighbours, distances = nearest_neighbours(vectors, n_neighbours=n_neighbours, metric=metric)
    return {"neighbours": neighbours, "distances": distances}


def _repeated_clustering(vectors: np.ndarray, *, class_of: Sequence[int], n_seeds: int, seed: int) -> dict[str, Any]:
    """{key of a measure card: float64 (n_seeds,)}."""
    from engine.measures.clusters.repeated_clustering import repeated_clustering

    return dict(repeated_clustering(vectors, class_of, n_seeds=n_seeds, seed=seed))


def _model_similarity(
    vectors: np.ndarray, *, first_dims: int, metric: str, seed: int, error: bool = False
) -> dict[str, Any]:
    """{"cka", "expected_cka", "rsa", "rsa_error": float, "n_rsa": int} of two models' vectors side by side.

    The first's `first_dims` dimensions are first. Pieces of earlier versions have no `rsa_error`, and no `error` in
    their key.
    """
    from engine.measures.clusters.model_similarity import model_similarity

    return asdict(
        model_similarity(vectors[:, :first_dims], vectors[:, first_dims:], metric=metric, seed=seed, error=error)
    )


VECTOR_OPERATIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "bootstrap": _bootstrap,
    "label_permutation": _label_permutation,
    "cluster_validity": _cluster_validity,
    "nearest_neighbours": _nearest_neighbours,
    "repeated_clustering": _repeated_clustering,
    "model_similarity": _model_similarity,
}
