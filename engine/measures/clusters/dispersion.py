"""How far do sentence vectors keep labelled groups apart? In-class and out-of-class dispersion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from engine.measures.clusters.classes import LabelledVectors, labelled_vectors


@dataclass(frozen=True)
class ClassDispersion:
    """One class: its sentences' spread, and how far its centroid lies from the mean of centroids."""

    label: str
    n: int
    dispersion: float  # sigma_i^2: sum of squared distances to the class centroid
    centroid_distance: float  # ||g - g_i||, not squared


@dataclass(frozen=True)
class Dispersion:
    """A_m, B_m and M_m of one model, their variances, and the classes (in the order of their labels)."""

    in_class: float
    out_of_class: float
    score: float
    in_class_variance: float
    out_of_class_variance: float
    classes: tuple[ClassDispersion, ...]


def dispersion(vectors: ArrayLike, labels: Sequence[str]) -> Dispersion:
    """Do sentences of one class lie together, and the classes apart?

        A_m = sum_i sigma_i^2,    sigma_i^2 = sum_{j in C_i} ||g_i - x_ij||^2      in_class
        B_m = sum_i ||g - g_i||^2                                                  out_of_class
        M_m = A_m / B_m                                                            score
        A_m / number of sentences                                                  in_class_variance
        B_m / number of classes                                                    out_of_class_variance

    g_i is the centroid of class i; g is the mean of the centroids, each class counting once however
    many sentences it has (not the mean of all sentences).

    Parameters
    ----------
    vectors : (n_sentences, n_dims), any float type; the computation is float64.
    labels : (n_sentences,), the class of each sentence.

    Range and better end: all in [0, inf). Smaller A_m is better, bigger B_m is better, smaller M_m is
    better, and each variance as its sum. A_m and B_m have the unit of a squared vector entry; M_m has
    none. A_m sums over sentences and B_m over classes, so M_m grows with the number of sentences per
    class: compare models on the same sentences only. The variances do not grow so; but of any B_m about
    A_m / (sentences per class squared) is only what the centroids are off by.

    Edges: a class of one sentence adds 0 to A_m; where every class has one, A_m is 0 by construction and the score is
    nan. When B_m is 0, or no larger than the rounding error
    of the centroids (classes with one centroid), the score is nan: nothing keeps the classes apart,
    and A_m / B_m would be infinite or noise. The order of the sentences changes no result beyond rounding.

    Raises InputError for fewer than 2 labels, a label count other than n_sentences, and vectors that
    are not finite.

    Source: Shibayama et al. 2020 (PACLIC 34), section 3.1, equations 1 and 2, as printed: sums, not
    means. Footnotes 1 and 2 call the sums a simplification of variances, the true one being sigma_i^2 / N. N is
    the number of classes beside equation 1, which would leave a sum over sentences: here A_m is divided
    by the number of sentences, B_m by the number of classes. `centroid_distance` is the root of a class's term
    in B_m.

    >>> result = dispersion([[0.0, 0.0], [0.0, 2.0], [4.0, 0.0], [4.0, 2.0]], ["a", "a", "b", "b"])
    >>> result.in_class, result.out_of_class, result.score
    (4.0, 8.0, 0.5)
    """
    labelled = labelled_vectors(vectors, labels)
    spreads = [
        float(np.square(labelled.members(number) - centroid).sum())
        for number, centroid in enumerate(labelled.centroids)
    ]
    squared_distances = np.square(labelled.centroids - labelled.middle).sum(axis=1)  # (n_classes,)
    in_class, out_of_class = float(np.sum(spreads)), float(squared_distances.sum())
    return Dispersion(
        in_class=in_class,
        out_of_class=out_of_class,
        score=in_class / out_of_class if has_score(labelled, out_of_class) else float("nan"),
        in_class_variance=in_class / len(labelled.vectors),
        out_of_class_variance=out_of_class / len(labelled.names),
        classes=tuple(
            ClassDispersion(name, int(n), spread, float(np.sqrt(squared)))
            for name, n, spread, squared in zip(labelled.names, labelled.sizes, spreads, squared_distances, strict=True)
        ),
    )


def has_score(labelled: LabelledVectors, out_of_class: float) -> bool:
    """Whether A_m / B_m is defined: a class has two sentences at least, and B_m is more than rounding."""
    return bool(labelled.sizes.max() > 1) and out_of_class > labelled.rounding
