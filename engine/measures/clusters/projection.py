"""Maps: sentence vectors to two or three coordinates, by UMAP or PCA, the same whatever the order of the rows."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.checks import finite_vectors
from engine.measures.clusters.neighbours import nearest_neighbours, neighbours_among
from engine.measures.clusters.stratified_sample import stratified_sample
from engine.messages.message import Message, together

METRICS = ("cosine", "euclidean")
# UMAP begins with the eigenvectors of a graph, one more than there are dimensions, and needs more sentences than those.
SENTENCES_BEYOND_DIMENSIONS = 2
SAME_SIZE = 1e-6
# From so many sentences on, umap would search their neighbours approximately, by code that numba compiles for 40 s in
# every process; all of them are found faster by `nearest_neighbours`.
SEARCHED_BY_UMAP = 4096

# Two fits at once abort the whole process when numba runs on its `workqueue` layer.
_one_fit = threading.Lock()


def umap_projection(
    vectors: ArrayLike,
    *,
    n_neighbors: int = 15,
    min_dist: float = 0.1,
    metric: str = "cosine",
    seed: int = 0,
    n_components: int = 2,
    n_fitted: int | None = None,
    class_of: ArrayLike | None = None,
) -> NDArray[np.float32]:
    """Which sentences are neighbours of which, drawn on a plane?

    UMAP lays the graph of nearest neighbours out so that neighbours stay together. Distances between
    far groups, and the sizes of groups, mean little; only A_m and B_m, on the vectors themselves, measure.

    Parameters
    ----------
    vectors : (n_sentences, n_dims).
    n_neighbors : 2 or more; taken as n_sentences - 1 where there are fewer sentences than that.
    min_dist : 0 to 1, how tightly points may be packed.
    metric : "cosine" or "euclidean", between the vectors.
    seed : the layout is random; the same vectors, bit for bit, and seed give the same map on one machine. Vectors
        that differ in their last digits give another layout of the same neighbourhoods.
    n_fitted : of more sentences than so many, those of a sample are laid out, drawn with `seed` from each class in
        proportion (`stratified_sample`); each other one is then placed among its nearest ones of the sample, which stay
        where they are (umap's `transform`). None lays all of them out.
    class_of : (n_sentences,), class numbers, for the sample; None takes all as one class.

    Returns float32 (n_sentences, n_components); no unit, neither end of an axis is better, and axes
    may be turned or mirrored freely.

    Edges: rows are sorted by their entries before the fit and put back after it, so their order does
    not change the map (equal vectors may trade places among themselves). Where all are equal there is nothing
    to lay out, and all fall on 0. The first call in a process takes seconds longer: umap is imported only then, and
    numba compiles it where it has kept nothing on disk yet. Fits of one process wait for each other.

    Raises InputError for fewer than n_components + 2 sentences, vectors that are not finite, a zero vector under
    "cosine", an n_fitted below that, and settings out of range.

    Source: McInnes, Healy, Melville 2018, by umap-learn; the map of Shibayama et al. 2020 is of this
    kind. The sorting of rows is ours, and so is that the neighbours are exact however many sentences there are, also
    those among the sample; a fit on a sample and its transform are umap-learn's.

    >>> umap_projection([[0.0, 1.0]] * 3)
    Traceback (most recent call last):
    ...
    engine.errors.InputError: UMAP in 2 dimensions needs at least 4 sentences; got 3. Add sentences, or choose PCA.
    """
    array = finite_vectors(vectors)  # (n_sentences, n_dims)
    n_sentences = len(array)
    fewest = fewest_for_umap(n_components)
    if n_sentences < fewest:
        raise InputError(
            Message(
                "UMAP in {n_components} dimensions needs at least {fewest} sentences; got "
                "{n_sentences}. Add sentences, or choose PCA.",
                n_components=n_components,
                fewest=fewest,
                n_sentences=n_sentences,
            )
        )
    if metric not in METRICS:
        raise InputError(
            Message(
                "Unknown metric '{metric}'; there are {METRICS}.", metric=metric, METRICS=together(" and ", METRICS)
            )
        )
    if n_neighbors < 2 or not 0 <= min_dist <= 1 or n_components < 1:
        raise InputError(
            Message(
                "UMAP takes n_neighbors of 2 or more, min_dist between 0 and 1 and at least one "
                "component; got {n_neighbors}, {min_dist} and {n_components}.",
                n_neighbors=n_neighbors,
                min_dist=min_dist,
                n_components=n_components,
            )
        )
    if metric == "cosine" and not np.any(array, axis=1).all():
        raise InputError(Message("A zero vector has no direction, so no cosine distance. Choose the euclidean metric."))
    if (array == array[0]).all():
        return np.zeros((n_sentences, n_components), dtype=np.float32)
    if n_fitted is not None and n_fitted < fewest:
        raise InputError(
            Message(
                "A UMAP map is laid out on {fewest} sentences or more; got {n_fitted}.",
                fewest=fewest,
                n_fitted=n_fitted,
            )
        )
    order = canonical_order(array)
    ordered = array[order]
    is_fitted = np.ones(n_sentences, dtype=bool)
    if n_fitted is not None and n_fitted < n_sentences:
        classes = np.zeros(n_sentences, dtype=np.int64) if class_of is None else np.asarray(class_of)[order]
        is_fitted = np.isin(np.arange(n_sentences), stratified_sample(classes, n_fitted, seed=seed))
    with _one_fit, warnings.catch_warnings():
        # umap warns that tensorflow is missing, and where few sentences make it start in another way by itself.
        warnings.simplefilter("ignore")
        umap = _umap()
        sample = ordered[is_fitted]
        n_neighbors = min(n_neighbors, len(sample) - 1)
        known = _with_neighbours(sample, n_neighbors, metric) if len(sample) >= SEARCHED_BY_UMAP else {}
        if known and not is_fitted.all():
            known["precomputed_knn"] += (_search(sample, metric),)  # which `transform` asks
        reducer = umap.UMAP(
            n_components=n_components,
            n_neighbors=n_neighbors,
            min_dist=min_dist,
            metric=metric,
            random_state=seed,
            n_jobs=1,
            **({} if is_fitted.all() else {"transform_seed": seed}),
            **known,
        )
        places = np.empty((n_sentences, n_components), dtype=np.float32)
        places[is_fitted] = reducer.fit_transform(sample.astype(np.float32))
        if not is_fitted.all():
            places[~is_fitted] = reducer.transform(ordered[~is_fitted].astype(np.float32))
    return _put_back(places, order)


def pca_projection(vectors: ArrayLike, n_components: int = 2) -> NDArray[np.float32]:
    """Along which directions do the sentences differ most?

        coordinates = (x - mean) V,    V the eigenvectors of the covariance with the largest eigenvalues

    Parameters
    ----------
    vectors : (n_sentences, n_dims).
    n_components : at most the smaller of n_sentences and n_dims.

    Returns float32 (n_sentences, n_components), in the unit of the vectors' entries, centred at 0, the
    first column the widest; neither end of an axis is better. Each direction's sign is set so that its
    largest entry (the first of equal ones) is positive. Unlike UMAP it is linear and has no random step.

    Edges: equal vectors all fall on 0. Where two directions are equally wide, which comes first is
    arbitrary, though always the same for the same vectors in any order.

    Raises InputError for fewer than 2 sentences, more components than there are sentences or
    dimensions, and vectors that are not finite.

    Source: Pearson 1901; the same numbers as scikit-learn's PCA, whose signs are set alike, but with the
    mean taken off first also where the covariance is used, so that a common offset costs no digits.

    >>> pca_projection([[0.0, 0.0], [3.0, 4.0]], n_components=1).tolist()
    [[-2.5], [2.5]]
    """
    array = finite_vectors(vectors)  # (n_sentences, n_dims)
    if len(array) < 2 or not 1 <= n_components <= min(array.shape):
        raise InputError(
            Message(
                "A PCA map of {n_components} components needs at least 2 sentences and as many "
                "sentences and dimensions as components; got {shape} sentences of {other_shape} "
                "dimensions.",
                n_components=n_components,
                shape=array.shape[0],
                other_shape=array.shape[1],
            )
        )
    order = canonical_order(array)
    centred = array[order] - array[order].mean(axis=0)
    if len(centred) > centred.shape[1]:  # the covariance is then smaller than the data, and cheaper
        directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1].T  # (n_dims, n_dims), widest first
    else:
        directions = np.linalg.svd(centred, full_matrices=False)[2]  # (n_sentences, n_dims), widest first
    directions = directions[:n_components]
    # The first of the largest entries: of two that rounding alone tells apart, either may be the larger next time.
    sizes = np.abs(directions)
    largest = (sizes >= (1 - SAME_SIZE) * sizes.max(axis=1, keepdims=True)).argmax(axis=1)
    signs = np.sign(directions[np.arange(n_components), largest])
    return _put_back(centred @ (directions.T * signs), order)


def turned_onto(coordinates: ArrayLike, reference: ArrayLike) -> NDArray[np.float32]:
    """The same map, turned and mirrored so that each sentence is as near as can be to its place on another one.

        Y = (X − x̄) Q,    Q = argmin ||(X − x̄) Q − (R − r̄)||² over Q with Qᵀ Q = I: U Vᵀ of the SVD of (X − x̄)ᵀ (R − r̄)

    Parameters
    ----------
    coordinates, reference : (n_sentences, n_components), the same sentences in the same order.

    Returns float32 (n_sentences, n_components), centred at 0, in the unit of `coordinates`: all distances stay.

    Edges: the order of the rows changes no bit. Where the two have nothing in common any turn is as good.

    Raises InputError for shapes that differ, no sentence, and coordinates that are not finite.

    Source: Schönemann 1966 (Psychometrika 31), the orthogonal Procrustes problem, without scaling.

    >>> turned_onto([[0, 1], [0, 0], [0, -1]], [[-2, 0], [0, 0], [2, 0]]).tolist()
    [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    moved, held = np.asarray(coordinates, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if moved.ndim != 2 or moved.shape != held.shape or not len(moved):
        raise InputError(
            Message(
                "A map is turned onto one of the same sentences; got shapes {shape} and {other_shape}.",
                shape=moved.shape,
                other_shape=held.shape,
            )
        )
    if not (np.isfinite(moved).all() and np.isfinite(held).all()):
        raise InputError(Message("A map is turned by finite coordinates."))
    order = canonical_order(np.hstack([moved, held]))
    moved, held = moved[order] - moved[order].mean(axis=0), held[order] - held[order].mean(axis=0)
    left, _, right = np.linalg.svd(moved.T @ held)
    return _put_back(moved @ (left @ right) + 0.0, order)  # + 0.0: no negative zeros


def in_one_order(
    function: Callable[[NDArray[np.floating]], NDArray[np.floating]], vectors: NDArray[np.floating]
) -> NDArray[np.floating]:
    """What a function makes of the rows of `vectors` (n, d), a row of each, to the same bits in whatever order they
    are: sums over rows depend on it in their last digits."""
    order = canonical_order(vectors)
    found = function(vectors[order])
    back = np.empty_like(found)
    back[order] = found
    return back


def canonical_order(array: NDArray[np.floating]) -> NDArray[np.intp]:
    """The order of the rows by their first entry, then the second, …: one order of the same rows however they came."""
    return np.lexsort(array.T[::-1])


def fewest_for_umap(n_components: int) -> int:
    """How many sentences a UMAP map in so many dimensions needs.

    >>> fewest_for_umap(2), fewest_for_umap(3)
    (4, 5)
    """
    return n_components + SENTENCES_BEYOND_DIMENSIONS


@cache
def _umap() -> Any:
    """umap, whose compiled code numba keeps on disk: 20 s less in every process after the first one.

    numba itself tells whether what it has kept is of this version, processor and source.
    """
    import umap  # ~5 s: never at the start of a process that draws no map
    from numba.core.dispatcher import Dispatcher

    for name, module in list(sys.modules.items()):
        if name == "umap" or name.startswith("umap."):
            for function in [value for value in vars(module).values() if isinstance(value, Dispatcher)]:
                with suppress(RuntimeError):  # no directory can be written: it is compiled in each process
                    function.enable_caching()
    return umap


def _with_neighbours(array: NDArray[np.float64], n_neighbors: int, metric: str) -> dict[str, Any]:
    """The setting of umap that holds the neighbours of each row; to umap the first of them is the row itself."""
    neighbours, distances = nearest_neighbours(array, n_neighbours=n_neighbors - 1, metric=metric)
    own = np.arange(len(array), dtype=neighbours.dtype)[:, None]
    return {
        "precomputed_knn": (
            np.hstack([own, neighbours]),  # (n_sentences, n_neighbors) each
            np.hstack([np.zeros(own.shape, dtype=distances.dtype), distances]),
        )
    }


def _search(array: NDArray[np.float64], metric: str) -> Any:
    """An exhaustive search among the rows of `array`, of the class of umap's own index, which its `transform` asks."""
    from pynndescent import NNDescent

    class Search(NNDescent):  # type: ignore[misc]
        """umap takes no other index than one of this class; it asks for `query`, and how exact that one is."""

        _angular_trees = False

        def __init__(self) -> None:
            """No index is built."""

        def query(
            self, query_data: NDArray[np.float32], k: int = 10, epsilon: float = 0.1
        ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
            """The k nearest rows of `array` to each of `query_data` (n, n_dims), and their distances, (n, k) each."""
            return neighbours_among(query_data, array, n_neighbours=k, metric=metric)

    return Search()


def _put_back(fitted: NDArray[np.floating], order: NDArray[np.intp]) -> NDArray[np.float32]:
    coordinates = np.empty(fitted.shape, dtype=np.float32)
    coordinates[order] = fitted
    return coordinates
