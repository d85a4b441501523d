"""A Llama of random weights, saved to disk tensor by tensor, for measuring how large models are loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, LlamaConfig

from tests.support import tiny_models


def save(folder: Path, dtype: torch.dtype, **sizes: Any) -> Path:
    """Save weights, config.json and the tokenizer of a tiny GPT-2; `sizes` as of LlamaConfig."""
    config = LlamaConfig(architectures=["LlamaForCausalLM"], dtype=dtype, **sizes)
    tiny_models.gpt2_byte_level(folder)
    (folder / "model.safetensors").unlink()
    config.save_pretrained(folder)
    with torch.device("meta"):
        shapes = {name: tensor.shape for name, tensor in AutoModelForCausalLM.from_config(config).state_dict().items()}
    # One matrix of random numbers, from which all are cut: drawing a billion of them takes half a minute.
    largest = max(shape.numel() for shape in shapes.values())
    numbers = (torch.randn(2**20) / 50).to(dtype).repeat(-(-largest // 2**20))
    save_file(
        {name: numbers[: shape.numel()].reshape(shape).clone() for name, shape in shapes.items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    assert json.loads((folder / "config.json").read_text())["dtype"] == str(dtype).removeprefix("torch.")
    return folder
