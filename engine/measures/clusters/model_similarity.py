"""Do two models arrange the same sentences alike? Linear CKA, and the correlation of their distances (RSA)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.checks import finite_vectors
from engine.measures.clusters.neighbours import METRICS
from engine.messages.message import Message, together

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
    rsa_error: float = np.nan  # standard error of RSA over such samples; nan where all sentences are taken


def model_similarity(
    first: ArrayLike, second: ArrayLike, *, metric: str = "cosine", seed: int = 0, error: bool = False
) -> ModelSimilarity:
    """Linear CKA, its mean by chance, and the rank correlation of distances, of two models on the same sentences.

    Parameters
    ----------
    first : (n_sentences, n_dims), second : (n_sentences, m_dims), a row of both being one sentence.
    metric : of the distances of RSA, "cosine" or "euclidean". seed : of the sample of 1,000 sentences that RSA is
        taken over where there are more. error: whether the error of such a sample is computed.

    Ranges as `linear_cka` and `distance_correlation` say. Raises InputError for other numbers of sentences, an unknown
    metric, and vectors that are not finite.

    >>> similarity = model_similarity([[0.0], [1.0], [3.0]], [[0.0], [2.0], [6.0]], metric="euclidean")
    >>> round(similarity.cka, 6), round(similarity.rsa, 6)
    (1.0, 1.0)
    """
    one, other = finite_vectors(first), finite_vectors(second)
    if len(one) != len(other):
        raise InputError(
            Message(
                "Models are compared on the same sentences; got {one} and {other} vectors.",
                one=len(one),
                other=len(other),
            )
        )
    if metric not in METRICS:
        raise InputError(
            Message(
                "Unknown metric '{metric}'; there are {METRICS}.", metric=metric, METRICS=together(" and ", METRICS)
            )
        )
    sample = np.arange(len(one))
    if len(sample) > RSA_SENTENCES:
        sample = np.sort(np.random.default_rng(seed).choice(len(one), RSA_SENTENCES, replace=False))
    cka, expected = linear_cka(one, other)
    sampled = (one[sample], other[sample])
    return ModelSimilarity(
        cka,
        expected,
        distance_correlation(*sampled, metric),
        len(sample),
        distance_correlation_error(*sampled, len(one), metric) if error and len(sample) < len(one) else np.nan,
    )


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
    cross = (
        float(np.square(y.T @ x).sum())
        if x.shape[1] * y.shape[1] <= len(x) ** 2
        else float(((x @ x.T) * (y @ y.T)).sum())
    )
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
    ranks = distance_ranks(first, second, metric)
    if ranks is None:
        return float("nan")
    one, other = (ranked - ranked.mean() for ranked in ranks)
    return float(np.clip(one @ other / (float(np.linalg.norm(one)) * float(np.linalg.norm(other))), -1.0, 1.0))


def distance_correlation_error(first: Floats, second: Floats, n_sentences: int, metric: str = "cosine") -> float:
    """How far does RSA over a sample depend on which sentences were drawn, that is on the seed?

        error = 2 · √((1 − k / n) · variance of h / k),    h_i = mean of F_ij over j,
        F = I(u, v) / √(A B) − ρ / 2 · (I(u, u) / A + I(v, v) / B),    A, B = variances of u and v,
        I(u, v) = u v + sum of v' over u' > u / N + sum of u' over v' > v / N, tied ones by half

    k of n sentences are drawn without replacement; u and v are the ranks of the distance of two sentences under both
    models, the mean one of ties, in (0, 1), ρ their correlation and N their number. F is the influence of a pair, of
    which every sentence is in k − 1, on ρ: that on the covariance of u and v, and that on their variances, which only
    the sizes of the ties change.

    Parameters
    ----------
    first : (k, n_dims), second : (k, m_dims), the sample. n_sentences : n, at least k. metric : as `model_similarity`.

    Range: from 0, in the unit of RSA; 0 where all sentences are in the sample. It is of first order in 1 / k, and says
    nothing of other sentences than those of the data. Edges: nan where RSA is.

    Raises InputError for fewer sentences than in the sample.

    Source: influence function of Spearman's ρ: Croux and Dehon 2010, who have no ties: for these the ranks and the
    variances are ours; the projection of a mean over pairs on their members: Hoeffding 1948; finite population: Cochran
    1977, chapter 2.
    """
    ranks, k = distance_ranks(first, second, metric), len(first)
    if n_sentences < k:
        raise InputError(Message("A sample of {k} sentences is not of {n_sentences}.", k=k, n_sentences=n_sentences))
    if ranks is None:
        return float("nan")
    if n_sentences == k:
        return 0.0
    from scipy.spatial.distance import squareform  # scipy takes a second to import: only workers need it

    u, v = ((ranked - 0.5) / ranked.size for ranked in ranks)
    of_u, of_v = (np.unique(ranked, return_inverse=True)[1] for ranked in ranks)  # (n_pairs,), equal for ties
    variance_u, variance_v = float(u.var()), float(v.var())
    scale = np.sqrt(variance_u * variance_v)
    rho = float((u - 0.5) @ (v - 0.5)) / u.size / scale  # the mean of u and of v is 0.5, with ties too
    on_covariance = u * v + _mean_above(of_u, v) + _mean_above(of_v, u)
    on_variance_u, on_variance_v = u * u + 2 * _mean_above(of_u, u), v * v + 2 * _mean_above(of_v, v)
    influence = on_covariance / scale - rho / 2 * (on_variance_u / variance_u + on_variance_v / variance_v)
    of_sentence = squareform(influence).sum(axis=1) / (k - 1)  # of (k, k), 0 for a sentence with itself
    return float(2 * np.sqrt((1 - k / n_sentences) * of_sentence.var(ddof=1) / k))


def _mean_above(places: NDArray[np.int64], values: Floats) -> Floats:
    """For each item the sum of the values of those in a higher place and half of those in its own, over all: (n,).

    places: (n,), from 0 without gaps.
    """
    sums = np.bincount(places, weights=values)
    return (np.cumsum(sums[::-1])[::-1] - sums / 2)[places] / values.size


def distance_ranks(first: Floats, second: Floats, metric: str) -> tuple[Floats, Floats] | None:
    """The ranks from 1 of the distances of every two sentences under both models, (n_pairs,) each, in pdist's order.

    None where `distance_correlation` is undefined.
    """
    from scipy.spatial.distance import pdist  # scipy takes a second to import: only workers need it
    from scipy.stats import rankdata

    if len(first) < 3 or (metric == "cosine" and not all(vectors.any(axis=1).all() for vectors in (first, second))):
        return None
    ranks = []
    for vectors in (first, second):
        distances = pdist(vectors, metric)
        # Equal distances differ by rounding: what is the same to 12 digits is a tie
        ranks.append(rankdata(np.round(distances / max(float(distances.max()), np.finfo(np.float64).tiny), 12)))
    return None if any(np.ptp(ranked) == 0 for ranked in ranks) else (ranks[0], ranks[1])


def _unit_scale(vectors: Floats) -> Floats | None:
    """Centred, the largest entry 1; None where nothing but rounding is left."""
    centred = np.asarray(vectors - vectors.mean(axis=0))
    largest = float(np.abs(centred).max())
    return None if largest <= 4 * np.finfo(np.float64).eps * float(np.abs(vectors).max()) else centred / largest


def _products_length(centred: Floats) -> float:
    """||Xᵀ X||, which is ||X Xᵀ||."""
    narrow = centred.shape[1] <= len(centred)
    return float(np.linalg.norm(centred.T @ centred if narrow else centred @ centred.T))
