"""Could labels at random have kept the sentences apart as well? The score M_m under permuted labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.clusters.classes import labelled_vectors
from engine.measures.clusters.dispersion import has_score
from engine.messages.message import Message

# What a block of permutations may take, for its orders or for its centroids.
BLOCK_BYTES = 64 * 2**20
# Dimensions at a time: 20,000 sentences of these stay near the processor while they are gathered in any order.
DIMENSIONS = 64
# Sums in another order differ by less, other partitions by more; in units of total scatter / B_m.
SAME = 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PermutationNull:
    """The score observed, those under permuted labels, and how rarely these are as small."""

    score: float
    scores: Floats  # (n_permutations,); inf where the permuted classes have one centroid
    p_value: float


def label_permutation(
    vectors: ArrayLike, labels: Sequence[object] | NDArray[np.generic], *, n_permutations: int = 1000, seed: int = 0
) -> PermutationNull:
    """How small would M_m be if the labels had nothing to do with the sentences?

        p = (1 + #{permutations with M_m as small as observed, or smaller}) / (1 + n_permutations)

    Each permutation gives the labels, class sizes unchanged, to the sentences at random.

    Parameters
    ----------
    vectors : (n_sentences, n_dims). labels : (n_sentences,), any that sort.
    n_permutations : 1 or more; p is no smaller than 1 / (1 + n_permutations). seed : of the permutations.

    Range: p in (0, 1]; a small p says that the labels do separate the vectors, not how well.

    Edges: a permutation that gives the same partition again counts as one as small, so with few sentences p
    cannot be small. Permuted classes with one centroid have an infinite score. Where the score observed is
    undefined, so is p: both nan, and no scores.

    Raises InputError as `dispersion` does, and for no permutation.

    Source: the permutation test, Fisher 1935; the 1 added to both sides after Phipson and Smyth 2010, so that
    p is never 0.

    >>> null = label_permutation([[0.0], [1.0], [10.0], [11.0]], ["a", "a", "b", "b"], n_permutations=99)
    >>> null.score, null.p_value > 0.2  # a third of the permutations give the same two groups
    (0.02, True)
    """
    labelled = labelled_vectors(vectors, labels)
    if n_permutations < 1:
        raise InputError(
            Message(
                "A permutation test takes at least 1 permutation; got {n_permutations}.", n_permutations=n_permutations
            )
        )
    array = labelled.vectors - labelled.vectors.mean(axis=0)
    total = float(np.square(array).sum())
    in_class, out_of_class = _dispersions(array, labelled.sizes, np.argsort(labelled.class_of, kind="stable")[None])
    if not has_score(labelled, float(out_of_class[0])):
        return PermutationNull(float("nan"), np.empty(0), float("nan"))
    random = np.random.default_rng(seed)
    block = max(1, BLOCK_BYTES // (8 * max(len(array), len(labelled.names) * DIMENSIONS)))
    scores = np.empty(n_permutations)
    for start in range(0, n_permutations, block):
        here = scores[start : start + block]
        orders = random.permuted(np.tile(np.arange(len(array)), (len(here), 1)), axis=1)  # (block, n_sentences)
        a, b = _dispersions(array, labelled.sizes, orders)
        here[:] = np.divide(a, b, out=np.full(len(here), np.inf), where=b > labelled.rounding)
    score = float(in_class[0] / out_of_class[0])
    as_small = int((scores <= score + SAME * total / out_of_class[0]).sum())
    return PermutationNull(score, scores, (1 + as_small) / (1 + n_permutations))


def _dispersions(array: Floats, sizes: NDArray[np.intp], orders: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """A_m and B_m where `orders` (n_orders, n_sentences) lists the sentences of the first class, of the second, …

    `array` is centred: then Σ_i σ_i² is its squared length less Σ_i n_i ||g_i||².
    """
    from scipy.sparse import csr_array  # imported late: only workers need it

    n_orders, n_classes = len(orders), len(sizes)
    ends = np.cumsum(np.tile(sizes, n_orders))
    weights = np.tile(np.repeat(1 / sizes, sizes), n_orders)
    taking_means = csr_array(
        (weights, orders.ravel(), np.concatenate([[0], ends])), shape=(n_orders * n_classes, len(array))
    )
    in_class, out_of_class = np.full(n_orders, np.square(array).sum()), np.zeros(n_orders)
    for first in range(0, array.shape[1], DIMENSIONS):
        means = taking_means @ np.ascontiguousarray(array[:, first : first + DIMENSIONS])
        squared = np.square(means).sum(axis=1).reshape(n_orders, n_classes)
        middles = means.reshape(n_orders, n_classes, -1).mean(axis=1)  # (n_orders, DIMENSIONS)
        in_class -= squared @ sizes
        out_of_class += squared.sum(axis=1) - n_classes * np.square(middles).sum(axis=1)
    return np.maximum(in_class, 0.0), np.maximum(out_of_class, 0.0)
