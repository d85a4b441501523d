"""Hidden states of chosen layers; a model is left as soon as the highest of them is reached.

Layer k is what transformers returns as `hidden_states[k]`: what block k is given, or, after the last block, what
the whole model returns (behind a final norm, where it has one). So a hook before each asked block takes the state
down, and the one before the highest leaves the pass by an exception. That this gives the states of
`output_hidden_states=True` is tried once per model; where it does not, the whole model runs and returns all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch
from transformers import PreTrainedModel

from engine.models.scoring.shortcuts import TOLERANCE_OF_STATES, gives

# The blocks of a model in order; None where hooks on them do not give its hidden states.
_blocks_by_model: WeakKeyDictionary[PreTrainedModel, torch.nn.ModuleList | None] = WeakKeyDictionary()


class _HighestReached(Exception):  # no error: the way out of a pass
    pass


def hidden_states(model: PreTrainedModel, inputs: dict[str, Any], layers: Sequence[int]) -> list[torch.Tensor]:
    """The hidden states of the given layers, each (n_rows, length, hidden), in the order of `layers`.

    `inputs` are what the model is called with; `layers` count from 0, the embeddings.
    """
    blocks = blocks_of(model)
    if blocks is None:
        states = model(**inputs, output_hidden_states=True).hidden_states
        return [states[layer] for layer in layers]
    return _taken_down(model, blocks, inputs, layers)


def blocks_of(model: PreTrainedModel) -> torch.nn.ModuleList | None:
    """The blocks that the hidden states of a model go through, in order; None where they are not known."""
    if model not in _blocks_by_model:
        n_layers = getattr(model.config.get_text_config(), "num_hidden_layers", 0)
        candidates = [module for module in model.modules()
                      if isinstance(module, torch.nn.ModuleList) and len(module) == n_layers > 0]
        with torch.inference_mode(), torch.autocast(model.device.type, enabled=False):
            _blocks_by_model[model] = next((blocks for blocks in candidates if _agrees(model, blocks)), None)
    return _blocks_by_model[model]


def _taken_down(
    model: PreTrainedModel, blocks: torch.nn.ModuleList, inputs: dict[str, Any], layers: Sequence[int]
) -> list[torch.Tensor]:
    found: dict[int, torch.Tensor] = {}
    highest = max(layers)

    def hook_before(layer: int) -> Any:
        def take_down(_module: torch.nn.Module, arguments: tuple[Any, ...], settings: dict[str, Any]) -> None:
            found[layer] = arguments[0] if arguments else settings["hidden_states"]
            if layer == highest:
                raise _HighestReached

        return take_down

    # On the model only while this pass runs; a worker asks a model one thing at a time.
    hooks = [blocks[layer].register_forward_pre_hook(hook_before(layer), with_kwargs=True)
             for layer in set(layers) if layer < len(blocks)]
    try:
        found[len(blocks)] = model(**inputs).last_hidden_state
    except _HighestReached:
        pass
    finally:
        for hook in hooks:
            hook.remove()
    return [found[layer] for layer in layers]


def _agrees(model: PreTrainedModel, blocks: torch.nn.ModuleList) -> bool:
    vocabulary = int(model.config.get_text_config().vocab_size)
    ids = torch.arange(8, device=model.device).reshape(2, 4) % vocabulary  # (2, 4)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    whole = model(**inputs, output_hidden_states=True).hidden_states
    if whole is None or len(whole) != len(blocks) + 1:
        return False

    def read() -> list[torch.Tensor]:
        return [*_taken_down(model, blocks, inputs, range(len(whole))), *_taken_down(model, blocks, inputs, [0])]

    return gives([*whole, whole[0]], read, TOLERANCE_OF_STATES)  # the last by leaving early
