"""Corrections of sentence vectors before any measure: whitening, and all-but-the-top. No label is looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.checks import finite_vectors
from engine.messages.message import Message

Floats = NDArray[np.float64]
# Of whitening, as published for base models; and the part of the sentences that is taken where they are few.
WHITENED_DIMS = 256
SENTENCES_PER_DIM = 2


def whitened(vectors: ArrayLike, n_dims: int | None = None) -> Floats:
    """What remains when no direction of the vectors is longer than another?

        z = Λ_k^(−1/2) U_kᵀ (x − μ),    U Λ Uᵀ = covariance of the vectors (divided by n)

    Parameters
    ----------
    vectors : (n_sentences, n_dims).
    n_dims : k, how many principal components are kept; None for 256 as published, and at most half as many as there
        are sentences.

    Returns (n_sentences, k), in standard deviations of each component: mean 0 and covariance I. Fewer columns where the
    vectors have fewer directions. The entry of largest size of each direction counts as positive.

    Edges: where all of the n_sentences − 1 directions that sentences can have are kept, every two whitened vectors are
    at the same distance √(2n), whatever the model: that is refused. So are equal vectors.

    Raises InputError for these, for n_dims below 1, and for vectors that are not finite.

    Source: Su, Cao, Liu, Ou 2021 (arXiv 2103.15316), algorithm 1, whitening-k.

    >>> whitened([[1.0, 5.0], [3.0, 5.0], [1.0, 9.0], [3.0, 9.0]], 2).round(6).tolist()
    [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
    """
    array = finite_vectors(vectors)
    n_sentences = len(array)
    kept = max(1, min(WHITENED_DIMS, n_sentences // SENTENCES_PER_DIM)) if n_dims is None else n_dims
    if kept < 1:
        raise InputError(Message("Whitening keeps at least 1 dimension; got {kept}.", kept=kept))
    centred, directions, scales = _principal(array, kept)
    if not len(scales):
        raise InputError(
            Message(
                "All {n_sentences} sentence vectors are equal, so that there is nothing to whiten. "
                "Choose no correction.",
                n_sentences=n_sentences,
            )
        )
    if len(scales) >= n_sentences - 1:
        raise InputError(
            Message(
                "Whitened in {scales} dimensions, any {n_sentences} sentences are equally far from "
                "each other. Keep fewer than {n_sentences_} dimensions, or add sentences.",
                scales=len(scales),
                n_sentences=n_sentences,
                n_sentences_=n_sentences - 1,
            )
        )
    return np.asarray((centred @ directions) / scales)  # (n_sentences, kept)


def without_top(vectors: ArrayLike, n_components: int | None = None) -> Floats:
    """What remains without the mean and the few directions that all vectors share?

        z = x − μ − Σ_{i ≤ D} (u_i · (x − μ)) u_i

    u_i is the i-th principal component of the vectors.

    Parameters
    ----------
    vectors : (n_sentences, n_dims).
    n_components : D; None for a hundredth of the dimensions as published, at least 1.

    Returns (n_sentences, n_dims), in the unit of the entries.

    Raises InputError where nothing would remain, for n_components below 1, and for vectors that are not finite.

    Source: Mu and Viswanath 2018 (All-but-the-Top, ICLR), algorithm 1; theirs are vectors of words, these of sentences.

    >>> without_top([[0.0, 0.0], [8.0, 1.0], [0.0, 1.0], [8.0, 0.0]], 1).round(6).tolist()
    [[0.0, -0.5], [0.0, 0.5], [0.0, 0.5], [0.0, -0.5]]
    """
    array = finite_vectors(vectors)
    removed = max(1, round(array.shape[1] / 100)) if n_components is None else n_components
    if removed < 1:
        raise InputError(Message("All-but-the-top takes off at least 1 component; got {removed}.", removed=removed))
    centred, directions, scales = _principal(array, removed + 1)
    if len(scales) <= removed:
        raise InputError(
            Message(
                "Without the mean and {removed} principal components nothing remains of these "
                "{array} sentence vectors, which have {scales}. Take fewer off, or add sentences.",
                removed=removed,
                array=len(array),
                scales=len(scales),
            )
        )
    top = directions[:, :removed]  # (n_dims, removed)
    return np.asarray(centred - (centred @ top) @ top.T)


def _principal(array: Floats, n_wanted: int) -> tuple[Floats, Floats, Floats]:
    """Centred vectors; principal directions (n_dims, k), longest first; standard deviations (k,) along them.

    At most `n_wanted`, and none whose length is of rounding only.
    """
    n_sentences, n_dims = array.shape
    centred = array - array.mean(axis=0)
    if n_sentences > n_dims:
        variances, vectors = np.linalg.eigh(centred.T @ centred)
        directions, lengths = vectors[:, ::-1], np.sqrt(np.maximum(variances[::-1], 0.0))
    else:
        _, lengths, rows = np.linalg.svd(centred, full_matrices=False)
        directions = rows.T
    # The mean is off by a few units in the last place; squared lengths lose half of the digits.
    shortest = max(
        lengths[0] * np.sqrt(n_dims * np.finfo(np.float64).eps),
        4 * np.finfo(np.float64).eps * float(np.abs(array).max()) * np.sqrt(array.size),
    )
    kept = min(n_wanted, int((lengths > shortest).sum()))
    directions = directions[:, :kept]
    largest = np.abs(directions).argmax(axis=0)  # (kept,)
    signs = np.sign(directions[largest, np.arange(kept)])
    return centred, directions * signs, lengths[:kept] / np.sqrt(n_sentences)
