"""Attention within the segments of a packed row, by the fastest kernel that a device has for a data type.

On CUDA: in half precision torch's variable-length attention (FlashAttention), in float32 the memory-efficient kernel
that torch uses for nested tensors. Elsewhere, and as the reference that the kernels are compared with: torch's
scaled_dot_product_attention once for each run of segments of equal lengths.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from engine.messages.message import Message
from engine.models.scoring.attention.segments import Segments

# A kernel takes query (n_queries, n_heads, size), key and value (n_keys, n_key_heads, size), segments, whether a token
# attends to no later one, the scale, and the window (None: no limit); it returns (n_queries, n_heads, size).
Kernel = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, Segments, bool, float, int | None], torch.Tensor]

HALF_TYPES = (torch.bfloat16, torch.float16)
# The kernels of CUDA read heads whose size is a multiple of this, up to the largest.
HEAD_SIZE_STEP, LARGEST_FLASH_HEAD = 8, 256
# `custom_mask_type` of the memory-efficient kernel: all keys; those up to the query, aligned at the ends.
_ALL_KEYS, _CAUSAL_FROM_THE_END = 0, 2


def kernel_for(device: torch.device, dtype: torch.dtype) -> Kernel:
    """The kernel that a device uses for a data type."""
    if device.type != "cuda":
        return by_equal_lengths
    return variable_length if dtype in HALF_TYPES else memory_efficient


def by_equal_lengths(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    segments: Segments,
    is_causal: bool,
    scale: float,
    window: int | None,
) -> torch.Tensor:
    """scaled_dot_product_attention of consecutive segments of equal lengths; on every device, in every data type.

    window: a token attends to those at most window - 1 tokens before it and, unless `is_causal`, after it.
    """
    outputs = []
    for queries, keys, n_queries, n_keys in _runs_of_equal_lengths(segments):
        # (n_segments * n, n_heads, size) -> (n_segments, n_heads, n, size)
        own_query, own_key, own_value = (
            tensor.unflatten(0, (-1, length)).transpose(1, 2)
            for tensor, length in ((query[queries], n_queries), (key[keys], n_keys), (value[keys], n_keys))
        )
        output = functional.scaled_dot_product_attention(
            own_query,
            own_key,
            own_value,
            _mask(n_queries, n_keys, is_causal, window, query.device),
            scale=scale,
            enable_gqa=query.shape[1] != key.shape[1],
        )
        outputs.append(output.transpose(1, 2).flatten(0, 1))
    return torch.cat(outputs)


def variable_length(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    segments: Segments,
    is_causal: bool,
    scale: float,
    window: int | None,
) -> torch.Tensor:
    """`torch.nn.attention.varlen.varlen_attn`: CUDA, half precision, torch 2.10 and later. As `by_equal_lengths`."""
    from torch.nn.attention.varlen import varlen_attn  # its import loads kernels of CUDA

    if query.shape[-1] > LARGEST_FLASH_HEAD:
        raise ValueError(
            Message(
                "Heads of {shape} numbers; FlashAttention reads at most {LARGEST_FLASH_HEAD}.",
                shape=query.shape[-1],
                LARGEST_FLASH_HEAD=LARGEST_FLASH_HEAD,
            )
        )
    settings: dict[str, Any] = {}
    if query.shape[1] != key.shape[1]:
        if "enable_gqa" in inspect.signature(varlen_attn).parameters:
            settings["enable_gqa"] = True
        else:
            key, value = _repeated_heads(query, key, value)
    reach = -1 if window is None else window - 1
    query, key, value = map(_padded_heads, (query, key, value))
    output = varlen_attn(
        query,
        key,
        value,
        segments.query_ends,
        segments.key_ends,
        int(segments.query_lengths.max()),
        int(segments.key_lengths.max()),
        scale=scale,
        window_size=(reach, 0 if is_causal else reach),
        **settings,
    )
    assert isinstance(output, torch.Tensor)  # with `return_aux`, which is not asked for, it were two
    return output


def memory_efficient(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    segments: Segments,
    is_causal: bool,
    scale: float,
    window: int | None,
) -> torch.Tensor:
    """The memory-efficient kernel over packed rows: CUDA, every data type. As `by_equal_lengths`, but for windows.

    Raises ValueError for a window.
    """
    if window is not None:
        raise ValueError(Message("The memory-efficient kernel supports no window in both directions."))
    key, value = _repeated_heads(query, key, value)
    query, key, value = (_padded_heads(tensor)[None] for tensor in (query, key, value))  # (1, n, n_heads, size)
    output = torch.ops.aten._efficient_attention_forward(
        query,
        key,
        value,
        None,
        segments.query_ends,
        segments.key_ends,
        int(segments.query_lengths.max()),
        int(segments.key_lengths.max()),
        0.0,
        _CAUSAL_FROM_THE_END if is_causal else _ALL_KEYS,
        scale=scale,
    )[0]
    return output[0]  # type: ignore[no-any-return]


def _runs_of_equal_lengths(segments: Segments) -> Iterator[tuple[slice, slice, int, int]]:
    """The slices of queries and of keys of each run, and the lengths of its segments."""
    lengths = np.stack([segments.query_lengths, segments.key_lengths], axis=1)  # (n_segments, 2)
    starts = np.flatnonzero(np.r_[True, (lengths[1:] != lengths[:-1]).any(axis=1)])
    query, key = 0, 0
    for start, stop in zip(starts, np.r_[starts[1:], len(lengths)], strict=True):
        n_queries, n_keys = int(lengths[start, 0]), int(lengths[start, 1])
        next_query, next_key = query + int(stop - start) * n_queries, key + int(stop - start) * n_keys
        yield slice(query, next_query), slice(key, next_key), n_queries, n_keys
        query, key = next_query, next_key


def _mask(
    n_queries: int, n_keys: int, is_causal: bool, window: int | None, device: torch.device
) -> torch.Tensor | None:
    """Which key (second axis) a query (first axis) attends to, aligned at the ends; None: to every one."""
    if (n_queries == 1 and window is None) or (not is_causal and (window is None or window > n_keys)):
        return None
    distances = (
        torch.arange(n_keys - n_queries, n_keys, device=device)[:, None] - torch.arange(n_keys, device=device)[None, :]
    )  # (n_queries, n_keys)
    attended = distances >= 0 if is_causal else torch.ones_like(distances, dtype=torch.bool)
    return attended if window is None else attended & (distances.abs() < window)


def _repeated_heads(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    n_groups = query.shape[1] // key.shape[1]
    return (key, value) if n_groups == 1 else (key.repeat_interleave(n_groups, 1), value.repeat_interleave(n_groups, 1))


def _padded_heads(tensor: torch.Tensor) -> torch.Tensor:
    """Heads of a size that the kernels of CUDA read; the numbers added are 0 and change no product."""
    missing = -tensor.shape[-1] % HEAD_SIZE_STEP
    return functional.pad(tensor, (0, missing)) if missing else tensor
