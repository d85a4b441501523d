"""How far do sentence vectors keep labelled groups apart? In-class and out-of-class dispersion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from engine.errors import InputError
from engine.measures.checks import finite_vectors


@dataclass(frozen=True)
class ClassDispersion:
    """One class: its sentences' spread, and how far its centroid lies from the mean of centroids."""

    label: str
    n: int
    dispersion: float  # sigma_i^2: sum of squared distances to the class centroid
    centroid_distance: float  # ||g - g_i||, not squared


@dataclass(frozen=True)
class Dispersion:
    """A_m, B_m and M_m of one model, and the classes (in the order of their labels) they come from."""

    in_class: float
    out_of_class: float
    score: float
    classes: tuple[ClassDispersion, ...]


def dispersion(vectors: ArrayLike, labels: Sequence[str]) -> Dispersion:
    """Do sentences of one class lie together, and the classes apart?

        A_m = sum_i sigma_i^2,    sigma_i^2 = sum_{j in C_i} ||g_i - x_ij||^2      in_class
        B_m = sum_i ||g - g_i||^2                                                  out_of_class
        M_m = A_m / B_m                                                            score

    g_i is the centroid of class i; g is the mean of the centroids, each class counting once however
    many sentences it has (not the mean of all sentences).

    Parameters
    ----------
    vectors : (n_sentences, n_dims), any float type; the computation is float64.
    labels : (n_sentences,), the class of each sentence.

    Range and better end: all three in [0, inf). Smaller A_m is better, bigger B_m is better, smaller
    M_m is better. A_m and B_m have the unit of a squared vector entry; M_m has none. A_m sums over
    sentences and B_m over classes, so M_m grows with the number of sentences per class: compare
    models on the same sentences only.

    Edges: a class of one sentence adds 0 to A_m. When B_m is 0, or no larger than the rounding error
    of the centroids (classes with one centroid), the score is nan: nothing keeps the classes apart,
    and A_m / B_m would be infinite or noise. The order of the sentences changes no result beyond rounding.

    Raises InputError for fewer than 2 labels, a label count other than n_sentences, and vectors that
    are not finite.

    Source: Shibayama et al. 2020 (PACLIC 34), section 3.1, equations 1 and 2, as printed: sums, not
    means (their footnotes 1 and 2). `centroid_distance` is the root of a class's term in B_m.

    >>> result = dispersion([[0.0, 0.0], [0.0, 2.0], [4.0, 0.0], [4.0, 2.0]], ["a", "a", "b", "b"])
    >>> result.in_class, result.out_of_class, result.score
    (4.0, 8.0, 0.5)
    """
    array = finite_vectors(vectors)  # (n_sentences, n_dims)
    if len(labels) != len(array):
        raise InputError(f"Every sentence needs one label; got {len(array)} vectors and {len(labels)} labels.")
    names, class_of = np.unique(np.asarray(labels, dtype=object), return_inverse=True)
    if len(names) < 2:
        given = f" ('{names[0]}')" if len(names) else ""
        raise InputError(f"Clustering needs at least 2 labels; got {len(names)}{given} over {len(array)} sentences. "
                         "Add a second group.")
    members = [array[class_of == index] for index in range(len(names))]
    centroids = np.stack([rows.mean(axis=0) for rows in members])  # (n_classes, n_dims)
    spreads = [float(np.square(rows - centroid).sum()) for rows, centroid in zip(members, centroids, strict=True)]
    squared_distances = np.square(centroids - centroids.mean(axis=0)).sum(axis=1)  # (n_classes,)
    in_class, out_of_class = float(np.sum(spreads)), float(squared_distances.sum())
    # A centroid is off by a few units in the last place of the largest entry; a B_m made of that is no distance.
    rounding = 4 * np.finfo(np.float64).eps * float(np.abs(array).max())
    separated = out_of_class > centroids.size * rounding**2
    return Dispersion(
        in_class=in_class,
        out_of_class=out_of_class,
        score=in_class / out_of_class if separated else float("nan"),
        classes=tuple(
            ClassDispersion(str(name), len(rows), spread, float(np.sqrt(squared)))
            for name, rows, spread, squared in zip(names, members, spreads, squared_distances, strict=True)
        ),
    )
