"""BigBird's attention, kept as published from one text to the next."""

from __future__ import annotations

from typing import Any

import torch
from transformers import PreTrainedModel


def keep_attention_type(model: PreTrainedModel) -> None:
    """Let every forward pass of a BigBird begin with the attention it was published with.

    transformers switches the whole model to full attention at the first text that is too short for sparse attention
    and never back, so that longer texts would be read otherwise after it.
    """
    published = getattr(model.config, "attention_type", None)
    for module in model.modules():
        if callable(getattr(module, "set_attention_type", None)) and hasattr(module, "embeddings"):
            module.register_forward_pre_hook(_reset_attention(published))


def _reset_attention(published: Any) -> Any:
    def reset(module: torch.nn.Module, _arguments: tuple[Any, ...]) -> None:
        if module.attention_type != published:
            module.set_attention_type(published)  # type: ignore[operator]

    return reset
