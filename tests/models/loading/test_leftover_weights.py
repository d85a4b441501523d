"""Weights that do not belong to the model that config.json describes are refused in words of our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import ModelError
from engine.models.loading.weights import load
from tests.support import tiny_models


@pytest.fixture
def gpt2(tmp_path: Path) -> Path:
    return tiny_models.gpt2_unigram(tmp_path / "gpt2")


def with_weights(folder: Path, **extra: torch.Tensor) -> None:
    path = folder / "model.safetensors"
    save_file({**load_file(path), **extra}, path, metadata={"format": "pt"})


@pytest.mark.parametrize("task", ["causal", "encode"])
def test_a_configuration_that_counts_fewer_layers_is_refused(gpt2: Path, task: str) -> None:
    config = json.loads((gpt2 / "config.json").read_text())
    (gpt2 / "config.json").write_text(json.dumps({**config, "n_layer": 1}))
    with pytest.raises(ModelError, match=r"hold layers that its config\.json does not count \(.*h\.1\."):
        load(str(gpt2), task)  # type: ignore[arg-type]


def test_an_adapter_beside_the_base_is_refused(gpt2: Path) -> None:
    with_weights(gpt2, **{"transformer.h.0.attn.c_attn.lora_A.weight": torch.zeros(4, 32)})
    with pytest.raises(ModelError, match=r"hold an adapter beside the base model.*merge_and_unload"):
        load(str(gpt2), "causal")


def test_a_head_that_is_not_needed_may_stand_beside(gpt2: Path) -> None:
    with_weights(gpt2, **{"score.weight": torch.zeros(2, 32), "v_head.summary.0.weight": torch.zeros(1, 32)})
    assert load(str(gpt2), "causal").facts.kind == "causal"
