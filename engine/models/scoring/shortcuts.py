"""Comparison of a faster computation with the full forward pass of a model, on a few tokens, once per model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES

from engine.models.scoring.batching import is_out_of_memory

# Differences due to the order of float32 sums, as a share of the largest entry: of hidden states, of logits.
TOLERANCE_OF_STATES, TOLERANCE_OF_LOGITS = 1e-5, 1e-4
# The same for both of a model with half-precision weights: 8 bits of mantissa.
TOLERANCE_OF_HALF_PRECISION = 5e-2
# What a computation written for other architectures may raise on this one.
INCOMPATIBILITY_ERRORS = (AssertionError, AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)


def has_decoder_head(model: PreTrainedModel) -> bool:
    """Whether a model is an encoder-decoder with the head of its decoder, not an encoder alone."""
    names = MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES.values()
    return bool(model.config.is_encoder_decoder) and type(model).__name__ in names


def trial_inputs(
    model: PreTrainedModel, ids: torch.Tensor, mask: torch.Tensor, *, encoder_ids: torch.Tensor | None = None
) -> dict[str, Any]:
    """What a model takes for rows of ids and their mask, int64 (n_rows, length).

    An encoder-decoder reads them on both sides; encoder_ids, int64 (n_rows, any length): other rows for its encoder.
    """
    if not has_decoder_head(model):
        return {"input_ids": ids, "attention_mask": mask}
    of_encoder, its_mask = (ids, mask) if encoder_ids is None else (encoder_ids, torch.ones_like(encoder_ids))
    return {
        "input_ids": of_encoder,
        "attention_mask": its_mask,
        "decoder_input_ids": ids,
        "decoder_attention_mask": mask,
    }


def matches_full_pass(
    expected: Sequence[torch.Tensor], shortcut: Callable[[], Sequence[torch.Tensor]], tolerance: float
) -> bool:
    """Whether `shortcut` returns tensors like `expected`, each up to `tolerance` times its largest entry.

    False when it raises, except that an out-of-memory error is raised on: it does not depend on the shortcut.
    """
    try:
        results = shortcut()
    except INCOMPATIBILITY_ERRORS as error:
        if is_out_of_memory(error):
            raise
        return False
    return len(results) == len(expected) and all(
        isinstance(result, torch.Tensor)
        and result.shape == full.shape
        # Where several devices share the model, either may be on that of its layer.
        and bool((result.to(full.device).float() - full.float()).abs().max() <= tolerance * full.float().abs().max())
        for result, full in zip(results, expected, strict=True)
    )


def tolerance_of_states(dtype: torch.dtype) -> float:
    """The tolerance for hidden states of a model with weights of `dtype`, as a share of the largest."""
    return TOLERANCE_OF_STATES if dtype in (torch.float32, torch.float64) else TOLERANCE_OF_HALF_PRECISION


def tolerance_of_logits(dtype: torch.dtype) -> float:
    """The tolerance for logits of a model with weights of `dtype`, as a share of the largest."""
    return TOLERANCE_OF_LOGITS if dtype in (torch.float32, torch.float64) else TOLERANCE_OF_HALF_PRECISION
