"""How far does the silhouette of a sample of the sentences differ from that of another sample?"""

from __future__ import annotations

import numpy as np

from engine.measures.clusters.validity_inputs import ValidityInputs


def silhouette_error(inputs: ValidityInputs) -> float:
    """How far does the silhouette of a sample depend on which sentences were drawn, that is on the seed?

        error = √((1 − k / n) · variance of φ / k),    φ_i = s_i + Σ_j (∂s_j/∂a_j · ∂a_j/∂w_i + ∂s_j/∂b_j · ∂b_j/∂w_i)

    k of n sentences are drawn without replacement. φ_i is what one more copy of sentence i would add: its own
    silhouette, and what it changes in the mean distances a and b of the others (the infinitesimal jackknife).

    Range: [0, ∞), in the unit of the silhouette; 0 where all sentences are in the sample. It says nothing of other
    sentences than those of the data. Edges: nan where the silhouette is.

    Source: Efron 1982 (The Jackknife, chapter 6), the finite population: Cochran 1977, chapter 2.
    """
    from sklearn.metrics.pairwise import euclidean_distances  # takes a second to import: only workers need it

    array, n = inputs.array[inputs.sample], len(inputs.array)
    class_of = np.unique(inputs.class_of[inputs.sample], return_inverse=True)[1]
    k, sizes = len(array), np.bincount(class_of)
    if inputs.all_equal or not 2 <= len(sizes) < k:
        return float("nan")
    if k == n:
        return 0.0
    rows = np.arange(k)
    members = np.zeros((k, len(sizes)))
    members[rows, class_of] = 1
    distances = euclidean_distances(array)  # (k, k)
    totals = distances @ members  # (k, n_classes)
    alone = sizes[class_of] == 1
    within = totals[rows, class_of] / np.maximum(sizes[class_of] - 1, 1)
    means = totals / sizes
    means[rows, class_of] = np.inf
    near = means.argmin(axis=1)
    without = means[rows, near]
    largest = np.maximum(within, without)
    values = np.where(alone | (largest == 0), 0.0, (without - within) / np.where(largest > 0, largest, 1))
    fixed = np.where(alone | (within == 0) | (without == 0), 0.0, 1.0)  # a silhouette at an end does not move
    inside = within < without
    safe_within, safe_without = np.where(within > 0, within, 1), np.where(without > 0, without, 1)
    of_within = fixed * np.where(inside, -1 / safe_without, -without / safe_within**2)
    of_without = fixed * np.where(inside, within / safe_without**2, 1 / safe_within)
    # What each sentence j takes from a change of a_j and b_j, put where the sentences i of these classes find it.
    by_class = np.zeros((k, len(sizes)))
    by_class[rows, class_of] = of_within / np.maximum(sizes[class_of] - 1, 1)
    by_class[rows, near] += of_without / sizes[near]
    level = np.zeros_like(by_class)
    level[rows, class_of] = by_class[rows, class_of] * within
    level[rows, near] = by_class[rows, near] * without
    moved = (distances @ by_class - level.sum(axis=0))[rows, class_of]
    moved += by_class[rows, class_of] * within  # a sentence is not among the others of its class
    influence = values + moved
    return float(np.sqrt((1 - k / n) * influence.var(ddof=1) / k))
