"""Do two models arrange the same sentences alike? Linear CKA, and the correlation of their distances (RSA)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.checks import finite_vectors
from engine.measures.clusters.neighbours import METRICS

Floats = NDArray[np.float64]
# Distances of every pair of sentences: beyond so many they are taken over a sample.
RSA_SENTENCES = 1000


@dataclass(frozen=True)
class ModelSimilarity:
    """How alike two models arrange sentences; `expected_cka` is what CKA is on average when rows are shuffled."""

    cka: float
    expected_cka: float
    rsa: float
    n_rsa: int  # sentences that the distances are taken over


def model_similarity(first: ArrayLike, second: ArrayLike, *, metric: str = "cosine", seed: int = 0) -> ModelSimilarity:
    """Linear CKA, its mean by chance, and the rank correlation of distances, of two models on the same sentences.

    Parameters
    ----------
    first : (n_sentences, n_dims), second : (n_sentences, m_dims), a row of both being one sentence.
    metric : of the distances of RSA, "cosine" or "euclidean". seed : of the sample of 1,000 sentences that RSA is
        taken over where there are more.

    Ranges as `linear_cka` and `distance_correlation` say. Raises InputError for other numbers of sentences, an unknown
    metric, and vectors that are not finite.

    >>> similarity = model_similarity([[0.0], [1.0], [3.0]], [[0.0], [2.0], [6.0]], metric="euclidean")
    >>> round(similarity.cka, 6), round(similarity.rsa, 6)
    (1.0, 1.0)
    """
    one, other = finite_vectors(first), finite_vectors(second)
    if len(one) != len(other):
        raise InputError(f"Models are compared on the same sentences; got {len(one)} and {len(other)} vectors.")
    if metric not in METRICS:
        raise InputError(f"Unknown metric '{metric}'; there are {' and '.join(METRICS)}.")
    sample = np.arange(len(one))
    if len(sample) > RSA_SENTENCES:
        sample = np.sort(np.random.default_rng(seed).choice(len(one), RSA_SENTENCES, replace=False))
    cka, expected = linear_cka(one, other)
    return ModelSimilarity(cka, expected, distance_correlation(one[sample], other[sample], metric), len(sample))


def linear_cka(first: Floats, second: Floats) -> tuple[float, float]:
    """Do two models place the sentences alike, up to a turn and a scale of the whole space?

        CKA = ||Yᵀ X||² / (||Xᵀ X|| ||Yᵀ Y||)    X, Y centred, Frobenius norms

    Returns (CKA, its mean over all orders of the rows of Y: tr(X Xᵀ) tr(Y Yᵀ) / ((n − 1) ||Xᵀ X|| ||Yᵀ Y||)). With more
    dimensions than sentences that mean comes near to 1, so that a large CKA says nothing there.

    In [0, 1], no unit; 1 = equal but for rotation, reflection and scale. Neither end is better. Fewer than 2 sentences,
    and equal vectors under one model, leave both undefined: nan.

    Source: Kornblith, Norouzi, Lee, Hinton 2019 (ICML), section 3; the mean over orders is ours.

    >>> [round(value, 6) for value in linear_cka(np.array([[0.0], [1.0], [3.0]]), np.array([[2.0], [0.0], [-4.0]]))]
    [1.0, 0.5]
    """
    if len(first) < 2:
        return float("nan"), float("nan")
    x, y = (_unit_scale(vectors) for vectors in (first, second))
    if x is None or y is None:
        return float("nan"), float("nan")
    of_first, of_second = _products_length(x), _products_length(y)
    cross = float(np.square(y.T @ x).sum()) if x.shape[1] * y.shape[1] <= len(x) ** 2 else float(
        ((x @ x.T) * (y @ y.T)).sum())
    by_chance = float(np.square(x).sum() * np.square(y).sum()) / (len(x) - 1)
    return min(1.0, cross / (of_first * of_second)), by_chance / (of_first * of_second)


def distance_correlation(first: Floats, second: Floats, metric: str = "cosine") -> float:
    """Are sentences that lie far apart under one model far apart under the other?

        RSA = Spearman's ρ of the distances of every two sentences under both models

    In [−1, 1], no unit, 0 by chance; 1 = the same order of all distances. Neither end is better. Fewer than 3
    sentences, a vector without a direction under "cosine" and distances that are all equal leave it undefined: nan.

    Source: Kriegeskorte, Mur, Bandettini 2008 (representational similarity analysis).

    >>> round(distance_correlation(np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [3.0], [4.0]]), "euclidean"), 6)
    0.5
    """
    from scipy.spatial.distance import pdist  # scipy takes a second to import: only workers need it
    from scipy.stats import rankdata

    if len(first) < 3 or (metric == "cosine" and not all(vectors.any(axis=1).all() for vectors in (first, second))):
        return float("nan")
    ranks = []
    for vectors in (first, second):
        distances = pdist(vectors, metric)
        # Equal distances differ by rounding: what is the same to 12 digits is a tie
        ranked = rankdata(np.round(distances / max(float(distances.max()), np.finfo(np.float64).tiny), 12))
        ranks.append(ranked - ranked.mean())
    lengths = [float(np.linalg.norm(ranked)) for ranked in ranks]
    if not all(lengths):
        return float("nan")
    return float(np.clip(ranks[0] @ ranks[1] / (lengths[0] * lengths[1]), -1.0, 1.0))


def _unit_scale(vectors: Floats) -> Floats | None:
    """Centred, the largest entry 1; None where nothing but rounding is left."""
    centred = np.asarray(vectors - vectors.mean(axis=0))
    largest = float(np.abs(centred).max())
    return None if largest <= 4 * np.finfo(np.float64).eps * float(np.abs(vectors).max()) else centred / largest


def _products_length(centred: Floats) -> float:
    """||Xᵀ X||, which is ||X Xᵀ||."""
    narrow = centred.shape[1] <= len(centred)
    return float(np.linalg.norm(centred.T @ centred if narrow else centred @ centred.T))
