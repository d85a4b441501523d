"""A normalisation by its name, on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.measures.minimal_pairs.normalizations import ALPHA, Sentences, normalization_named


def normalized(
    log_likelihoods: ArrayLike, tokens: ArrayLike, normalization: str, alpha: float = ALPHA, **known: Any
) -> NDArray[np.float64]:
    """The scores (n_sentences,) of sentences of which `known` are the further fields of `Sentences`."""
    return normalization_named(normalization).scores(Sentences(log_likelihoods, tokens, **known), alpha)
