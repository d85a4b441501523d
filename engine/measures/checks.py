"""What goes into a measure on vectors (two dimensions, numbers, all finite), and cosines that are 1 but for rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message

POSITIONS_IN_MESSAGE = 5


def finite_vectors(vectors: ArrayLike) -> NDArray[np.float64]:
    """A float64 copy of `vectors`, shape (n_sentences, n_dims); the argument is never written to.

    float64 at the door because sums of squares over a large common offset (which CLS vectors have)
    lose every digit in float32. Raises InputError for another shape or a nan or infinite entry,
    naming the positions (0 = first vector).
    """
    array = np.array(vectors, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(
            Message("Sentence vectors must have the shape (n_sentences, n_dims); got {shape}.", shape=array.shape)
        )
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if bad.size:
        listed = ", ".join(map(str, bad[:POSITIONS_IN_MESSAGE])) + (", …" if bad.size > POSITIONS_IN_MESSAGE else "")
        raise InputError(
            Message(
                "{size} of {array} sentence vectors have entries that are not finite (positions "
                "{listed}). Run the model in a wider precision, or leave those sentences out.",
                size=bad.size,
                array=len(array),
                listed=listed,
            )
        )
    return array


def without_rounding_at_one(cosines: ArrayLike, rounding: float) -> NDArray[np.float64]:
    """Cosines in [-1, 1]: those within `rounding` of 1 or -1, or beyond, are 1 or -1; nan stays nan.

    The cosine of a vector with itself is 1, and comes out as 0.99999995 or 1.00000004: pairs of equal sentences would
    be ordered by their last digits.

    >>> without_rounding_at_one([0.99999995, 1.00000004, 0.5, -1.00000004], 5e-7).tolist()
    [1.0, 1.0, 0.5, -1.0]
    """
    values = np.asarray(cosines, dtype=np.float64)
    return np.where(np.abs(values) > 1 - rounding, np.sign(values), values)
