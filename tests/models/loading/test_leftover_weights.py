"""Weights that do not belong to the model that config.json describes are refused in words of our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import T5Config, T5ForConditionalGeneration

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


ATTENTION = "transformer.h.0.attn"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (f"{ATTENTION}.q_norm.weight", "hold 1 parts below the head that a GPT2LMHeadModel .* has no place for"),
        (f"{ATTENTION}.k_norm.bias", "no place for"),
        ("transformer.h.0.ln_1.gate.bias", "no place for"),
        ("transformer.memory.weight", "no place for"),
        ("lm_head.bias", "no place for"),
        (f"{ATTENTION}.c_attn.lora_down.weight", "hold an adapter"),
        (f"{ATTENTION}.c_proj.lora_up.weight", "hold an adapter"),
        ("transformer.h.0.adapter.down.weight", "hold an adapter"),
        ("transformer.h.0.output_adapters.pfeiffer.weight", "hold an adapter"),
        ("prefix_encoder.embedding.weight", "hold an adapter"),
        ("prompt_encoder.embedding.weight", "hold an adapter"),
        (f"{ATTENTION}.c_attn.parametrizations.weight.original", "remove_parametrizations"),
        (f"{ATTENTION}.c_attn.weight_scale", r"are quantised, though its config\.json says nothing"),
        (f"{ATTENTION}.c_attn.SCB", "are quantised"),
        (f"{ATTENTION}.c_attn.weight_scale_inv", "are quantised"),
        (f"{ATTENTION}.c_attn.qzeros", "are quantised"),
        ("lm_head.input_scale", "are quantised"),
    ],
)
def test_a_part_below_the_head_that_would_be_passed_over_is_refused(gpt2: Path, key: str, words: str) -> None:
    with_weights(gpt2, **{key: torch.ones(4)})
    with pytest.raises(ModelError, match=words) as raised:
        load(str(gpt2), "causal")
    assert f"({key})" in str(raised.value)


def test_a_scale_of_the_head_is_no_matter_of_hidden_states(gpt2: Path) -> None:
    with_weights(gpt2, **{"lm_head.input_scale": torch.ones(1)})
    assert load(str(gpt2), "encode").facts.kind == "causal"


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.float8_e4m3fn])
def test_weights_that_are_no_floating_point_numbers_are_refused(gpt2: Path, dtype: torch.dtype) -> None:
    path = gpt2 / "model.safetensors"
    name = f"{ATTENTION}.c_attn.weight"
    with_weights(gpt2, **{name: (load_file(path)[name] * 100).to(dtype)})
    for task in ("causal", "encode"):
        with pytest.raises(ModelError, match=rf"are quantised, .*{name}: [FUI]\d+"):
            load(str(gpt2), task)  # type: ignore[arg-type]


def test_scales_in_place_of_weights_are_said_before_what_is_missing(gpt2: Path) -> None:
    path, name = gpt2 / "model.safetensors", f"{ATTENTION}.c_attn"
    weights = load_file(path)
    weights[f"{name}.qweight"] = weights.pop(f"{name}.weight").to(torch.int32)
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(ModelError, match=rf"are quantised, .*{name}\.qweight"):
        load(str(gpt2), "causal")


def test_what_is_worked_out_again_may_stand_beside(gpt2: Path) -> None:
    with_weights(
        gpt2,
        **{
            f"{ATTENTION}.bias": torch.ones(1, 1, 64, 64, dtype=torch.bool),
            f"{ATTENTION}.masked_bias": torch.tensor(-1e4),
            "transformer.position_ids": torch.arange(64)[None],
            "transformer.h.0.attn.rotary_emb.inv_freq": torch.ones(4),
            "mtp.layers.0.weight": torch.ones(4),
        },
    )
    assert load(str(gpt2), "causal").facts.kind == "causal"


def test_heads_and_poolers_of_bert(tmp_path: Path) -> None:
    folder = tiny_models.bert(tmp_path / "bert")
    with_weights(
        folder,
        **{
            "bert.embeddings.position_ids": torch.arange(64)[None],
            "bert.pooler.dense.weight": torch.ones(32, 32),
            "cls.seq_relationship.weight": torch.ones(2, 32),
            "cls.seq_relationship.bias": torch.ones(2),
        },
    )
    for task in ("masked", "encode"):
        assert load(str(folder), task).weight_check.unused  # type: ignore[arg-type]
    with_weights(folder, **{"bert.encoder.layer.0.attention.self.distance_embedding.weight": torch.ones(127, 8)})
    with pytest.raises(ModelError, match=r"relative positions .*distance_embedding.*no longer has.*relative_key"):
        load(str(folder), "encode")


def test_the_encoder_of_two_is_asked_and_the_decoder_is_not(tmp_path: Path) -> None:
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "vocab_size": 400}
    tiny_models.gpt2_unigram(tmp_path / "t5")
    T5ForConditionalGeneration(T5Config(**sizes)).save_pretrained(tmp_path / "t5")
    with_weights(tmp_path / "t5", **{"decoder.block.0.layer.0.SelfAttention.q.weight_scale": torch.ones(1)})
    assert load(str(tmp_path / "t5"), "encode").facts.kind == "encoder"
    with_weights(tmp_path / "t5", **{"encoder.block.0.layer.0.SelfAttention.q_norm.weight": torch.ones(8)})
    with pytest.raises(ModelError, match=r"no place for \(encoder\.block\.0\.layer\.0\.SelfAttention\.q_norm"):
        load(str(tmp_path / "t5"), "encode")
