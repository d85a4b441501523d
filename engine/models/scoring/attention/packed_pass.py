"""A forward pass over a packed row: a model's own code, with attention within the segments of the row.

transformers lets a function replace the attention of every model that calls it by name (`AttentionInterface`).
During a packed pass the model's configuration names the function here, which has no mask function beside it, so that
transformers makes no mask and the device is not asked whether one is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

import torch
from transformers import AttentionInterface, PreTrainedConfig, PreTrainedModel

from engine.messages.message import Message, list_of
from engine.models.scoring.attention.kernels import Kernel, kernel_for
from engine.models.scoring.attention.segments import Segments

NAME = "hakari_packed"
# Settings that change the attention of a model and that no kernel here has.
_NOT_SUPPORTED = ("softcap", "position_bias", "s_aux", "cache")

_current: ContextVar[tuple[Segments, Kernel | None] | None] = ContextVar("segments of the packed pass", default=None)
_configurations: WeakKeyDictionary[PreTrainedModel, list[PreTrainedConfig]] = WeakKeyDictionary()


def run_model(model: PreTrainedModel, inputs: dict[str, Any], **settings: Any) -> Any:
    """The output of a model for `inputs`: those of transformers, and with "segments" those of a packed row.

    A packed row is input_ids and position_ids (1, n_tokens) with `Segments`; only for a model that
    `packing.supports_packing` names, because any other would ignore the segments.
    """
    segments = inputs.get("segments")
    if segments is None:
        return model(**inputs, **settings)
    with attending_within(model, segments):
        return model(**{name: value for name, value in inputs.items() if name != "segments"}, **settings)


@contextmanager
def attending_within(model: PreTrainedModel, segments: Segments, kernel: Kernel | None = None) -> Iterator[None]:
    """Inside, the tokens of a pass of `model` attend to those of their segment alone.

    kernel: None for that of the device and the data type (`kernels.kernel_for`).
    """
    if NAME not in AttentionInterface():
        AttentionInterface.register(NAME, _attention)
    configurations = _configurations_of(model)
    published = [configuration._attn_implementation for configuration in configurations]
    token = _current.set((segments, kernel))
    try:
        # Only during this pass; a worker runs one operation on a model at a time.
        for configuration in configurations:
            configuration._attn_implementation = NAME
        yield
    finally:
        for configuration, name in zip(configurations, published, strict=True):
            configuration._attn_implementation = name
        _current.reset(token)


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    segments: Segments,
    *,
    is_causal: bool,
    scale: float,
    window: int | None = None,
    kernel: Kernel | None = None,
) -> torch.Tensor:
    """Attention within segments, (n_queries, n_heads, size) as the query, in the data type that the pass computes in.

    key and value (n_tokens, n_key_heads, size): those of the tokens of the row, of which the segments name each key.
    """
    # Rotary positions and norms in float32 leave some models with queries and keys wider than their values.
    dtype = value.dtype
    query, key = query.to(dtype), key.to(dtype)
    segments = segments.on(query.device)  # where the blocks of a model lie on several cards
    if segments.key_columns is not None:
        key, value = key[segments.key_columns], value[segments.key_columns]
    output = (kernel or kernel_for(query.device, dtype))(query, key, value, segments, is_causal, scale, window)
    return output[..., : value.shape[-1]]  # a kernel may have padded the heads


def _attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    scaling: float | None = None,
    is_causal: bool | None = None,
    sliding_window: int | None = None,
    **settings: Any,
) -> tuple[torch.Tensor, None]:
    """As transformers calls it: query (1, n_heads, n_tokens, size), …; returns (1, n_tokens, n_heads, size)."""
    current = _current.get()
    unknown = [name for name in _NOT_SUPPORTED if settings.get(name) is not None]
    if current is None or attention_mask is not None or len(query) != 1 or unknown:
        raise ValueError(
            Message(
                "A packed pass supports no mask, no second row and no {listed}.",
                listed=list_of(unknown) or Message("pass around it"),
            )
        )
    segments, kernel = current
    causal = bool(getattr(module, "is_causal", True)) if is_causal is None else is_causal
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    query, key, value = (tensor[0].transpose(0, 1) for tensor in (query, key, value))  # (n_tokens, n_heads, size)
    output = attend(query, key, value, segments, is_causal=causal, scale=scale, window=sliding_window, kernel=kernel)
    return output[None], None


def _configurations_of(model: PreTrainedModel) -> list[PreTrainedConfig]:
    """The configurations that the modules of a model read, each once."""
    if model not in _configurations:
        named = [getattr(module, "config", None) for module in model.modules()]
        _configurations[model] = list(
            {
                id(configuration): configuration
                for configuration in named
                if isinstance(configuration, PreTrainedConfig)
            }.values()
        )
    return _configurations[model]
