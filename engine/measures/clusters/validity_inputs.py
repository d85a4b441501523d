"""What the validity indices of labelled vectors have in common, prepared once for all of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.measures.clusters.classes import LabelledVectors, labelled_vectors
from engine.measures.clusters.projection import canonical_order

# Distances of every pair: beyond this many sentences the silhouette is taken over a sample of them.
SILHOUETTE_SENTENCES = 5000
# k-means starts anew ten times, and less often where a pass over sentences x classes x dimensions takes long.
STARTS = 10
WORK = 1e9


@dataclass(frozen=True, eq=False)
class ValidityInputs:
    """Labelled vectors as an index takes them; what only some indices need is made when first asked for.

    labelled: as given, in the order given. array: float64 (n_sentences, n_dims), their mean taken off and the largest
    entry 1, in an order that depends on the vectors alone. class_of: (n_sentences,), class numbers in that order.
    all_equal: whether the vectors are one and the same, rounding aside; `array` is 0 then. seed: of k-means and of the
    sample.
    """

    labelled: LabelledVectors
    array: NDArray[np.float64]
    class_of: NDArray[np.intp]
    all_equal: bool
    seed: int

    @cached_property
    def sample(self) -> NDArray[np.intp]:
        """The places in `array` that the distances of every pair are taken over: all, or SILHOUETTE_SENTENCES."""
        n_sentences = len(self.array)
        if n_sentences <= SILHOUETTE_SENTENCES:
            return np.arange(n_sentences)
        drawn = np.random.default_rng(self.seed).choice(n_sentences, SILHOUETTE_SENTENCES, replace=False)
        return np.sort(drawn)

    @property
    def each_alone(self) -> bool:
        """Whether every class has one sentence: there is nothing to keep together."""
        return len(self.labelled.names) == len(self.labelled.vectors)

    @property
    def n_starts(self) -> int:
        """How often k-means starts anew."""
        return int(np.clip(WORK / (self.array.size * len(self.labelled.names)), 1, STARTS))

    @cached_property
    def clusters(self) -> NDArray[np.intp]:
        """The cluster of each row of `array` by k-means, as many clusters as classes: (n_sentences,)."""
        from sklearn.cluster import KMeans  # takes a second to import: only workers need it
        from sklearn.exceptions import ConvergenceWarning

        # A BLAS may raise the flag of an invalid value for what lies beside the data in a register: seen on one column.
        with warnings.catch_warnings(), np.errstate(invalid="ignore"):
            # Fewer different vectors than classes: k-means then finds fewer clusters, which the numbers show.
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = KMeans(len(self.labelled.names), n_init=self.n_starts, random_state=self.seed).fit(
                self.array.astype(np.float32)
            )
        return np.asarray(fitted.labels_)


def validity_inputs(
    vectors: ArrayLike, labels: Sequence[object] | NDArray[np.generic], *, seed: int = 0
) -> ValidityInputs:
    """Vectors (n_sentences, n_dims) and labels (n_sentences,), checked and prepared.

    Raises InputError as `labelled_vectors` does.
    """
    labelled = labelled_vectors(vectors, labels)
    order = canonical_order(labelled.vectors)
    # No index depends on place or unit; float32 and scikit-learn's tests against 0 do.
    array = labelled.vectors[order] - labelled.vectors.mean(axis=0)
    largest = float(np.abs(array).max())
    all_equal = largest**2 <= labelled.rounding
    array = np.zeros_like(array) if all_equal else array / largest
    return ValidityInputs(labelled, array, labelled.class_of[order], all_equal, seed)
