"""What a causal model is called with to read rows of `engine.models.scoring.prefixes`, and whether it can.

A mask says for each token which others it sees, and position ids where it stands in its own sequence. Models that work
out positions or attention in a way of their own (ALiBi, recurrence) do not follow these; so the answer on a small tree
is compared with plain sequences once per model.
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
from engine.models.scoring.prefixes import Row, packed
from engine.models.scoring.shortcuts import gives, tolerance_of_logits

# Settings of a configuration that let a token see only so many before it: the mask of a tree would lift that.
WINDOWS = ("sliding_window", "attention_chunk_size", "window_size")

_can: WeakKeyDictionary[PreTrainedModel, bool] = WeakKeyDictionary()


def reads_trees(model: PreTrainedModel, longest: int) -> bool:
    """Whether a model gives the tokens of a tree what it gives them in plain sequences of `longest` tokens at most."""
    config = model.config.get_text_config()
    windows = [window for name in WINDOWS if isinstance(window := getattr(config, name, None), int)]
    if any(longest > window for window in windows):
        return False
    if model not in _can:
        with torch.inference_mode(), torch.autocast(model.device.type, enabled=False):
            _can[model] = _agrees(model)
    return _can[model]


def tree_inputs(model: PreTrainedModel, rows: Sequence[Row], pad_id: int) -> dict[str, Any]:
    """Ids and positions (n_rows, longest), and which token sees which (n_rows, 1, longest, longest)."""
    ids, _ = padded([row.ids for row in rows], pad_id, model.device)
    positions, _ = padded([row.positions for row in rows], 0, model.device)
    longest = ids.shape[1]
    seen = np.zeros((len(rows), longest, longest), dtype=bool)
    # Padding sees itself: a softmax over nothing is not a number.
    seen[:, np.arange(longest), np.arange(longest)] = True
    for i, row in enumerate(rows):
        seen[i, : len(row.ids), : len(row.ids)] = row.attention()
    mask = on_device(seen[:, None], model.device)  # (n_rows, 1, longest, longest)
    if model.config._attn_implementation == "eager":  # adds its mask
        mask = torch.zeros(mask.shape, dtype=model.dtype, device=model.device).masked_fill(
            ~mask, torch.finfo(model.dtype).min)
    return {"input_ids": ids, "position_ids": positions, "attention_mask": mask, "use_cache": False}


def _agrees(model: PreTrainedModel) -> bool:
    vocabulary = int(model.config.get_text_config().vocab_size)
    sequences = [[token % vocabulary for token in ids] for ids in ([1, 2, 3, 4], [1, 2, 5, 6], [1, 7, 3, 2])]
    rows = packed(sequences)
    plain = torch.tensor(sequences, device=model.device)  # (3, 4)
    whole = model(input_ids=plain, attention_mask=torch.ones_like(plain), use_cache=False).logits

    def read() -> list[torch.Tensor]:
        logits = model(**tree_inputs(model, rows, 0)).logits  # (1, n_tokens, vocab)
        return [torch.stack([logits[0, rows[0].places[number]] for number in range(len(sequences))])]

    return gives([whole], read, tolerance_of_logits(model.dtype))
