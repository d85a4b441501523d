"""Hidden states of chosen layers; the forward pass stops at the highest of them.

Layer k is what transformers returns as `hidden_states[k]`: the input of block k, or, after the last block, the output
of the whole model (after a final norm, where it has one). So a hook before each requested block records the state,
and the hook before the highest ends the pass by an exception. Once per model the result is compared with the states
of `output_hidden_states=True`; where it differs, the whole model runs and returns all states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch
from transformers import PreTrainedModel

from engine.models.scoring.shortcuts import TOLERANCE_OF_STATES, matches_full_pass

# The blocks of a model in order; None where hooks on them do not give its hidden states.
_blocks_by_model: WeakKeyDictionary[PreTrainedModel, torch.nn.ModuleList | None] = WeakKeyDictionary()


class _StopForward(Exception):  # not an error: it ends a forward pass
    pass


def hidden_states(model: PreTrainedModel, inputs: dict[str, Any], layers: Sequence[int]) -> list[torch.Tensor]:
    """The hidden states of the given layers, each (n_rows, length, hidden), in the order of `layers`.

    `inputs` are what the model is called with; `layers` count from 0, the embeddings.
    """
    blocks = blocks_of(model)
    if blocks is None:
        states = model(**inputs, output_hidden_states=True).hidden_states
        return [states[layer] for layer in layers]
    return _captured_states(model, blocks, inputs, layers)


def blocks_of(model: PreTrainedModel) -> torch.nn.ModuleList | None:
    """The blocks that compute the hidden states of a model, in order; None where they are not known."""
    if model not in _blocks_by_model:
        n_layers = getattr(model.config.get_text_config(), "num_hidden_layers", 0)
        candidates = [module for module in model.modules()
                      if isinstance(module, torch.nn.ModuleList) and len(module) == n_layers > 0]
        with torch.inference_mode(), torch.autocast(model.device.type, enabled=False):
            _blocks_by_model[model] = next((blocks for blocks in candidates if _hooks_agree(model, blocks)), None)
    return _blocks_by_model[model]


def _captured_states(
    model: PreTrainedModel, blocks: torch.nn.ModuleList, inputs: dict[str, Any], layers: Sequence[int]
) -> list[torch.Tensor]:
    states_by_layer: dict[int, torch.Tensor] = {}
    highest = max(layers)

    def hook_before(layer: int) -> Any:
        def capture(_module: torch.nn.Module, arguments: tuple[Any, ...], settings: dict[str, Any]) -> None:
            states_by_layer[layer] = arguments[0] if arguments else settings["hidden_states"]
            if layer == highest:
                raise _StopForward

        return capture

    # Registered only during this pass; a worker runs one operation on a model at a time.
    hooks = [blocks[layer].register_forward_pre_hook(hook_before(layer), with_kwargs=True)
             for layer in set(layers) if layer < len(blocks)]
    try:
        states_by_layer[len(blocks)] = model(**inputs).last_hidden_state
    except _StopForward:
        pass
    finally:
        for hook in hooks:
            hook.remove()
    return [states_by_layer[layer] for layer in layers]


def _hooks_agree(model: PreTrainedModel, blocks: torch.nn.ModuleList) -> bool:
    vocabulary = int(model.config.get_text_config().vocab_size)
    ids = torch.arange(8, device=model.device).reshape(2, 4) % vocabulary  # (2, 4)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    whole = model(**inputs, output_hidden_states=True).hidden_states
    if whole is None or len(whole) != len(blocks) + 1:
        return False

    def read() -> list[torch.Tensor]:
        every_layer = _captured_states(model, blocks, inputs, range(len(whole)))
        return [*every_layer, *_captured_states(model, blocks, inputs, [0])]  # the last one by stopping early

    return matches_full_pass([*whole, whole[0]], read, TOLERANCE_OF_STATES)
