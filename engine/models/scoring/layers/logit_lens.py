"""The logit lens: what a decoder would say if it ended after one of its layers.

The state of a layer is put in the place of the state after the last block, and the rest of the model, its final norm
and its head, is run on it. The rest is the model's own code, in which every block gives that state back; so a norm, a
projection, a scale or a cap that follows the blocks is in it, whatever the class calls it, and a norm is applied once.

Source: nostalgebraist 2020 (interpreting GPT: the logit lens); surprisal by it: Kuribayashi et al. 2025 (TACL 13).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import torch
from transformers import PreTrainedModel

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.hidden_states import blocks_of
from engine.models.scoring.shortcuts import matches_full_pass, tolerance_of_logits, trial_inputs

_lenses: WeakKeyDictionary[PreTrainedModel, LogitLens | None] = WeakKeyDictionary()


class LogitLens:
    """The blocks of one model, and how a pass is repeated as if it ended before one of them."""

    def __init__(self, blocks: torch.nn.ModuleList) -> None:
        """Use `logit_lens`, which tries the model first."""
        self._blocks = list(blocks)
        self._states: list[torch.Tensor] = []  # that each block was given, and that the last one returned
        self._outputs: list[Any] = []  # of each block

    @property
    def n_layers(self) -> int:
        """The number of the last layer, and of the blocks."""
        return len(self._blocks)

    def of_layers(self, score: Callable[[], torch.Tensor]) -> torch.Tensor:
        """The numbers of `score`, (n,), at every layer: (n, n_layers + 1), layer 0 being the embeddings.

        score: runs the model on one batch, the same at every call. The last layer is the model as it is.
        """
        with self._recorded():
            last = score()
        by_layer = []
        for state in self._states[:-1]:
            with self._ending_with(state):
                by_layer.append(score())
        self._states, self._outputs = [], []  # they may take as much memory as the pass
        return torch.stack([*by_layer, last], dim=1)

    def repeated(self, run: Callable[[], torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """What `run` gives, and what it gives again when the blocks only hand on the state after the last of them."""
        with self._recorded():
            whole = run()
        with self._ending_with(self._states[-1]):
            again = run()
        self._states, self._outputs = [], []
        return whole, again

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        """Inside, what each block is given and returns is kept: of several passes that of the last."""
        n = len(self._blocks)
        states, outputs = [torch.empty(0)] * (n + 1), [None] * n
        self._states, self._outputs = states, outputs

        def before(number: int) -> Callable[..., None]:
            def keep(_module: torch.nn.Module, arguments: tuple[Any, ...], settings: dict[str, Any]) -> None:
                states[number] = (arguments[0] if arguments else settings["hidden_states"]).clone()

            return keep

        def after(number: int) -> Callable[..., None]:
            def keep(_module: torch.nn.Module, _arguments: Any, output: Any) -> None:
                outputs[number] = output
                states[number + 1] = (output[0] if isinstance(output, tuple) else output).clone()

            return keep

        hooks = []
        for number, block in enumerate(self._blocks):
            # The state that a block is given, not the one that the block before returned, is transformers' layer. A copy,
            # since a block may add to what it was given in place.
            hooks.append(block.register_forward_pre_hook(before(number), with_kwargs=True))
            hooks.append(block.register_forward_hook(after(number)))
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    @contextmanager
    def _ending_with(self, state: torch.Tensor) -> Iterator[None]:
        """Inside, every block returns this state, in the form in which it returns its own."""

        def returning(output: Any) -> Callable[..., Any]:
            if isinstance(output, tuple):
                return lambda *_, **__: (state.to(output[0].device), *output[1:])
            return lambda *_, **__: state.to(output.device)

        # Shadows the class's during these passes; a worker runs one operation on a model at a time.
        own = [
            vars(block).get("forward") for block in self._blocks
        ]  # that of accelerate, where several devices share it
        for block, output in zip(self._blocks, self._outputs, strict=True):
            block.forward = returning(output)
        try:
            yield
        finally:
            for block, before in zip(self._blocks, own, strict=True):
                if before is None:
                    del block.forward
                else:
                    block.forward = before


def logit_lens(loaded: LoadedModel) -> LogitLens:
    """The lens of a causal model, tried once: what follows its blocks depends on the state after the last one alone.

    Raises ModelError where it does not, or where the blocks are not known.
    """
    model = loaded.model
    if model not in _lenses:
        with torch.inference_mode():
            _lenses[model] = _tried(model)
    lens = _lenses[model]
    if lens is None:
        raise ModelError(
            Message(
                "{name} ({architecture}) has no logit lens: what follows its layers does not depend on the state of one "
                "of them alone. Leave its layers out, or choose another model.",
                name=loaded.facts.name,
                architecture=loaded.facts.architecture,
            )
        )
    return lens


def _tried(model: PreTrainedModel) -> LogitLens | None:
    bodies: tuple[Any, ...] = (model.base_model, model.get_decoder())
    blocks = next((found for body in bodies if (found := blocks_of(body))), None)
    if blocks is None:
        return None
    lens = LogitLens(blocks)
    vocabulary = int(model.config.get_text_config().vocab_size)
    ids = torch.arange(8, device=model.device).reshape(2, 4) % vocabulary  # (2, 4)
    inputs = {**trial_inputs(model, ids, torch.ones_like(ids)), "use_cache": False}
    whole = model(**inputs).logits
    both = matches_full_pass(
        [whole, whole], lambda: lens.repeated(lambda: model(**inputs).logits), tolerance_of_logits(model.dtype)
    )
    return lens if both else None
