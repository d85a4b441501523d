"""Why is a score what it is? Distances between the classes' centroids, and of each sentence to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.measures.clusters.classes import labelled_vectors

# Distances of that many sentences to all centroids at a time.
ROWS = 1000


@dataclass(frozen=True)
class CentroidDistances:
    """Euclidean distances in all dimensions; classes in the order of their labels."""

    names: tuple[str, ...]
    between: NDArray[np.float64]  # (n_classes, n_classes)
    own: NDArray[np.float64]  # (n_sentences,), to the centroid of its own class
    nearest_class: NDArray[np.intp]  # (n_sentences,), index in `names`
    nearest: NDArray[np.float64]  # (n_sentences,), to that class's centroid


def centroid_distances(vectors: ArrayLike, labels: Sequence[str]) -> CentroidDistances:
    """Which classes lie near each other, and which sentences lie nearer to another class than to their own?

        between[i, j] = ||g_i − g_j||,    own[s] = ||x_s − g_class(s)||,    nearest[s] = min_i ||x_s − g_i||

    Parameters
    ----------
    vectors : (n_sentences, n_dims). labels : (n_sentences,).

    Range [0, inf), in the unit of the vectors' entries; the squares of `own` add up to A_m. A centroid holds the
    sentence itself, which draws it nearer to its own class by 1/n of the way.

    Edges: a class of one sentence has that sentence at 0. Where another centroid is as near as its own, up to
    rounding, a sentence's nearest class is its own.

    Raises InputError as `dispersion` does. Source: Shibayama et al. 2020, section 3.1, whose g_i these are.

    >>> distances = centroid_distances([[0.0], [7.0], [8.0], [9.0]], ["a", "a", "b", "b"])
    >>> float(distances.between[0, 1]), [distances.names[number] for number in distances.nearest_class]
    (5.0, ['a', 'b', 'b', 'b'])
    """
    labelled = labelled_vectors(vectors, labels)
    between = np.stack([np.linalg.norm(labelled.centroids - centroid, axis=1) for centroid in labelled.centroids])
    own = np.linalg.norm(labelled.vectors - labelled.centroids[labelled.class_of], axis=1)
    nearest_class = np.empty_like(labelled.class_of)
    # Far from the origin the product would lose digits.
    centroids = labelled.centroids - labelled.middle  # (n_classes, n_dims)
    half_squares = np.square(centroids).sum(axis=1) / 2
    for start in range(0, len(own), ROWS):
        here = slice(start, start + ROWS)
        # ||x − g||² / 2 less ||x||² / 2
        nearest_class[here] = (half_squares - (labelled.vectors[here] - labelled.middle) @ centroids.T).argmin(axis=1)
    nearest = np.linalg.norm(labelled.vectors - labelled.centroids[nearest_class], axis=1)
    stays = own <= nearest + np.sqrt(labelled.rounding)
    return CentroidDistances(
        labelled.names, between, own, np.where(stays, labelled.class_of, nearest_class), np.where(stays, own, nearest)
    )
