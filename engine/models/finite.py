"""Numbers of a model that are NaN or infinite: the error names the layer in which they arise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.shortcuts import trial_inputs
from engine.models.silence_transformers import one_line_message

_OTHER_PRECISION = {
    torch.float16: Message("Choose the precision bf16 or fp32, whose range is wider."),
    torch.bfloat16: Message("Choose the precision fp32."),
}
_DAMAGED = Message("Its weights may be damaged: copy or download them again, or choose another model.")


def require_finite(loaded: LoadedModel, numbers: Iterable[np.ndarray], rows: Iterable[Sequence[int]]) -> None:
    """Raise ModelError where a model's numbers of a text are NaN or infinite.

    numbers: of each text, of any shape. rows: the ids that the model read of each, for finding the layer.
    """
    for own, row in zip(numbers, rows, strict=True):
        if not np.isfinite(own).all():
            raise not_finite(loaded.model, row, name=loaded.facts.name)


def not_finite(model: PreTrainedModel, row: Sequence[int], *, name: str = "") -> ModelError:
    """The error of a model whose numbers of a row of ids are NaN or infinite; the row is read once more for the layer.

    name: "" for the last part of where its files are, since where a server keeps them is not for its members.
    """
    return ModelError(
        Message(
            "{name} ({class_name}) gives numbers that are NaN or infinite in {dtype}, {where}, for a text of "
            "{n:,} tokens. {advice}",
            name=name or Path(model.config._name_or_path).name,
            class_name=type(model).__name__,
            dtype=str(model.dtype).removeprefix("torch."),
            where=_where(model, row),
            n=len(row),
            advice=_OTHER_PRECISION.get(model.dtype, _DAMAGED),
        )
    )


def _where(model: PreTrainedModel, row: Sequence[int]) -> str:
    """The first part of a model, in the order in which they are computed, whose output is not finite."""
    found: list[str] = []
    with _watching(model, found), torch.inference_mode():
        ids = torch.tensor([list(row)], device=model.device)
        try:
            model(**trial_inputs(model, ids, torch.ones_like(ids)))
        except Exception as error:  # of the model's own code, as it may be of any class
            found.append(one_line_message(error))
    return Message("first in {part}", part=found[0]) if found else Message("in a batch of several texts")


@contextmanager
def _watching(model: PreTrainedModel, found: list[str]) -> Iterator[None]:
    def watch(path: str) -> Any:
        def look(_module: torch.nn.Module, _arguments: Any, output: Any) -> None:
            first = output[0] if isinstance(output, tuple | list) and output else output
            if isinstance(first, torch.Tensor) and first.is_floating_point() and not first.isfinite().all():
                found.append(path)

        return look

    hooks = [module.register_forward_hook(watch(path)) for path, module in model.named_modules() if path]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
