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

import numpy as np
import torch
from transformers import PreTrainedModel

from engine.errors import InputError, ModelError
from engine.messages.message import Message
from engine.models.loading.devices import on_device
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.attention.packed_pass import run_model
from engine.models.scoring.attention.packing import packed_rows
from engine.models.scoring.batching import padded, steady_length
from engine.models.scoring.probes import batching_of
from engine.models.scoring.shortcuts import matches_full_pass, tolerance_of_states
from engine.models.tokenization.encoding import pad_id

# The blocks of a model in order; None where hooks on them do not give its hidden states.
_blocks_by_model: WeakKeyDictionary[PreTrainedModel, torch.nn.ModuleList | None] = WeakKeyDictionary()


class _StopForward(Exception):  # not an error: it ends a forward pass
    pass


def hidden_states(
    model: PreTrainedModel, inputs: dict[str, Any], layers: Sequence[int], *, one_position: bool = False
) -> list[torch.Tensor]:
    """The hidden states of the given layers, each (n_rows, length, hidden), in the order of `layers`.

    `inputs` are what `run_model` takes, `input_ids` (n_rows, length) among them; `layers` count from 0, the
    embeddings. one_position: the last layer is read at one position of each text alone (`last_layer`), and its state
    has these.
    Raises ModelError where the model does not keep one state for each token, or where the layers are not
    of one width.
    """
    blocks = blocks_of(model)
    if blocks is None:
        states_of_all = run_model(model, inputs, output_hidden_states=True).hidden_states
        n_states = len(states_of_all or ())
        if max(layers) >= n_states:
            raise ModelError(
                Message(
                    "A {class_name} gives {n_states} hidden states, fewer than the layers that its configuration "
                    "counts. Ask for layers below {n_states}, or choose another model.",
                    class_name=type(model).__name__,
                    n_states=n_states,
                )
            )
        states = [states_of_all[layer].to(inputs["input_ids"].device) for layer in layers]
    else:
        states = _captured_states(model, blocks, inputs, layers)
    return _of_tokens(model, states, layers, None if one_position else inputs["input_ids"].shape[1])


@torch.inference_mode()
def states_of_tokens(
    loaded: LoadedModel, rows: Sequence[Sequence[int]], layers: Sequence[int], *, is_packed: bool
) -> torch.Tensor:
    """The hidden states of rows of ids, float32 (n_tokens, n_layers, hidden): the tokens of one row after another.

    is_packed: the rows are read without padding, which `packing.supports_packing` allows.
    """
    inputs, firsts = batch_inputs(loaded, rows, is_packed=is_packed)
    states = torch.stack([state.flatten(0, 1) for state in hidden_states(loaded.model, inputs, layers)], dim=1)
    if not is_packed:
        tokens = np.concatenate([first + np.arange(len(row)) for first, row in zip(firsts, rows, strict=True)])
        states = states[on_device(tokens, loaded.device)]
    return states.float()


def batch_inputs(
    loaded: LoadedModel, rows: Sequence[Sequence[int]], *, is_packed: bool
) -> tuple[dict[str, Any], np.ndarray]:
    """What `run_model` takes for rows of ids, and where each begins among all positions of the batch, int64 (n_rows,).

    The positions are those of `input_ids` in order, row by row: a packed batch is one row without padding.
    """
    if is_packed:
        packed = packed_rows(loaded.model, rows)
        return packed.inputs, packed.starts
    ids, mask = padded_texts(loaded, rows)  # (n_rows, longest)
    return {"input_ids": ids, "attention_mask": mask}, np.arange(len(rows)) * ids.shape[1]


def shape_lengths(loaded: LoadedModel, lengths: Sequence[int]) -> list[int]:
    """The length that each text is padded to: a multiple that makes its numbers those of the text alone.

    Texts of one such length make batches in which a text has the same bits whatever stands beside it. Models that do
    not take padding keep to the lengths of the texts.
    """
    if batching_of(loaded.model) != "any":
        return list(lengths)
    return [steady_length(length, loaded.facts.max_tokens, loaded.device) for length in lengths]


def padded_texts(loaded: LoadedModel, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and attention mask, both int64 (n_rows, longest), padded as `shape_lengths` says of the longest row."""
    least = shape_lengths(loaded, [max(map(len, rows))])[0]
    return padded(rows, pad_id(loaded.tokenizer), loaded.device, least=least)


def check_layers(loaded: LoadedModel, layers: Sequence[int]) -> None:
    """Raise InputError where no layer is asked for, or one that the model does not have."""
    wrong = [layer for layer in layers if not 0 <= layer <= loaded.facts.n_layers]
    if wrong or not layers:
        raise InputError(
            Message(
                "{name} has layers 0 (embeddings) to {n_layers}; got {listed}.",
                name=loaded.facts.name,
                n_layers=loaded.facts.n_layers,
                listed=wrong or Message("none"),
            )
        )


def _of_tokens(
    model: PreTrainedModel, states: list[torch.Tensor], layers: Sequence[int], length: int | None
) -> list[torch.Tensor]:
    if any(state.dim() != 3 or state.shape[1] < (length or 1) for state in states):
        raise ModelError(
            Message(
                "A {class_name} does not keep one state for each token in the layers asked for: it "
                "pools tokens (Funnel) or has several states of each (Gemma 3n). Ask for another "
                "layer, or choose another model.",
                class_name=type(model).__name__,
            )
        )
    if len({state.shape[2] for state in states}) > 1:
        widths = ", ".join(f"{layer}: {state.shape[2]}" for layer, state in zip(layers, states, strict=True))
        raise ModelError(
            Message(
                "The layers of this {class_name} are not of one width (layer: numbers per token; "
                "{widths}). Ask for layers of one width at a time.",
                class_name=type(model).__name__,
                widths=widths,
            )
        )
    # BigBird pads texts to whole blocks.
    return states if length is None else [state[:, :length] for state in states]


def blocks_of(model: PreTrainedModel) -> torch.nn.ModuleList | None:
    """The blocks that compute the hidden states of a model, in order; None where they are not known."""
    if model not in _blocks_by_model:
        n_layers = getattr(model.config.get_text_config(), "num_hidden_layers", 0)
        candidates = [
            module
            for module in model.modules()
            if isinstance(module, torch.nn.ModuleList) and len(module) == n_layers > 0
        ]
        with torch.inference_mode():
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
    hooks = [
        blocks[layer].register_forward_pre_hook(hook_before(layer), with_kwargs=True)
        for layer in set(layers)
        if layer < len(blocks)
    ]
    try:
        states_by_layer[len(blocks)] = run_model(model, inputs).last_hidden_state
    except _StopForward:
        pass
    finally:
        for hook in hooks:
            hook.remove()
    device = inputs["input_ids"].device  # where several devices share the model, states are on that of their layer
    return [states_by_layer[layer].to(device) for layer in layers]


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

    return matches_full_pass([*whole, whole[0]], read, tolerance_of_states(model.dtype))
