"""Sentence vectors on the unit sphere: do those of one class lie together, and does all lie spread? Alignment, uniformity.

Both are of the directions of the vectors as they are: unlike the other indices they depend on where the origin is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from engine.measures.clusters.projection import canonical_order
from engine.measures.clusters.validity_inputs import ValidityInputs

TEMPERATURE = 2.0  # the t of uniformity
_BLOCK_ROWS = 512  # of the products of every two vectors

Floats = NDArray[np.float64]


def class_alignment(inputs: ValidityInputs) -> float:
    """How far do two sentences of one class lie apart on the unit sphere?

        mean of ||f(x) − f(y)||² over the pairs of different sentences with one label,    f(x) = x / ||x||

    The positive pairs of Wang and Isola are here every two sentences of one class, so that a class of n sentences has
    n (n − 1) / 2 of them and large classes weigh more.

    In [0, 4], no unit; lower is better, and 0 where all vectors point one way, which is why it is read beside
    `uniformity`. A sentence of its own in every class, and a vector without a direction (0), leave it undefined: nan.

    Source: Wang and Isola 2020 (ICML), section 4.1.2, with α = 2.
    """
    units = _units(inputs)
    labelled = inputs.labelled
    n_pairs = float((labelled.sizes * (labelled.sizes - 1) // 2).sum())
    if units is None or not n_pairs:
        return float("nan")
    sums = np.zeros((len(labelled.names), units.shape[1]))
    np.add.at(sums, inputs.class_of, units)
    # Σ_{i < j} ||x_i − x_j||² = n² − ||Σ x_i||² of unit vectors.
    apart = float((labelled.sizes.astype(np.float64) ** 2 - np.square(sums).sum(axis=1)).sum())
    return max(apart / n_pairs, 0.0)


def uniformity(inputs: ValidityInputs) -> float:
    """How evenly do the vectors lie on the unit sphere, labels aside?

        log of the mean of exp(−2 ||f(x) − f(y)||²) over the pairs of different sentences,    f(x) = x / ||x||

    In [−8, 0], no unit, lower is more even; about −4 for many directions drawn alike in a high dimension. Wang and Isola
    want it low together with alignment; neither end is better here, because vectors that lie in clusters are not even.
    Over more than 5,000 sentences it is taken over a sample, the silhouette's. A vector without a direction (0) leaves
    it undefined: nan.

    Source: Wang and Isola 2020 (ICML), section 4.1.2, with t = 2.
    """
    units = _units(inputs)
    if units is None:
        return float("nan")
    units = units[inputs.sample]
    total, n = 0.0, len(units)
    for start in range(0, n, _BLOCK_ROWS):
        block = units[start : start + _BLOCK_ROWS]
        cosines = block @ units[start:].T  # of each row with those from the block on
        near = np.exp(2 * TEMPERATURE * (np.minimum(cosines, 1.0) - 1))  # ||x − y||² = 2 − 2 cos
        total += float(np.triu(near, 1).sum())
    return min(math.log(total / (n * (n - 1) / 2)), 0.0)


def _units(inputs: ValidityInputs) -> Floats | None:
    """The vectors as given, each of length 1, in the order of `inputs.array`; None where one has no direction."""
    vectors = inputs.labelled.vectors[canonical_order(inputs.labelled.vectors)]
    lengths = np.linalg.norm(vectors, axis=1)
    return vectors / lengths[:, None] if (lengths > 0).all() else None
