"""What the field asks of labelled vectors: silhouette, Calinski-Harabasz, Davies-Bouldin, k-means against labels.

Each index is a function of `ValidityInputs`, and `cluster_validity` computes any of them together. The measure card of
an index names its function, so that an index of another file is computed once it has a card and stands in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.measures.clusters.validity_inputs import ValidityInputs, validity_inputs

Index = Callable[[ValidityInputs], float]

# scikit-learn and scipy take a second to import: only workers need them.


def cluster_validity(
    vectors: ArrayLike, labels: Sequence[object] | NDArray[np.generic], indices: Mapping[str, Index], *, seed: int = 0
) -> dict[str, float]:
    """Do the labels lie where the vectors cluster?

    Parameters
    ----------
    vectors : (n_sentences, n_dims). labels : (n_sentences,), any that sort. Distances are euclidean.
    indices : the functions to compute, by the name that each is returned under.
    seed : of k-means, and of the silhouette's sample where there are more than 5,000 sentences.

    Returns each index under its name, nan where it is undefined; `sample_size`, the sentences that the silhouette is
    taken over; and `n_starts`, how often k-means started: 10 times, fewer times for large data.

    The order of the sentences changes nothing: they are sorted first. Nor do place and unit of the vectors, but their
    place for the indices of `sphere`.

    Raises InputError as `dispersion` does.

    >>> cluster_validity([[0.0], [1.0], [10.0], [11.0]], ["a", "a", "b", "b"], {"CH": calinski_harabasz, "ARI": ari})
    {'CH': 200.0, 'ARI': 1.0, 'sample_size': 4, 'n_starts': 10}
    """
    inputs = validity_inputs(vectors, labels, seed=seed)
    return {
        **{name: index(inputs) for name, index in indices.items()},
        "sample_size": len(inputs.sample),
        "n_starts": inputs.n_starts,
    }


def silhouette(inputs: ValidityInputs) -> float:
    """Does a sentence lie nearer to its own class than to the nearest other one?

        mean of (b − a) / max(a, b)

    a is a sentence's mean distance to the others of its class, b that to the sentences of the nearest other class.

    In [−1, 1], no unit; bigger is better. A class of one sentence counts as 0. As many classes as sentences, equal
    vectors and a sample of one class leave it undefined: nan.

    Source: Rousseeuw 1987, by scikit-learn.
    """
    from sklearn.metrics import silhouette_score

    array, class_of = inputs.array[inputs.sample], inputs.class_of[inputs.sample]
    if inputs.all_equal or not 2 <= len(np.unique(class_of)) < len(array):
        return float("nan")
    return float(silhouette_score(array, class_of))


def calinski_harabasz(inputs: ValidityInputs) -> float:
    """How far do the classes lie apart for each unit that their sentences scatter?

        [Σ_i n_i ||g_i − x̄||² / (N − 1)] / [A_m / (n − N)]

    N classes with centroids g_i, n sentences, x̄ their mean.

    In [0, inf), no unit; bigger is better. As many classes as sentences and classes without any spread leave it
    undefined: nan, where scikit-learn says 1.

    Source: Caliński and Harabasz 1974.
    """
    labelled = inputs.labelled
    n_sentences, n_classes = len(labelled.vectors), len(labelled.names)
    within = float(np.square(labelled.vectors - labelled.centroids[labelled.class_of]).sum())
    if n_sentences == n_classes or within <= labelled.rounding * n_sentences / n_classes:
        return float("nan")
    between = float(labelled.sizes @ np.square(labelled.centroids - labelled.vectors.mean(axis=0)).sum(axis=1))
    return between / (n_classes - 1) / (within / (n_sentences - n_classes))


def davies_bouldin(inputs: ValidityInputs) -> float:
    """How much do each class and the one most like it overlap?

        mean over i of max over j of (s_i + s_j) / ||g_i − g_j||

    s_i is the mean distance of class i to its centroid g_i.

    In [0, inf), no unit; smaller is better. Two classes with one centroid leave it undefined: nan, where scikit-learn
    passes over them; and so does a sentence of its own in every class, where scikit-learn says 0, the best value.

    Source: Davies and Bouldin 1979.
    """
    from scipy.spatial.distance import pdist, squareform

    labelled = inputs.labelled
    if inputs.each_alone:
        return float("nan")
    distances = squareform(pdist(labelled.centroids))  # (n_classes, n_classes)
    np.fill_diagonal(distances, np.inf)
    if distances.min() ** 2 <= labelled.rounding:
        return float("nan")
    spreads = np.linalg.norm(labelled.vectors - labelled.centroids[labelled.class_of], axis=1)  # (n_sentences,)
    means = np.bincount(labelled.class_of, weights=spreads) / labelled.sizes
    return float(((means[:, None] + means) / distances).max(axis=1).mean())


def v_measure(inputs: ValidityInputs) -> float:
    """Does k-means find the classes: the harmonic mean of homogeneity and completeness of its clusters.

    In [0, 1], no unit; bigger is better, and above 0 at chance. A sentence of its own in every class, of which k-means
    has nothing to find, and equal vectors leave it undefined: nan, where scikit-learn says 1 and 0.

    Source: Rosenberg and Hirschberg 2007, by scikit-learn; k-means++ by Arthur and Vassilvitskii 2007.
    """
    from sklearn.metrics import v_measure_score

    return _of_clusters(v_measure_score, inputs)


def ari(inputs: ValidityInputs) -> float:
    """Do k-means and the labels agree, beyond chance, about which sentences belong together?

        (RI − E[RI]) / (max RI − E[RI])

    RI is the share of the pairs of sentences that labels and k-means treat alike.

    In [−0.5, 1], no unit; bigger is better, 0 at chance. Undefined, nan, where the V-measure is.

    Source: Hubert and Arabie 1985, by scikit-learn.
    """
    from sklearn.metrics import adjusted_rand_score

    return _of_clusters(adjusted_rand_score, inputs)


def nmi(inputs: ValidityInputs) -> float:
    """How much does k-means' cluster of a sentence say of its label?

        mutual information of labels and clusters / sqrt(H(labels) H(clusters))

    In [0, 1], no unit; bigger is better, and above 0 at chance. Undefined, nan, where the V-measure is. The mean is
    geometric, since with the arithmetic one it is the V-measure again.

    Source: Strehl and Ghosh 2002, by scikit-learn.
    """
    from sklearn.metrics import normalized_mutual_info_score

    return _of_clusters(partial(normalized_mutual_info_score, average_method="geometric"), inputs)


def _of_clusters(score: Callable[[Any, Any], float], inputs: ValidityInputs) -> float:
    """A score of the labels and the clusters of k-means."""
    if inputs.each_alone or inputs.all_equal:
        return float("nan")
    return float(score(inputs.class_of, inputs.clusters))
