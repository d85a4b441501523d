"""What the field asks of labelled vectors: silhouette, Calinski-Harabasz, Davies-Bouldin, k-means against labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.measures.clusters.classes import LabelledVectors, labelled_vectors
from engine.measures.clusters.projection import canonical_order

# Distances of every pair: beyond this many sentences the silhouette is taken over a sample of them.
SILHOUETTE_SENTENCES = 5000
# k-means starts anew ten times, and less often where a pass over sentences x classes x dimensions takes long.
STARTS = 10
WORK = 1e9


@dataclass(frozen=True)
class ClusterValidity:
    """Six numbers on one set of labelled vectors; nan where one is undefined."""

    silhouette: float
    calinski_harabasz: float
    davies_bouldin: float
    v_measure: float
    ari: float
    nmi: float
    sample_size: int  # sentences that the silhouette was taken over
    n_starts: int  # of k-means


def cluster_validity(vectors: ArrayLike, labels: Sequence[object] | NDArray[np.generic], *,
                     seed: int = 0) -> ClusterValidity:
    """Do the labels lie where the vectors cluster?

        silhouette         mean of (b − a) / max(a, b): a a sentence's mean distance to the others of its class, b that
                           to the sentences of the nearest other class
        calinski_harabasz  [Σ_i n_i ||g_i − x̄||² / (N − 1)] / [A_m / (n − N)], N classes, n sentences, x̄ their mean
        davies_bouldin     mean over i of max over j of (s_i + s_j) / ||g_i − g_j||, s_i the mean distance of class i
                           to its centroid
        v_measure          harmonic mean of homogeneity and completeness of k-means' clusters, as many as classes
        ari                (RI − E[RI]) / (max RI − E[RI]), RI the share of pairs that labels and k-means treat alike
        nmi                mutual information of labels and k-means' clusters / sqrt(H(labels) H(clusters))

    Parameters
    ----------
    vectors : (n_sentences, n_dims). labels : (n_sentences,), any that sort. Distances are euclidean.
    seed : of k-means, and of the silhouette's sample where there are more than 5,000 sentences.

    Range and better end: silhouette and ari in [−1, 1] (ari in fact from −0.5), v_measure and nmi in [0, 1],
    calinski_harabasz in [0, inf): bigger is better; ari is 0 at chance, v_measure and nmi above it.
    davies_bouldin in [0, inf): smaller is better. No unit.

    Edges: silhouette counts a class of one sentence as 0. As many classes as sentences leave silhouette and
    calinski_harabasz undefined, classes without any spread calinski_harabasz, two classes with one centroid
    davies_bouldin, equal vectors or a sample of one class the silhouette: each nan (scikit-learn answers some with 0
    or 1, and for davies_bouldin passes over classes with one centroid).
    The order of the sentences changes nothing: they are sorted first. nmi's mean is geometric, since with the
    arithmetic one it is the V-measure again. k-means starts 10 times, fewer times for large data.

    Raises InputError as `dispersion` does. The numbers are scikit-learn's.

    Source: Rousseeuw 1987; Caliński and Harabasz 1974; Davies and Bouldin 1979; Rosenberg and Hirschberg 2007; Hubert
    and Arabie 1985; Strehl and Ghosh 2002; k-means++ by Arthur and Vassilvitskii 2007.

    >>> validity = cluster_validity([[0.0], [1.0], [10.0], [11.0]], ["a", "a", "b", "b"])
    >>> round(validity.silhouette, 3), validity.calinski_harabasz, validity.ari
    (0.9, 200.0, 1.0)
    """
    from sklearn import metrics  # takes a second to import: only workers need it

    labelled = labelled_vectors(vectors, labels)
    order = canonical_order(labelled.vectors)
    class_of = labelled.class_of[order]
    # None of the numbers depends on place or unit; float32 and scikit-learn's tests against 0 do.
    array = labelled.vectors[order] - labelled.vectors.mean(axis=0)
    largest = float(np.abs(array).max())
    alike = largest**2 <= labelled.rounding
    array = np.zeros_like(array) if alike else array / largest
    sample = _sample(len(array), seed)
    clusters, n_starts = _k_means(array, len(labelled.names), seed)
    return ClusterValidity(
        silhouette=float("nan") if alike else _silhouette(array[sample], class_of[sample]),
        calinski_harabasz=_calinski_harabasz(labelled),
        davies_bouldin=_davies_bouldin(labelled),
        v_measure=float(metrics.v_measure_score(class_of, clusters)),
        ari=float(metrics.adjusted_rand_score(class_of, clusters)),
        nmi=float(metrics.normalized_mutual_info_score(class_of, clusters, average_method="geometric")),
        sample_size=len(sample),
        n_starts=n_starts,
    )


def _sample(n_sentences: int, seed: int) -> NDArray[np.intp]:
    if n_sentences <= SILHOUETTE_SENTENCES:
        return np.arange(n_sentences)
    drawn = np.random.default_rng(seed).choice(n_sentences, SILHOUETTE_SENTENCES, replace=False)
    return np.sort(drawn)


def _silhouette(array: NDArray[np.float64], class_of: NDArray[np.intp]) -> float:
    from sklearn.metrics import silhouette_score

    if not 2 <= len(np.unique(class_of)) < len(array):
        return float("nan")
    return float(silhouette_score(array, class_of))


def _calinski_harabasz(labelled: LabelledVectors) -> float:
    n_sentences, n_classes = len(labelled.vectors), len(labelled.names)
    within = float(np.square(labelled.vectors - labelled.centroids[labelled.class_of]).sum())
    if n_sentences == n_classes or within <= labelled.rounding * n_sentences / n_classes:
        return float("nan")
    between = float(labelled.sizes @ np.square(labelled.centroids - labelled.vectors.mean(axis=0)).sum(axis=1))
    return between / (n_classes - 1) / (within / (n_sentences - n_classes))


def _davies_bouldin(labelled: LabelledVectors) -> float:
    from scipy.spatial.distance import pdist, squareform

    distances = squareform(pdist(labelled.centroids))  # (n_classes, n_classes)
    np.fill_diagonal(distances, np.inf)
    if distances.min() ** 2 <= labelled.rounding:
        return float("nan")
    spreads = np.linalg.norm(labelled.vectors - labelled.centroids[labelled.class_of], axis=1)  # (n_sentences,)
    means = np.bincount(labelled.class_of, weights=spreads) / labelled.sizes
    return float(((means[:, None] + means) / distances).max(axis=1).mean())


def _k_means(array: NDArray[np.float64], n_clusters: int, seed: int) -> tuple[NDArray[np.intp], int]:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    n_starts = int(np.clip(WORK / (array.size * n_clusters), 1, STARTS))
    # A BLAS may raise the flag of an invalid value for what lies beside the data in a register: seen on one column.
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        # Fewer different vectors than classes: k-means then finds fewer clusters, which the numbers show.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = KMeans(n_clusters, n_init=n_starts, random_state=seed).fit(array.astype(np.float32))
    return np.asarray(fitted.labels_), n_starts
