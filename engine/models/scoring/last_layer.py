"""The last layer of a BERT computed at one position of each row only: that of the vector or masked token to be read.

Keys and values of the last layer are needed for every token; its queries, its output and its feed-forward network,
five sixths of its work, only at the position that is read. Supported are the layers that BERT, RoBERTa, ELECTRA,
CamemBERT and XLM-RoBERTa share. Once per model the result is compared with that of the full pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import torch
from transformers import PreTrainedModel

from engine.models.scoring.attention.packed_pass import attend
from engine.models.scoring.attention.segments import Segments, read_at_one_column
from engine.models.scoring.batching import STEADY_ROWS
from engine.models.scoring.hidden_states import blocks_of
from engine.models.scoring.shortcuts import matches_full_pass, tolerance_of_states

_supported: WeakKeyDictionary[PreTrainedModel, bool] = WeakKeyDictionary()


def can_read_one_position(encoder: PreTrainedModel) -> bool:
    """Whether `reading_one_position` works with an encoder (a model without head), tested once for each."""
    if encoder not in _supported:
        with torch.inference_mode():
            _supported[encoder] = _agrees(encoder)
    return _supported[encoder]


@contextmanager
def reading_one_position(
    encoder: PreTrainedModel, columns: torch.Tensor, segments: Segments | None = None
) -> Iterator[None]:
    """Inside, the last layer returns (n_rows, 1, hidden): the state at `columns` int64 (n_rows,) of each row.

    In a packed pass (`segments`), (1, n_texts, hidden): the state at `columns` int64 (n_texts,), one of each text.
    What follows the last layer (a pooler, a head) receives that instead of all positions.
    """
    blocks = blocks_of(encoder)
    assert blocks is not None  # ensured by `can_read_one_position`
    last = blocks[len(blocks) - 1]

    def forward(hidden: torch.Tensor, attention_mask: torch.Tensor | None = None, *_: Any, **__: Any) -> torch.Tensor:
        if segments is not None:
            return _at_packed(last, hidden, segments, columns)
        return _at(last, hidden, attention_mask, columns)

    # Replaces the layer's own only during this pass; a worker runs one operation on a model at a time.
    last.forward = forward
    try:
        yield
    finally:
        del last.forward


def _at(layer: Any, hidden: torch.Tensor, attention_mask: torch.Tensor | None, columns: torch.Tensor) -> torch.Tensor:
    rows = torch.arange(len(hidden), device=hidden.device)
    own = _steady(hidden[rows, columns])[:, None]  # (n_rows or a few more, 1, hidden)
    attention = layer.attention.self
    query, key, value = (
        projected.unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)  # (n_rows, n_heads, length, size)
        for projected in (attention.query(own)[: len(hidden)], attention.key(hidden), attention.value(hidden))
    )
    if attention_mask is not None and attention_mask.shape[2] > 1:
        attention_mask = attention_mask[rows, :, columns][:, :, None]  # (n_rows, 1, 1, length)
    # With one query the last digits would depend on how many rows there are (`batching.STEADY_ROWS`).
    query = query.expand(-1, -1, STEADY_ROWS, -1)
    context = torch.nn.functional.scaled_dot_product_attention(query, key, value, attention_mask)[:, :, :1]
    attended = layer.attention.output(_steady(context.transpose(1, 2).flatten(2)), own)
    output: torch.Tensor = layer.output(layer.intermediate(attended), attended)[: len(hidden)]
    return output  # (n_rows, 1, hidden)


def _steady(rows: torch.Tensor) -> torch.Tensor:
    """Rows with a few of zeros appended, so that their number is a multiple of STEADY_ROWS."""
    extra = -len(rows) % STEADY_ROWS
    return torch.cat([rows, rows.new_zeros(extra, *rows.shape[1:])]) if extra else rows


def _at_packed(layer: Any, hidden: torch.Tensor, segments: Segments, columns: torch.Tensor) -> torch.Tensor:
    own = hidden[0, columns]  # (n_texts, hidden)
    attention = layer.attention.self
    query, key, value = (
        projected.unflatten(-1, (attention.num_attention_heads, -1))  # (n_texts or n_tokens, n_heads, size)
        for projected in (attention.query(own), attention.key(hidden[0]), attention.value(hidden[0]))
    )
    context = attend(query, key, value, read_at_one_column(segments), is_causal=False, scale=query.shape[-1] ** -0.5)
    attended = layer.attention.output(context.flatten(1), own)  # (n_texts, hidden)
    return layer.output(layer.intermediate(attended), attended)[None]  # type: ignore[no-any-return]


def _agrees(encoder: PreTrainedModel) -> bool:
    blocks = blocks_of(encoder)
    # BigBird reads short texts, as those of this trial, in full, and longer ones in blocks, which `_at` does not know.
    is_divided = len({weight.device for weight in encoder.parameters()}) > 1  # between devices
    if blocks is None or is_divided or getattr(encoder.config, "attention_type", "") == "block_sparse":
        return False
    vocabulary = int(encoder.config.get_text_config().vocab_size)
    ids = torch.arange(10, device=encoder.device).reshape(2, 5) % vocabulary  # (2, 5)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], device=encoder.device)
    columns = torch.tensor([3, 1], device=encoder.device)
    inputs = {"input_ids": ids, "attention_mask": mask}
    whole = encoder(**inputs).last_hidden_state[[0, 1], columns.tolist()]  # (2, hidden)

    def read() -> list[torch.Tensor]:
        with reading_one_position(encoder, columns):
            return [encoder(**inputs).last_hidden_state[:, 0]]

    return matches_full_pass([whole], read, tolerance_of_states(encoder.dtype))
