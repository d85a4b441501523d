"""Whether a quicker way through a model gives what the whole pass gives: tried on a few tokens, once per model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from engine.models.scoring.batching import is_out_of_memory

# What the order of float32 sums may change, as a share of the largest entry: of hidden states, of logits.
TOLERANCE_OF_STATES, TOLERANCE_OF_LOGITS = 1e-5, 1e-4
# Of the logits of a model whose weights are halves: 8 bits of mantissa.
TOLERANCE_OF_HALVES = 5e-2
# What a way that was made for other models meets with in this one.
_MISFITS = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)


def gives(expected: Sequence[torch.Tensor], way: Callable[[], Sequence[torch.Tensor]], tolerance: float) -> bool:
    """Whether `way` returns tensors like `expected`, each up to `tolerance` times its largest entry; no when it fails.

    Memory that runs out says nothing of the way: that error is raised.
    """
    try:
        found = way()
    except _MISFITS as error:
        if is_out_of_memory(error):
            raise
        return False
    return len(found) == len(expected) and all(
        isinstance(one, torch.Tensor) and one.shape == other.shape
        and bool((one.float() - other.float()).abs().max() <= tolerance * other.float().abs().max())
        for one, other in zip(found, expected, strict=True))


def tolerance_of_logits(dtype: torch.dtype) -> float:
    """By how much logits of a model with weights of `dtype` may differ, as a share of the largest."""
    return TOLERANCE_OF_LOGITS if dtype in (torch.float32, torch.float64) else TOLERANCE_OF_HALVES
