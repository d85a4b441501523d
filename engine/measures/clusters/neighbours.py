"""Which sentences are nearest to which, and do two models agree about it?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.checks import finite_vectors
from engine.messages.message import Message, together

N_NEIGHBOURS = 10
METRICS = ("cosine", "euclidean")
Floats = NDArray[np.float64]
Narrow = NDArray[np.float32]
# Rows of the table of all distances at a time: 20,000 sentences take 80 MB then.
ROWS = 1000
# Candidates by quick float32 distances, as many again as are wanted; float64 then decides among them.
CANDIDATES = 2
# Among more sentences than this, the rows of that table are not sorted in part: what is farther than the candidates in a
# sample of PILOT sentences is passed over as it comes, in blocks that stay near the processor.
MANY_SENTENCES = 50_000
PILOT, ROWS_OF_MANY, COLUMNS_OF_MANY = 8192, 256, 8192
# Of the largest squared length: by how much two float32 products of the same vectors may differ.
ROUNDING = 1e-5
MOST_PASSED = 16  # a block with more than one in so many is sorted in part after all: equal vectors


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
    _check(n_sentences, n_neighbours, metric)
    array = _placed(array, metric, array.mean(axis=0))
    wanted = min(n_neighbours, n_sentences - 1)
    return _nearest(array, array, wanted, metric)


def neighbours_among(
    vectors: ArrayLike, others: ArrayLike, *, n_neighbours: int = N_NEIGHBOURS, metric: str = "cosine"
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Which of other sentences lie nearest to each one? As `nearest_neighbours`, but for the two lists.

    Parameters
    ----------
    vectors : (n_sentences, n_dims). others : (n_others, n_dims), among which neighbours are searched.
    n_neighbours, metric : as of `nearest_neighbours`; at most n_others are found.

    Returns (neighbours, distances), int32 and float32 (n_sentences, n_neighbours), places in `others`; a vector that is
    in both lists has itself at distance 0. Raises InputError as `nearest_neighbours`.

    >>> neighbours, distances = neighbours_among([[1.0]], [[0.0], [3.0]], n_neighbours=2, metric="euclidean")
    >>> neighbours.tolist(), distances.tolist()
    ([[0, 1]], [[1.0, 2.0]])
    """
    array, among = finite_vectors(vectors), finite_vectors(others)
    _check(len(among) + 1, n_neighbours, metric)
    middle = among.mean(axis=0)
    rows, columns = _placed(array, metric, middle), _placed(among, metric, middle)
    return _nearest(rows, columns, min(n_neighbours, len(among)), metric)


def _check(n_sentences: int, n_neighbours: int, metric: str) -> None:
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
            Message(
                "Unknown metric '{metric}'; there are {METRICS}.", metric=metric, METRICS=together(" and ", METRICS)
            )
        )


def _placed(array: Floats, metric: str, middle: Floats) -> Floats:
    """The vectors so that their Euclidean distances order as `metric` does; changed in place."""
    if metric == "cosine":
        lengths = np.linalg.norm(array, axis=1, keepdims=True)
        if not lengths.all():
            raise InputError(
                Message("A zero vector has no direction, so no cosine distance. Choose the euclidean metric.")
            )
        array /= lengths
    else:
        array -= middle  # a common offset would cost float32 its digits
    return array


