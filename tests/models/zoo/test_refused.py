"""What is not the model that its files say, or cannot be evaluated, is refused in words of our own."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BltConfig, PerceiverConfig, PreTrainedConfig

from engine.errors import ModelError
from engine.models.loading.weights import load
from engine.models.scoring.causal_lm import token_log_likelihoods as causal_log_likelihoods
from engine.models.scoring.encoder import token_similarities
from engine.models.scoring.fill_mask import fill_masks
from engine.models.scoring.masked_lm import token_log_likelihoods as masked_log_likelihoods
from engine.models.scoring.sentence_vectors import sentence_vectors
from tests.models.zoo.kinds.causal import GEMMA, PLAIN, SIZES, causal
from tests.models.zoo.kinds.causal import OLDER as CAUSAL
from tests.models.zoo.kinds.encoders import ENCODERS
from tests.models.zoo.kinds.masked import OTHERS
from tests.models.zoo.specimens import ModelKind, Specimen, build
from tests.models.zoo.tokenizer_files.published import write_settings


def kind(name: str, kinds: tuple[ModelKind, ...] = CAUSAL) -> ModelKind:
    return next(kind for kind in kinds if kind.name == name)


@pytest.fixture
def gpt2(tmp_path: Path) -> Specimen:
    return build(kind("gpt2"), tmp_path / "gpt2")


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def change_weights(folder: Path, added: dict[str, torch.Tensor], prefix: str = "") -> None:
    path = folder / "model.safetensors"
    weights = {prefix + name: tensor for name, tensor in load_file(path).items()}
    save_file({**weights, **added}, path, metadata={"format": "pt"})


def test_layers_that_the_configuration_does_not_count(tmp_path: Path) -> None:
    three = dataclasses.replace(kind("gpt2"), settings={**kind("gpt2").settings, "n_layer": 3})
    folder = build(three, tmp_path / "gpt2").folder
    change_config(folder, n_layer=2)
    for task in ("causal", "encode"):
        with pytest.raises(ModelError, match=r"hold layers that its config.json does not count .*h\.2\."):
            load(str(folder), task)  # type: ignore[arg-type]


def test_layers_that_the_weights_lack(gpt2: Specimen) -> None:
    change_config(gpt2.folder, n_layer=3)
    with pytest.raises(ModelError, match=r"lack \d+ parts that a GPT2LMHeadModel needs .*h\.2\."):
        load(str(gpt2.folder), "causal")


@pytest.mark.parametrize("changes", [{"n_inner": 64}, {"n_positions": 128}, {"vocab_size": 500}])
def test_weights_of_other_shapes(gpt2: Specimen, changes: dict[str, int]) -> None:
    change_config(gpt2.folder, **changes)
    with pytest.raises(ModelError, match=r"another shape than config\.json says"):
        load(str(gpt2.folder), "causal")


@pytest.mark.parametrize(
    "added",
    ["transformer.h.0.attn.c_attn.lora_A.weight", "base_model.model.transformer.h.0.attn.c_attn.lora_A.default.weight"],
)
def test_an_adapter_beside_its_base(gpt2: Specimen, added: str) -> None:
    change_weights(gpt2.folder, {added: torch.ones(4, 32)})
    with pytest.raises(ModelError, match="hold an adapter beside the base model"):
        load(str(gpt2.folder), "causal")


def test_weights_saved_from_within_an_adapter(gpt2: Specimen) -> None:
    change_weights(gpt2.folder, {}, prefix="base_model.model.")
    with pytest.raises(ModelError):
        load(str(gpt2.folder), "causal")


def test_a_causal_head_over_attention_in_both_directions(tmp_path: Path) -> None:
    both_ways = causal(
        "gemma3 in both directions",
        "Gemma3ForCausalLM",
        GEMMA,
        SIZES,
        query_pre_attn_scalar=8,
        use_bidirectional_attention=True,
    )
    loaded = build(both_ways, tmp_path / "model").scorer
    with pytest.raises(ModelError, match=r"reads ahead.*no likelihood"):
        causal_log_likelihoods(loaded, ["猫がいる。"])


def test_a_decoder_that_is_to_read_in_both_directions_and_cannot(tmp_path: Path) -> None:
    folder = build(kind("gpt_neo"), tmp_path / "model").folder
    change_config(folder, is_causal=False)
    with pytest.raises(ModelError, match=r"is_causal: false.* the GPTNeoModel .* from left to right"):
        sentence_vectors(load(str(folder), "encode"), ["猫がいる。"], layers=[1], pooling="mean")


@pytest.mark.parametrize(
    "name", ["xlnet", "RoBERTa with a causal head, no decoder", "t5", "electra's discriminator", "bert without a head"]
)
def test_encoders_score_no_words(name: str, tmp_path: Path) -> None:
    folder = build(kind(name, ENCODERS), tmp_path / "model").folder
    with pytest.raises(ModelError, match=r"is an encoder without language-model head and does not score"):
        load(str(folder), "causal")
    with pytest.raises(ModelError, match=r"is an encoder without language-model head and fills no masks"):
        load(str(folder), "masked")


def test_a_model_that_reads_texts_of_one_length_only(tmp_path: Path) -> None:
    published = kind("nystromformer", OTHERS)
    padded = dataclasses.replace(published, settings={**published.settings, "segment_means_seq_len": 64})
    specimen = build(padded, tmp_path / "model")
    for operation in (
        lambda: sentence_vectors(specimen.encoder, ["猫", "雨だ。"], layers=[2], pooling="mean"),
        lambda: token_similarities(specimen.encoder, [("猫", "雨だ。")], layers=[2]),
        lambda: masked_log_likelihoods(specimen.scorer, ["猫"], scoring="pll-original"),
        lambda: fill_masks(specimen.scorer, [("", "猫", "がいる。")]),
    ):
        with pytest.raises(ModelError, match=r"cannot read a text of 5 or 23 tokens"):
            operation()


@pytest.mark.parametrize(
    ("class_name", "package", "files"),
    [
        ("BioGptTokenizer", "sacremoses", ("vocab.json", "merges.txt")),
        ("XLMTokenizer", "sacremoses", ("vocab.json", "merges.txt")),
        ("RoFormerTokenizer", "rjieba", ("vocab.txt",)),
    ],
)
def test_tokenizers_whose_package_is_missing(
    gpt2: Specimen, class_name: str, package: str, files: tuple[str, ...]
) -> None:
    (gpt2.folder / "tokenizer.json").unlink()
    contents = {"vocab.json": '{"<unk>": 0, "a</w>": 1}', "merges.txt": "#version: 0.2\n", "vocab.txt": "[UNK]\na\n"}
    for name in files:
        (gpt2.folder / name).write_text(contents[name])
    write_settings(gpt2.folder, class_name, {"unk_token": "<unk>"})
    with pytest.raises(ModelError, match=f"{package}.*Install that package"):
        load(str(gpt2.folder), "causal")


@pytest.mark.parametrize(
    ("config", "field"),
    [(BltConfig(), "num_hidden_layers"), (PerceiverConfig(d_latents=16, num_latents=4), "num_hidden_layers")],
)
def test_a_model_that_is_no_stack_of_layers_over_tokens(config: PreTrainedConfig, field: str, gpt2: Specimen) -> None:
    config.save_pretrained(gpt2.folder)
    with pytest.raises(ModelError, match=rf"of the type '{config.model_type}'.*has no {field}"):
        load(str(gpt2.folder), "encode")


def test_pieces_of_texts_that_have_no_embedding(gpt2: Specimen) -> None:
    tokenizer = gpt2.tokenizer
    tokenizer.add_tokens([f"<extra{number}>" for number in range(40)])
    tokenizer.save_pretrained(gpt2.folder)
    with pytest.raises(ModelError, match=r"makes pieces of a text that its model has no embeddings of \(<extra\d+>, "):
        load(str(gpt2.folder), "causal")


def test_control_tokens_that_have_no_embedding_do_no_harm(gpt2: Specimen) -> None:
    tokenizer = gpt2.tokenizer
    tokenizer.add_tokens([f"<extra{number}>" for number in range(40)], special_tokens=True)
    tokenizer.save_pretrained(gpt2.folder)
    assert len(causal_log_likelihoods(load(str(gpt2.folder), "causal"), ["<extra39> rain"])[0]["ids"]) > 3


def test_fewer_hidden_states_than_the_configuration_counts(tmp_path: Path) -> None:
    longcat = causal(
        "longcat",
        "LongcatFlashForCausalLM",
        PLAIN,
        {
            "hidden_size": 32,
            "num_layers": 1,
            "num_attention_heads": 4,
            "ffn_hidden_size": 64,
            "q_lora_rank": 16,
            "kv_lora_rank": 16,
            "qk_nope_head_dim": 8,
            "qk_rope_head_dim": 8,
            "head_dim": 8,
            "v_head_dim": 8,
            "moe_topk": 2,
            "n_routed_experts": 4,
            "zero_expert_num": 2,
            "expert_ffn_hidden_size": 32,
            "max_position_embeddings": 256,
        },
    )
    loaded = build(longcat, tmp_path / "model").encoder
    with pytest.raises(ModelError, match=r"gives 2 hidden states, fewer than .*layers below 2"):
        sentence_vectors(loaded, ["rain"], layers=[loaded.facts.n_layers], pooling="mean")
    assert "vectors" in sentence_vectors(loaded, ["rain"], layers=[1], pooling="mean")[0]
