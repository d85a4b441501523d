"""The door of every measure on labelled vectors: each vector a class, two classes at least, one numbering of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.checks import finite_vectors
from engine.messages.message import Message


@dataclass(frozen=True)
class LabelledVectors:
    """Vectors and their classes, numbered in the order of their names."""

    vectors: NDArray[np.float64]  # (n_sentences, n_dims)
    names: tuple[str, ...]
    class_of: NDArray[np.intp]  # (n_sentences,), indices into `names`
    sizes: NDArray[np.intp]  # (n_classes,)
    centroids: NDArray[np.float64]  # (n_classes, n_dims)
    # A centroid is off by a few units in the last place of the largest entry; a B_m up to this is made of that.
    rounding: float

    @property
    def middle(self) -> NDArray[np.float64]:
        """The mean of the centroids, each class counting once; (n_dims,)."""
        return np.asarray(self.centroids.mean(axis=0))

    def members(self, number: int) -> NDArray[np.float64]:
        """The vectors of one class, (n, n_dims)."""
        return np.asarray(self.vectors[self.class_of == number])


def labelled_vectors(vectors: ArrayLike, labels: Sequence[object] | NDArray[np.generic]) -> LabelledVectors:
    """Vectors (n_sentences, n_dims) and labels (n_sentences,), checked; `vectors` is never written to.

    Labels are sorted as they are: texts by their characters, numbers by size. Raises InputError for fewer than
    2 labels, a label count other than n_sentences, and vectors that are not finite.
    """
    array = finite_vectors(vectors)  # (n_sentences, n_dims)
    if len(labels) != len(array):
        raise InputError(
            Message(
                "Every sentence needs one label; got {array} vectors and {labels} labels.",
                array=len(array),
                labels=len(labels),
            )
        )
    names, class_of = np.unique(np.array(list(labels), dtype=object), return_inverse=True)
    if len(names) < 2:
        if not len(names):
            raise InputError(Message("Clustering needs at least 2 labels; got 0 over 0 sentences. Add a second group."))
        raise InputError(
            Message(
                "Clustering needs at least 2 labels; got 1 ('{name}') over {n} sentences. Add a second group.",
                name=names[0],
                n=len(array),
            )
        )
    # (n_classes, n_dims)
    centroids = np.stack([array[class_of == number].mean(axis=0) for number in range(len(names))])
    sizes = np.bincount(class_of)
    rounding = centroids.size * (4 * np.finfo(np.float64).eps * float(np.abs(array).max())) ** 2
    return LabelledVectors(array, tuple(map(str, names)), class_of, sizes, centroids, rounding)