def _nearest(rows: Floats, among: Floats, wanted: int, metric: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The nearest of `among` to each of `rows`; where both are one array, none is its own."""
    are_own = rows is among
    n_candidates = min(CANDIDATES * wanted, len(among) - are_own)
    narrow = among.astype(np.float32)
    narrow_rows = narrow if are_own else rows.astype(np.float32)
    half_squares = np.square(narrow).sum(axis=1) / 2
    neighbours = np.empty((len(rows), wanted), dtype=np.int32)
    distances = np.empty((len(rows), wanted), dtype=np.float32)
    many = len(among) > MANY_SENTENCES
    pilot = np.random.default_rng(0).permutation(len(among))[:PILOT] if many else None
    size = ROWS if pilot is None else ROWS_OF_MANY
    for start in range(0, len(rows), size):
        here = np.arange(start, min(start + size, len(rows)))
        own = here if are_own else None
        candidates = (
            _candidates(narrow_rows[here], own, narrow, half_squares, n_candidates)
            if pilot is None
            else _candidates_of_many(narrow_rows[here], own, narrow, half_squares, n_candidates, pilot)
        )
        exact = _distances(rows[here], among, candidates)  # (rows, n_candidates)
        order = np.argsort(exact, axis=1, kind="stable")[:, :wanted]
        neighbours[here] = np.take_along_axis(candidates, order, axis=1)
        nearest = np.take_along_axis(exact, order, axis=1)
        distances[here] = np.square(nearest) / 2 if metric == "cosine" else nearest  # ||x − y||² = 2 − 2 cos
    return neighbours, distances


def _far(block: Narrow, among: Narrow, half_squares: Narrow) -> Narrow:
    """||x − y||² / 2 less ||x||² / 2, which no order depends on, (rows, others); on the unit sphere it orders as cosine."""
    far = block @ among.T
    np.subtract(half_squares, far, out=far)
    return far


def _candidates(
    block: Narrow, own: NDArray[np.intp] | None, among: Narrow, half_squares: Narrow, n_candidates: int
) -> NDArray[np.intp]:
    """The nearest of `among` to each row of a block in ascending places, (rows, n_candidates), but for itself: `own`."""
    far = _far(block, among, half_squares)
    if own is not None:
        far[np.arange(len(block)), own] = np.inf
    return np.sort(np.argpartition(far, n_candidates - 1, axis=1)[:, :n_candidates], axis=1)


def _candidates_of_many(
    block: Narrow,
    own: NDArray[np.intp] | None,
    among: Narrow,
    half_squares: Narrow,
    n_candidates: int,
    pilot: NDArray[np.intp],
) -> NDArray[np.intp]:
    """The same of many: no candidate is farther than the last of so many in the sample `pilot`, but for rounding."""
    in_pilot = _far(block, among[pilot], half_squares[pilot])
    last = np.partition(in_pilot, n_candidates, axis=1)[:, n_candidates]  # one more than wanted: one may be itself
    limits = (last + ROUNDING * 2 * half_squares.max())[:, None]
    parts: list[tuple[NDArray[np.intp], NDArray[np.intp], Narrow]] = []
    for start in range(0, len(among), COLUMNS_OF_MANY):
        columns = slice(start, start + COLUMNS_OF_MANY)
        far = _far(block, among[columns], half_squares[columns])
        if own is not None:
            inside = np.flatnonzero((own >= start) & (own < start + far.shape[1]))
            far[inside, own[inside] - start] = np.inf
        places = np.flatnonzero(far <= limits)
        if len(places) > far.size / MOST_PASSED and far.shape[1] > n_candidates:
            nearest = np.argpartition(far, n_candidates - 1, axis=1)[:, :n_candidates]
            places = (nearest + far.shape[1] * np.arange(len(block))[:, None]).ravel()
        parts.append((places // far.shape[1], places % far.shape[1] + start, far.ravel()[places]))
    rows, others, found = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.lexsort((others, found, rows))
    first = np.searchsorted(rows[order], np.arange(len(block)))
    return np.sort(others[order[first[:, None] + np.arange(n_candidates)]], axis=1)


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


def _distances(rows: Floats, among: Floats, others: NDArray[np.intp]) -> Floats:
    """Euclidean distance of each row to its others, (rows, n_others), a column at a time."""
    columns = [np.linalg.norm(rows - among[others[:, rank]], axis=1) for rank in range(others.shape[1])]
    return np.stack(columns, axis=1)
