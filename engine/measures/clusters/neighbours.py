"""Which sentences are nearest to which, and do two models agree about it?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.checks import finite_vectors
from engine.messages.message import Message

N_NEIGHBOURS = 10
METRICS = ("cosine", "euclidean")
# Rows of the table of all distances at a time: 20,000 sentences take 80 MB then.
ROWS = 1000
# Candidates by quick float32 distances, as many again as are wanted; float64 then decides among them.
CANDIDATES = 2


def nearest_neighbours(
    vectors: ArrayLike, *, n_neighbours: int = N_NEIGHBOURS, metric: str = "cosine"
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Which sentences lie nearest to each one, in all dimensions?

        distance = 1 − cos(x, y)    "cosine"
                   ||x − y||        "euclidean"

    Parameters
    ----------
    vectors : (n_sentences, n_dims).
    n_neighbours : taken as n_sentences − 1 where there are fewer sentences than that.
    metric : "cosine" or "euclidean".

    Returns (neighbours, distances), int32 and float32 (n_sentences, n_neighbours), the nearest first; a neighbour
    is its place in `vectors`, and no sentence is its own. Distances in [0, 2] without unit, or in [0, inf) in
    the unit of the entries; smaller is nearer.

    Edges: equal vectors are at distance 0. Of equally near sentences the earlier come first, where there are no
    more than 2 n_neighbours of them. Candidates, 2 n_neighbours for each sentence, are found in float32, so a
    neighbour that differs from that many others by less than about 1e-7 of the largest distance may be missed.

    Raises InputError for fewer than 2 sentences, n_neighbours below 1, an unknown metric, a zero vector under
    "cosine", and vectors that are not finite.

    Source: exhaustive search, as scikit-learn's NearestNeighbors(algorithm="brute"), whose distances these are.

    >>> neighbours, distances = nearest_neighbours([[0.0], [1.0], [5.0]], n_neighbours=1, metric="euclidean")
    >>> neighbours.ravel().tolist(), distances.ravel().tolist()
    ([1, 0, 1], [1.0, 1.0, 4.0])
    """
    array = finite_vectors(vectors)  # (n_sentences, n_dims)
    n_sentences = len(array)
    if n_sentences < 2 or n_neighbours < 1:
        raise InputError(
            Message(
                "Neighbours need at least 2 sentences and 1 neighbour; got {n_sentences} and {n_neighbours}.",
                n_sentences=n_sentences,
                n_neighbours=n_neighbours,
            )
        )
    if metric not in METRICS:
        raise InputError(
            Message("Unknown metric '{metric}'; there are {METRICS}.", metric=metric, METRICS=" and ".join(METRICS))
        )
    if metric == "cosine":
        lengths = np.linalg.norm(array, axis=1, keepdims=True)
        if not lengths.all():
            raise InputError(
                Message("A zero vector has no direction, so no cosine distance. Choose the euclidean metric.")
            )
        array /= lengths
    else:
        array -= array.mean(axis=0)  # a common offset would cost float32 its digits
    wanted = min(n_neighbours, n_sentences - 1)
    n_candidates = min(CANDIDATES * wanted, n_sentences - 1)
    narrow = array.astype(np.float32)
    half_squares = np.square(narrow).sum(axis=1) / 2
    neighbours = np.empty((n_sentences, wanted), dtype=np.int32)
    distances = np.empty((n_sentences, wanted), dtype=np.float32)
    for start in range(0, n_sentences, ROWS):
        here = np.arange(start, min(start + ROWS, n_sentences))
        # ||x − y||² / 2 less ||x||² / 2, which no order depends on; on the unit sphere it orders as cosine does
        far = narrow[here] @ narrow.T  # (rows, n_sentences)
        np.subtract(half_squares, far, out=far)
        far[np.arange(len(here)), here] = np.inf
        candidates = np.sort(np.argpartition(far, n_candidates - 1, axis=1)[:, :n_candidates], axis=1)
        exact = _distances(array, here, candidates)  # (rows, n_candidates)
        order = np.argsort(exact, axis=1, kind="stable")[:, :wanted]
        neighbours[here] = np.take_along_axis(candidates, order, axis=1)
        nearest = np.take_along_axis(exact, order, axis=1)
        distances[here] = np.square(nearest) / 2 if metric == "cosine" else nearest  # ||x − y||² = 2 − 2 cos
    return neighbours, distances


def neighbour_overlap(first: NDArray[np.int32], second: NDArray[np.int32]) -> float:
    """What share of a sentence's nearest neighbours do two models have in common, on average?

        overlap = mean over sentences of |N_a ∩ N_b| / k

    Parameters
    ----------
    first, second : (n_sentences, k), neighbours of the same sentences in one numbering, none twice in a row.

    Range [0, 1]; 1 = the same neighbours. Neither end is better: models may be alike and both wrong. By chance
    it is `expected_overlap`.

    Edges: no sentence at all gives nan. Raises InputError for two shapes.

    Source: the local continuity meta-criterion of Chen and Buja 2009, there between a space and its map.

    >>> neighbour_overlap(np.array([[1, 2], [0, 2]]), np.array([[2, 3], [3, 4]]))
    0.25
    """
    if first.shape != second.shape or first.ndim != 2:
        raise InputError(
            Message(
                "Overlap compares as many neighbours of as many sentences; got the shapes {shape} and {other_shape}.",
                shape=first.shape,
                other_shape=second.shape,
            )
        )
    if not first.size:
        return float("nan")
    shared = (first[:, :, None] == second[:, None, :]).any(axis=2)  # (n_sentences, k)
    return float(shared.mean())


def expected_overlap(n_sentences: int, n_neighbours: int) -> float:
    """What would the overlap be if both models drew their neighbours at random: k / (n − 1). Range [0, 1].

    >>> expected_overlap(101, 10)
    0.1
    """
    return n_neighbours / (n_sentences - 1)


def _distances(array: NDArray[np.float64], rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
    """Euclidean distance of each row to its others, (rows, n_others), a column at a time."""
    columns = [np.linalg.norm(array[rows] - array[others[:, rank]], axis=1) for rank in range(others.shape[1])]
    return np.stack(columns, axis=1)
