"""The door of every measure on vectors: two dimensions, numbers, all finite."""

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
