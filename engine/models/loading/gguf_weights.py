"""The weights of a GGUF file as numbers, by the names and in the order that transformers has them.

Each tensor is dequantised to float32 by the package `gguf` when its place in the model is filled, one after the other, and
rounded once to the data type that is computed in. What the converter of the format has changed is undone: the rows of a
Llama's queries and keys stand in the order of another rotary embedding, a Gemma's norms have one more, and GPT-2's
matrices are transposed. Source: the package's own table of names, and the model classes of transformers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from transformers import AutoModelForCausalLM, PreTrainedConfig

from engine.errors import ModelError
from engine.messages.message import Message, list_of
from engine.models.silence_transformers import silence_transformers
from engine.models.sources.gguf.configuration import ROPE_FACTORS, has_llama3_factors
from engine.models.sources.gguf.header import Header, Tensor, read_header

Numbers = np.ndarray[Any, np.dtype[np.float32]]


class LazyWeight:
    """A tensor of the file, dequantised when transformers takes it (`[...]`): one at a time is in memory."""

    def __init__(self, path: Path, tensor: Tensor, restore: Callable[[Numbers], Numbers]) -> None:
        self._path, self._tensor, self._restore = path, tensor, restore

    def __getitem__(self, _: Any) -> torch.Tensor:
        return torch.from_numpy(np.array(self._restore(dequantised(self._path, self._tensor)), order="C"))


def dequantised(path: Path, tensor: Tensor) -> Numbers:
    """The numbers of a tensor in float32, rows first. Raises ModelError for a data type that nothing turns into numbers."""
    kind = gguf.GGMLQuantizationType[tensor.kind]
    stored = np.memmap(path, np.uint8, "r", tensor.start, (tensor.n_bytes,))  # its pages are read when they are used
    try:
        numbers = gguf.quants.dequantize(stored, kind)
    except NotImplementedError as error:
        raise ModelError(
            Message(
                "The tensor {name} of {path} has the data type {kind}, which the package gguf does not turn into "
                "numbers. Choose a file in another quantisation.",
                name=tensor.name,
                path=path.name,
                kind=tensor.kind,
            )
        ) from error
    return np.asarray(numbers, np.float32).reshape(tensor.shape)


def state_dict(name: str, path: Path, config: PreTrainedConfig) -> dict[str, Any]:
    """What `from_pretrained` takes in place of a file: each weight by the name it has in the class with the head.

    Raises ModelError where the file has a tensor that the model of `config` has no place for.
    """
    header = read_header(path)
    with silence_transformers(), torch.device("meta"):
        skeleton = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    number = next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == header.architecture)
    names = gguf.get_tensor_name_map(number, int(config.num_hidden_layers))
    by_tensor: dict[str, str] = {}
    for key in skeleton.state_dict():
        stem, dot, suffix = key.rpartition(".")
        if (found := names.get_name(stem)) is not None:
            by_tensor.setdefault(f"{found}{dot}{suffix}", key)
    restore = _RESTORED.get(header.architecture, _as_it_is)
    left = sorted(set(header.tensors) - set(by_tensor) - _said_by(header, config))
    if left:
        raise ModelError(
            Message(
                "{name} holds {n:,} tensors that a {class_name} has no place for ({listed}), so that another model "
                "would be evaluated. Choose the model that it was converted from.",
                name=name,
                n=len(left),
                class_name=type(skeleton).__name__,
                listed=list_of([*left[:3], *(["…"] if len(left) > 3 else [])]),
            )
        )
    return {
        by_tensor[tensor.name]: LazyWeight(path, tensor, restore(tensor.name, config))
        for tensor in header.tensors.values()
        if tensor.name in by_tensor
    }


def _said_by(header: Header, config: PreTrainedConfig) -> set[str]:
    """Tensors that the configuration says: the factors of the frequencies, where they are those of its scaling."""
    rope = getattr(config, "rope_parameters", None)
    if ROPE_FACTORS not in header.tensors or not isinstance(rope, dict) or rope.get("rope_type") != "llama3":
        return set()
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return {ROPE_FACTORS} if has_llama3_factors(header, rope, head) else set()


Restore = Callable[[Numbers], Numbers]


def _as_it_is(tensor: str, config: PreTrainedConfig) -> Restore:
    return lambda numbers: numbers


def _llama(tensor: str, config: PreTrainedConfig) -> Restore:
    """Rows of a head in two halves, as transformers rotates them, not pair by pair."""
    part = tensor.split(".")[2:3]
    if part not in (["attn_q"], ["attn_k"]):
        return _as_it_is(tensor, config)
    n_heads = config.num_attention_heads if part == ["attn_q"] else config.num_key_value_heads

    def in_halves(numbers: Numbers) -> Numbers:
        by_pair = numbers.reshape(n_heads, numbers.shape[0] // n_heads // 2, 2, *numbers.shape[1:])
        return by_pair.swapaxes(1, 2).reshape(numbers.shape)

    return in_halves


def _gemma(tensor: str, config: PreTrainedConfig) -> Restore:
    return (lambda numbers: numbers - 1) if tensor.endswith("norm.weight") else _as_it_is(tensor, config)


def _gpt2(tensor: str, config: PreTrainedConfig) -> Restore:
    is_matrix = tensor.startswith("blk.") and tensor.endswith(".weight") and "norm" not in tensor
    return (lambda numbers: numbers.T) if is_matrix else _as_it_is(tensor, config)


_RESTORED: dict[str, Callable[[str, PreTrainedConfig], Restore]] = {
    "llama": _llama,
    "gemma2": _gemma,
    "gemma3": _gemma,
    "gpt2": _gpt2,
}
