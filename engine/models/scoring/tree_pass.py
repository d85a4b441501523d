"""The inputs of a causal model for the rows of `engine.models.scoring.prefixes`, and whether it supports them.

An attention mask gives the tokens that each token attends to, and position ids give its position in its own sequence.
Models that compute positions or attention differently (ALiBi, recurrence) ignore these; so once per model the output
on a small tree is compared with that on plain sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from transformers import PreTrainedModel

from engine.models.loading.devices import on_device
from engine.models.scoring.batching import padded
from engine.models.scoring.prefixes import Row, pack_sequences
from engine.models.scoring.shortcuts import matches_full_pass, tolerance_of_logits

# Configuration settings that limit attention to a number of preceding tokens: the mask of a tree would override them.
WINDOWS = ("sliding_window", "attention_chunk_size", "window_size")

_supported: WeakKeyDictionary[PreTrainedModel, bool] = WeakKeyDictionary()


def supports_tree_attention(model: PreTrainedModel, longest: int) -> bool:
    """Whether a model computes the same for tokens of a tree as in plain sequences of at most `longest` tokens."""
    config = model.config.get_text_config()
    windows = [window for name in WINDOWS if isinstance(window := getattr(config, name, None), int)]
    if any(longest > window for window in windows):
        return False
    if model not in _supported:
        with torch.inference_mode():
            _supported[model] = _trees_agree(model)
    return _supported[model]


def tree_inputs(model: PreTrainedModel, rows: Sequence[Row], pad_id: int) -> dict[str, Any]:
    """Ids and positions (n_rows, longest), and the attention mask (n_rows, 1, longest, longest)."""
    ids, _ = padded([row.ids for row in rows], pad_id, model.device)
    positions, _ = padded([row.positions for row in rows], 0, model.device)
    longest = ids.shape[1]
    seen = np.zeros((len(rows), longest, longest), dtype=bool)
    # Padding attends to itself: a softmax over nothing is not a number.
    seen[:, np.arange(longest), np.arange(longest)] = True
    for i, row in enumerate(rows):
        seen[i, : len(row.ids), : len(row.ids)] = row.attention()
    mask = on_device(seen[:, None], model.device)  # (n_rows, 1, longest, longest)
    if model.config._attn_implementation == "eager":  # adds its mask
        mask = torch.zeros(mask.shape, dtype=model.dtype, device=model.device).masked_fill(
            ~mask, torch.finfo(model.dtype).min
        )
    return {"input_ids": ids, "position_ids": positions, "attention_mask": mask, "use_cache": False}


def _trees_agree(model: PreTrainedModel) -> bool:
    vocabulary = int(model.config.get_text_config().vocab_size)
    sequences = [[token % vocabulary for token in ids] for ids in ([1, 2, 3, 4], [1, 2, 5, 6], [1, 7, 3, 2])]
    rows = pack_sequences(sequences)
    plain = torch.tensor(sequences, device=model.device)  # (3, 4)
    whole = model(input_ids=plain, attention_mask=torch.ones_like(plain), use_cache=False).logits

    def read() -> list[torch.Tensor]:
        logits = model(**tree_inputs(model, rows, 0)).logits  # (1, n_tokens, vocab)
        return [torch.stack([logits[0, rows[0].columns_by_sequence[number]] for number in range(len(sequences))])]

    return matches_full_pass([whole], read, tolerance_of_logits(model.dtype))
