"""Do the vectors of two sentences point the same way?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.checks import finite_vectors, without_rounding_at_one
from engine.messages.message import Message

# By so much the cosine of two equal vectors of float32, computed in float64, may differ from 1.
ROUNDING = 1e-12


def vector_cosines(references: ArrayLike, candidates: ArrayLike) -> NDArray[np.float64]:
    """How alike are the sentence vectors of each pair?

        cos(g, h) = g · h / (||g|| ||h||)

    Parameters
    ----------
    references, candidates : (n_pairs, n_dims), the sentence vectors of both sides.

    Returns (n_pairs,). Range: [-1, 1], no unit, larger is better; the length of a vector does not matter.

    Edges: a vector of length 0 has no direction: nan. What differs from 1 or -1 by rounding is 1 or -1, so that equal
    sentences tie. Raises InputError for other shapes and entries that are
    not finite.

    Source: the role of Quick-Thought (Logeswaran and Lee 2018) in the paper on BERTScore for Japanese novel
    translation, section 5; there the vectors are Quick-Thought's own.

    >>> vector_cosines([[3.0, 4.0]], [[4.0, 3.0]]).round(2).tolist()
    [0.96]
    """
    first, second = finite_vectors(references), finite_vectors(candidates)
    if first.shape != second.shape:
        raise InputError(
            Message(
                "Each pair has two vectors of one length; got shapes {shape} and {other_shape}.",
                shape=first.shape,
                other_shape=second.shape,
            )
        )
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)  # (n_pairs,)
    products = np.einsum("ij,ij->i", first, second)  # (n_pairs,)
    cosines = np.divide(products, lengths, out=np.full(len(first), np.nan), where=lengths > 0)
    return without_rounding_at_one(cosines, ROUNDING)
