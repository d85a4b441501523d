"""Which language models resemble each other? A map of models from the log-likelihoods of the same texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message

AXES = 2


@dataclass(frozen=True, eq=False)
class ModelMap:
    """Models as points.

    coordinates: float64 (n_models, 2), in nats per square root of a text; the squared distance of two points is at most
    their `squared_distances`. explained: (2,), the share of all squared distances that each axis shows.
    squared_distances: (n_models, n_models), nats² per text.
    """

    coordinates: NDArray[np.float64]
    explained: NDArray[np.float64]
    squared_distances: NDArray[np.float64]


def model_map(log_likelihoods: ArrayLike) -> ModelMap:
    """How far are models from each other as distributions of texts, and what map shows most of it?

        ℓ_i = (log p_i(x_1) … log p_i(x_N)),   ξ_i = ℓ_i − mean of ℓ_i,   q_i = ξ_i − mean of all ξ
        d_ij² = ||q_i − q_j||² / N, the variance of log p_i(x) / p_j(x) over the texts

    Parameters
    ----------
    log_likelihoods : (n_models, n_texts) nats, of each whole text under each model; none may be missing.

    The map is classical multidimensional scaling of these distances, which is the principal component analysis of the
    q_i: the plane that keeps the most of all squared distances. The sign of an axis is chosen so that its greatest
    coordinate is positive.

    Range: distances [0, ∞); 0 for models whose log-likelihoods differ by one constant, so for identical ones.
    Symmetric. A model that finds every text as much likelier as every other is at no distance.

    Edges: with one model, and where all are at distance 0, every coordinate is 0 and no share is explained (0).

    Raises InputError for fewer than 2 texts, no model, and log-likelihoods that are missing or infinite.

    Source: Oyama, Yamagiwa, Takase, Shimodaira 2025 (ACL, arXiv 2502.16173). The paper clips the lowest 2% of
    log-likelihoods of its web texts before; sentences are not clipped here.

    >>> model_map([[-1, -3], [-3, -1]]).squared_distances.tolist()
    [[0.0, 4.0], [4.0, 0.0]]
    """
    table = np.asarray(log_likelihoods, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise InputError(
            Message(
                "A map of models needs the log-likelihoods of at least 2 texts under at least one "
                "model; got an array of shape {shape}.",
                shape=table.shape,
            )
        )
    if not np.isfinite(table).all():
        raise InputError(Message("A map of models needs a finite log-likelihood of every text under every model."))
    centred = table - table.mean(axis=1, keepdims=True)
    centred -= centred.mean(axis=0)  # (n_models, n_texts)
    # Not from the Gram matrix, by which identical models would be at a distance of rounding.
    distances = np.stack([((row - centred) ** 2).mean(axis=1) for row in centred])  # (n_models, n_models)
    gram = centred @ centred.T / table.shape[1]  # (n_models, n_models)
    values, vectors = np.linalg.eigh(gram)
    first = np.argsort(values)[::-1][:AXES]
    spread = np.zeros(AXES)
    spread[: len(first)] = np.maximum(values[first], 0.0)
    coordinates = np.zeros((len(table), AXES))
    coordinates[:, : len(first)] = vectors[:, first] * np.sqrt(spread[: len(first)])
    greatest = coordinates[np.abs(coordinates).argmax(axis=0), range(AXES)]
    total = float(np.trace(gram)) if distances.any() else 0.0
    return ModelMap(
        coordinates * np.where(greatest < 0, -1.0, 1.0), spread / total if total else np.zeros(AXES), distances
    )


def kl_divergence(squared_distances: ArrayLike, mean_bytes: float) -> NDArray[np.float64]:
    """How many bits more for each byte does one model need for the texts of another?

        KL(p_i || p_j) ≈ d_ij² / 2  nats per text;   divided by (mean bytes of a text) · ln 2: bits per byte

    Parameters
    ----------
    squared_distances : nats² per text, of `model_map`. mean_bytes : the mean length of the texts in UTF-8, above 0.

    Range: [0, ∞) bits per byte; 0 for identical models. The approximation is of second order: it holds for texts drawn
    from a distribution near to both models, and is the same in both directions, as the divergence itself is only for
    near models. Between far models it is an order, no number of bits.

    Raises InputError for a mean length that is not above 0.

    Source: Oyama et al. 2025 (arXiv 2502.16173), section 2, who give it in bits per byte, too.

    >>> kl_divergence([[0.0, 4.0], [4.0, 0.0]], mean_bytes=2 / np.log(2)).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if not mean_bytes > 0:
        raise InputError(
            Message("The mean length of the texts is above 0 bytes; got {mean_bytes}.", mean_bytes=mean_bytes)
        )
    return np.asarray(np.asarray(squared_distances, dtype=np.float64) / (2 * mean_bytes * np.log(2)))
