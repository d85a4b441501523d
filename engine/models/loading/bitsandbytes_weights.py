"""Weights quantised by bitsandbytes as numbers: its file formats read without its kernels.

4 bits (NF4, FP4): two codes a byte, the higher half first, into a table of 16 numbers that the file holds, times the
scale of a block; the scales may be quantised themselves (Dettmers et al., 2023, QLoRA, arXiv:2305.14314, section 3).
8 bits: integers with a scale for each row, which is its largest number, 127 (Dettmers et al., 2022, LLM.int8(),
arXiv:2208.07339, section 2.1). Each tensor is made in float32 when its place in the model is filled.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from engine.errors import ModelError
from engine.messages.message import Message

_STATE = ".quant_state.bitsandbytes__"
_BESIDE_4_BITS = (".absmax", ".quant_map", ".nested_absmax", ".nested_quant_map", f"{_STATE}nf4", f"{_STATE}fp4")
_SCALES, _FORMAT = "SCB", "weight_format"
_LARGEST = 127  # of an integer of 8 bits
_BY_ROW = 0  # `weight_format`; the others are orders of tiles of a graphics processor, which are not written any more


class LazyWeight:
    """A weight of a file that is made into numbers when transformers takes it (`[...]`): one at a time is in memory."""

    def __init__(self, model: str, name: str, stored: Mapping[str, Any], *, turned: bool) -> None:
        """stored: the open file of each tensor that the weight is made of, itself included. turned: if quantised, it
        was turned from (columns, rows) first."""
        self._model, self._name, self._stored, self._turned = model, name, stored, turned

    def __getitem__(self, _: Any) -> torch.Tensor:
        tensors: dict[str, torch.Tensor] = {name: file.get_tensor(name) for name, file in self._stored.items()}
        weight = tensors.pop(self._name)
        if not tensors:
            return weight
        try:
            stem = self._name.rpartition(".")[0]
            if f"{stem}.{_SCALES}" in tensors:
                numbers = of_8_bits(weight, tensors[f"{stem}.{_SCALES}"], tensors.get(f"{stem}.{_FORMAT}"))
            else:
                numbers = of_4_bits(weight, {name.removeprefix(self._name): part for name, part in tensors.items()})
            return numbers.T.contiguous() if self._turned else numbers
        except (ValueError, KeyError, TypeError, IndexError, RuntimeError) as error:
            raise ModelError(
                Message(
                    "{weight} of {name} is damaged: its numbers do not fit what the file says of them ({error}). Copy "
                    "or download the model again.",
                    weight=self._name,
                    name=self._model,
                    error=str(error),
                )
            ) from error


def is_quantised(names: Iterable[str]) -> bool:
    """Whether tensors of these names hold weights that bitsandbytes has quantised, whatever config.json says."""
    return any(_STATE in name or name.rpartition(".")[2] == _SCALES for name in names)


def state_dict(model: str, files: Sequence[Path], skeleton: PreTrainedModel) -> dict[str, LazyWeight]:
    """What `from_pretrained` takes in place of the files: each weight by its name, with what belongs to it.

    files: safetensors. skeleton: the model without its numbers; what GPT-2 has as (columns, rows) is turned when it is
    quantised, and turned back here. Raises ModelError for others, whose tensors cannot be read one by one.
    """
    if other := [path.name for path in files if path.suffix != ".safetensors"]:
        raise ModelError(
            Message(
                "The weights of {name} are quantised (bitsandbytes) in {file}; they are read from safetensors alone. "
                "Save the model as safetensors.",
                name=model,
                file=other[0],
            )
        )
    opened: list[Any] = [safe_open(path, framework="pt") for path in files]
    stored: dict[str, Any] = {name: file for file in opened for name in file.keys()}  # noqa: SIM118, it has no __iter__
    beside: dict[str, list[str]] = {}
    for name in stored:
        if owner := _owner(name, stored):
            beside.setdefault(owner, []).append(name)
    belonging = {name for names in beside.values() for name in names}
    start = f"{skeleton.base_model_prefix}."
    turned = {name.removeprefix(start) for name, module in skeleton.named_modules() if isinstance(module, Conv1D)}

    def lazy(name: str) -> LazyWeight:
        parts = {part: stored[part] for part in (name, *beside.get(name, ()))}
        return LazyWeight(model, name, parts, turned=name.removesuffix(".weight").removeprefix(start) in turned)

    return {name: lazy(name) for name in stored if name not in belonging}


def _owner(name: str, stored: Mapping[str, Any]) -> str:
    """The weight that a tensor belongs to; "" for a weight, and for what belongs to none."""
    stem, _, last = name.rpartition(".")
    if last in (_SCALES, _FORMAT):
        return f"{stem}.weight" if f"{stem}.weight" in stored else ""
    return next((name.removesuffix(end) for end in _BESIDE_4_BITS if name.endswith(end)), "")


def of_8_bits(weight: torch.Tensor, scales: torch.Tensor, order: torch.Tensor | None) -> torch.Tensor:
    """Integers of 8 bits (rows, columns) and the largest number of each row -> float32 of the same shape.

    Raises ValueError for other data types and shapes, and for an order of the integers that is not by rows.
    """
    if weight.dtype != torch.int8 or weight.dim() != 2 or scales.numel() != weight.shape[0]:
        raise ValueError(f"{weight.dtype} of {tuple(weight.shape)}, {scales.numel()} scales")
    if order is not None and order.item() != _BY_ROW:
        raise ValueError(f"{_FORMAT} {order.item()}")
    return weight.float() * (scales.float().reshape(-1, 1) / _LARGEST)


def of_4_bits(packed: torch.Tensor, beside: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Two codes a byte -> float32 of the shape that the tensor's state says.

    packed: in any data type, whose bytes count. beside: by the ends of their names, the tables, the scales and the
    state, which is JSON in bytes. Raises ValueError and KeyError where they do not fit together.
    """
    (state,) = (
        json.loads(bytes(tensor.tolist()).decode()) for name, tensor in beside.items() if name.startswith(_STATE)
    )
    shape, block = tuple(state["shape"]), int(state["blocksize"])
    scales = beside[".absmax"]
    if ".nested_absmax" in beside:
        outer = _by_block(
            beside[".nested_quant_map"][scales.long()], beside[".nested_absmax"], state["nested_blocksize"]
        )
        scales = outer + state["nested_offset"]
    codes = packed.contiguous().view(torch.uint8).flatten()
    if codes.numel() != -(-prod(shape) // 2):
        raise ValueError(f"{codes.numel()} bytes for {shape}")
    values = beside[".quant_map"].float()[torch.stack([codes >> 4, codes & 15], dim=-1).flatten().long()]
    return _by_block(values[: prod(shape)], scales.float(), block).reshape(shape)


def _by_block(values: torch.Tensor, scales: torch.Tensor, block: int) -> torch.Tensor:
    """Values (n,), each times the scale of its block; the last block may be shorter. Raises ValueError."""
    if block < 1 or scales.numel() != -(-values.numel() // block):
        raise ValueError(f"{scales.numel()} scales for {values.numel()} numbers in blocks of {block}")
    return values * scales.flatten().repeat_interleave(block)[: values.numel()]
