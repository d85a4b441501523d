"""Adapters, against peft on plain transformers, which keeps the adapter beside the weights and merges nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import peft
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

from engine.errors import ModelError
from engine.models.loading.weights import load
from engine.models.scoring.causal_lm import token_log_likelihoods as causal_log_likelihoods
from engine.models.scoring.masked_lm import token_log_likelihoods as masked_log_likelihoods
from engine.models.scoring.sentence_vectors import sentence_vectors
from engine.models.sources.model_location import locate
from engine.runs.run_key import run_key
from tests.support import tiny_models

# peft warns while the adapters of these tests are made; what the engine warns of is an error of its own.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:peft")
TEXTS = list(tiny_models.JAPANESE[:3])
CATS = [30, 60, 90, 120, 150, 180]  # some of these tokens are in the texts, as their test shows
CONFIGS: dict[str, tuple[Any, dict[str, Any]]] = {
    "LORA": (peft.LoraConfig, {}),
    "LORA with DoRA": (peft.LoraConfig, {"use_dora": True}),
    "LORA with biases": (peft.LoraConfig, {"bias": "all"}),
    "LORA from PiSSA": (peft.LoraConfig, {"init_lora_weights": "pissa"}),
    "LORA with tokens": (peft.LoraConfig, {"trainable_token_indices": {"word_embeddings": CATS}}),
    "ADALORA": (peft.AdaLoraConfig, {"total_step": 10}),
    "LOHA": (peft.LoHaConfig, {}),
    "LOKR": (peft.LoKrConfig, {}),
    "IA3": (peft.IA3Config, {"target_modules": ["query", "output.dense"], "feedforward_modules": ["output.dense"]}),
    "OFT": (peft.OFTConfig, {"oft_block_size": 4, "r": 0}),
    "BOFT": (peft.BOFTConfig, {"boft_block_size": 4}),
    "VERA": (peft.VeraConfig, {}),
    "HRA": (peft.HRAConfig, {}),
    "FOURIERFT": (peft.FourierFTConfig, {"scaling": 30.0}),
    "LN_TUNING": (peft.LNTuningConfig, {"target_modules": ["LayerNorm"]}),
    "VBLORA": (peft.VBLoRAConfig, {"vector_length": 4, "num_vectors": 8}),
    "RANDLORA": (peft.RandLoraConfig, {}),
    "C3A": (peft.C3AConfig, {"block_size": 4}),
    "TRAINABLE_TOKENS": (peft.TrainableTokensConfig, {"target_modules": ["word_embeddings"], "token_indices": CATS}),
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.gpt2_unigram(tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(scope="module")
def plain(bert: Path) -> Any:
    """The vectors of the base model."""
    return vectors_of(bert)


@pytest.fixture(scope="module")
def trained(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter of the base model, to be copied before it is changed."""
    return train(tmp_path_factory.mktemp("trained") / "adapter", bert, AutoModelForMaskedLM, lora())


def train(folder: Path, base: Path, auto_class: Any, config: Any, prepare: Callable[[Any], None] | None = None) -> Path:
    """Save an adapter of `base` with random weights, as training with peft would have left it."""
    model = auto_class.from_pretrained(base)
    if prepare is not None:
        prepare(model)
    trained = peft.get_peft_model(model, config)
    torch.manual_seed(1)
    for parameter in trained.parameters():
        if parameter.requires_grad:
            parameter.data += torch.randn_like(parameter) * 0.1
    trained.save_pretrained(folder)
    return folder


def lora(**settings: Any) -> Any:
    return peft.LoraConfig(**{"target_modules": ["query", "value"], **settings})


def adapted(adapter: Path, base: Path, auto_class: Any, prepare: Callable[[Any], None] | None = None) -> Any:
    model = auto_class.from_pretrained(base, dtype=torch.float32)
    if prepare is not None:
        prepare(model)
    return peft.PeftModel.from_pretrained(model, adapter).eval().get_base_model()


def vectors_of(folder: Path) -> Any:
    """Those of all layers, as the engine computes them."""
    return sentence_vectors(load(str(folder), "encode"), TEXTS, layers=[*range(tiny_models.LAYERS + 1)], pooling="mean")


def require_equal_vectors(folder: Path, model: Any, tokenizer: Any) -> Any:
    """Compare, and return the pieces of the engine."""
    pieces = vectors_of(folder)
    for text, piece in zip(TEXTS, pieces, strict=True):
        encoding = tokenizer(text, return_tensors="pt", return_special_tokens_mask=True)
        ordinary = ~encoding.pop("special_tokens_mask")[0].bool()
        encoding.pop("token_type_ids", None)
        with torch.inference_mode():
            states = model(**encoding, output_hidden_states=True).hidden_states
        means = {False: [s[0][ordinary].mean(0) for s in states], True: [s[0].mean(0) for s in states]}
        closest = min(
            np.abs(piece["vectors"] - np.stack([vector.numpy() for vector in kind])).max() for kind in means.values()
        )
        assert closest < 1e-5  # with special tokens or without, as "mean" has it
    return pieces


def require_equal_pll(folder: Path, model: Any, tokenizer: Any) -> None:
    """One pass for each masked position, on the merged model itself."""
    pieces = masked_log_likelihoods(load(str(folder), "masked"), TEXTS, scoring="pll-original")
    for text, piece in zip(TEXTS, pieces, strict=True):
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        expected = []
        for position in range(1, ids.shape[1] - 1):
            row = ids.clone()
            row[0, position] = tokenizer.mask_token_id
            with torch.inference_mode():
                expected.append(float(model(row).logits[0, position].log_softmax(-1)[ids[0, position]]))
        np.testing.assert_allclose(piece["log_likelihoods"], expected, atol=1e-5)


def require_equal_lp(folder: Path, model: Any, tokenizer: Any) -> None:
    pieces = causal_log_likelihoods(load(str(folder), "causal"), TEXTS)
    for text, piece in zip(TEXTS, pieces, strict=True):
        ids = tokenizer(text, return_tensors="pt")["input_ids"]  # begins with <s>
        with torch.inference_mode():
            scores = model(ids).logits[0, :-1].log_softmax(-1)
        expected = scores.gather(1, ids[0, 1:, None])[:, 0].numpy()
        np.testing.assert_allclose(piece["log_likelihoods"], expected, atol=1e-5)


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_type_that_can_be_merged(kind: str, bert: Path, plain: Any, tmp_path: Path) -> None:
    config_class, settings = CONFIGS[kind]
    config = config_class(**{"target_modules": ["query", "value"], **settings})
    folder = train(tmp_path / "adapter", bert, AutoModelForMaskedLM, config)
    model, tokenizer = adapted(folder, bert, AutoModelForMaskedLM), AutoTokenizer.from_pretrained(bert)
    changed = require_equal_vectors(folder, model, tokenizer)
    require_equal_pll(folder, model, tokenizer)
    assert np.abs(plain[0]["vectors"][2] - changed[0]["vectors"][2]).max() > 1e-2


def test_a_causal_model(gpt2: Path, tmp_path: Path) -> None:
    folder = train(
        tmp_path / "adapter",
        gpt2,
        AutoModelForCausalLM,
        lora(target_modules=["c_attn", "c_fc"], task_type="CAUSAL_LM", fan_in_fan_out=True),
    )
    model, tokenizer = adapted(folder, gpt2, AutoModelForCausalLM), AutoTokenizer.from_pretrained(gpt2)
    require_equal_lp(folder, model, tokenizer)
    require_equal_vectors(folder, model, tokenizer)


@pytest.mark.parametrize("auto_class", [AutoModel, AutoModelForSequenceClassification])
def test_an_adapter_trained_on_another_class(auto_class: Any, bert: Path, tmp_path: Path) -> None:
    """On the bare encoder, whose modules have no prefix, and with a classifier, which is not evaluated."""
    task = {AutoModel: "FEATURE_EXTRACTION"}.get(auto_class, "SEQ_CLS")
    folder = train(tmp_path / "adapter", bert, auto_class, lora(task_type=task))
    model, tokenizer = adapted(folder, bert, auto_class), AutoTokenizer.from_pretrained(bert)
    require_equal_vectors(folder, model, tokenizer)
    whole = AutoModelForMaskedLM.from_pretrained(bert)
    whole.bert = getattr(model, "bert", model)
    require_equal_pll(folder, whole.eval(), tokenizer)


def test_an_adapter_of_the_output_layer(gpt2: Path, tmp_path: Path) -> None:
    config = lora(target_modules=["c_attn", "lm_head"], fan_in_fan_out=False)
    folder = train(tmp_path / "adapter", gpt2, AutoModelForCausalLM, config)
    model, tokenizer = adapted(folder, gpt2, AutoModelForCausalLM), AutoTokenizer.from_pretrained(gpt2)
    require_equal_lp(folder, model, tokenizer)
    require_equal_vectors(folder, model, tokenizer)


def test_whole_modules_and_a_larger_vocabulary(gpt2: Path, tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(gpt2)
    tokenizer.add_tokens(["猫が庭で", "東京タワー"])

    def enlarge(model: Any) -> None:
        model.resize_token_embeddings(len(tokenizer), mean_resizing=False)

    config = lora(target_modules=["c_attn"], modules_to_save=["wte", "lm_head"], fan_in_fan_out=True)
    folder = train(tmp_path / "adapter", gpt2, AutoModelForCausalLM, config, enlarge)
    tokenizer.save_pretrained(folder)
    model = adapted(folder, gpt2, AutoModelForCausalLM, enlarge)
    require_equal_lp(folder, model, tokenizer)
    require_equal_vectors(folder, model, tokenizer)
    facts = load(str(folder), "causal").facts
    assert facts.vocab_size == len(tokenizer) and "東京タワー" in load(str(folder), "causal").tokenizer.get_vocab()

    weights = load_file(folder / "adapter_model.safetensors")
    without = {key: tensor for key, tensor in weights.items() if "wte" not in key and "lm_head" not in key}
    save_file(without, folder / "adapter_model.safetensors")
    with pytest.raises(ModelError, match="2 pieces more than its base model has embeddings"):
        load(str(folder), "causal")


def test_a_larger_vocabulary_without_its_output_layer(bert: Path, tmp_path: Path) -> None:
    config = lora(modules_to_save=["word_embeddings"])
    folder = train(
        tmp_path / "adapter",
        bert,
        AutoModelForMaskedLM,
        config,
        lambda model: model.resize_token_embeddings(600, mean_resizing=False),
    )
    with pytest.raises(ModelError, match="does not hold all the weights of the output layer"):
        load(str(folder), "masked")


def test_the_base_is_found_from_the_adapter(bert: Path, tmp_path: Path) -> None:
    base = Path(shutil.copytree(bert, tmp_path / "base"))
    folder = train(tmp_path / "adapter", base, AutoModelForMaskedLM, lora())
    change(folder, base_model_name_or_path="../base")
    located = locate(str(folder))
    assert (located.path, located.weights_directory, located.tokenizer_directory) == (folder, base, base)
    assert load(located, "encode").facts.adapter_of == str(base)
    assert load(str(base), "encode").facts.adapter_of == ""

    seen = {(located.fingerprint, run_key("clusters", {"m": str(folder)}, ""))}
    for path in (folder / "adapter_config.json", base / "config.json"):
        path.write_text(path.read_text() + "\n")
        seen.add((locate(str(folder)).fingerprint, run_key("clusters", {"m": str(folder)}, "")))
    weights = load_file(folder / "adapter_model.safetensors")
    save_file({key: tensor + 1 for key, tensor in weights.items()}, folder / "adapter_model.safetensors")
    seen.add((locate(str(folder)).fingerprint, run_key("clusters", {"m": str(folder)}, "")))
    assert len({a for a, _ in seen}) == len({b for _, b in seen}) == 4


def test_the_tokenizer_of_the_adapter_comes_first(bert: Path, trained: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(trained, tmp_path / "adapter"))
    before = load(str(folder), "encode")
    AutoTokenizer.from_pretrained(bert, do_lower_case=False).save_pretrained(folder)
    after = load(str(folder), "encode")
    assert before.tokenizer.tokenize("The cat") != after.tokenizer.tokenize("The cat")
    assert before.facts.tokenizer_fingerprint != after.facts.tokenizer_fingerprint


def test_an_adapter_beside_full_weights_is_refused(bert: Path, tmp_path: Path) -> None:
    """With peft installed transformers would apply it by itself."""
    folder = train(Path(shutil.copytree(bert, tmp_path / "both")), bert, AutoModelForMaskedLM, lora())
    with pytest.raises(ModelError, match=r"holds full weights \(model\.safetensors\) and an adapter beside them"):
        locate(str(folder))
    (folder / "model.safetensors").unlink()
    (folder / "config.json").write_text('{"model_type": "gpt2"}')  # of no use: the base has its own
    require_equal_vectors(folder, adapted(folder, bert, AutoModelForMaskedLM), AutoTokenizer.from_pretrained(bert))


def change(folder: Path, **fields: Any) -> None:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"base_model_name_or_path": None}, "names no base model"),
        (
            {"base_model_name_or_path": "/no/such/base"},
            r"names the base model '/no/such/base', and there is no such dir",
        ),
        ({"base_model_name_or_path": "../no-base-of-this-name"}, "there is no such directory here"),
        ({"peft_type": "PROMPT_TUNING"}, "type 'PROMPT_TUNING', which cannot be merged"),
        ({"peft_type": ["LORA"]}, "cannot be merged"),
        ({"init_lora_weights": "corda"}, "trained with init_lora_weights 'corda'"),
        ({"init_lora_weights": {"a": 1}}, "trained with init_lora_weights"),
        ({"megatron_config": {"a": 1}}, "trained with megatron_config"),
        ({"r": 4}, "cannot be merged into its base model"),
        ({"r": "many"}, "cannot be merged into its base model"),
        ({"target_modules": ["query", "key"]}, "cannot be merged into its base model.*missing adapter keys"),
    ],
)
def test_adapters_that_cannot_be_read(fields: dict[str, Any], words: str, trained: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(trained, tmp_path / "adapter"))
    change(folder, **fields)
    with pytest.raises(ModelError, match=words):
        load(str(folder), "encode")


def test_an_adapter_of_another_architecture(trained: Path, gpt2: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(trained, tmp_path / "adapter"))
    change(folder, base_model_name_or_path=str(gpt2))
    with pytest.raises(ModelError, match=r"does not fit its base model: a GPT2.* has no bert.encoder.layer.0"):
        load(str(folder), "encode")


def test_an_adapter_of_an_adapter(trained: Path, tmp_path: Path) -> None:
    first, second = (Path(shutil.copytree(trained, tmp_path / name)) for name in ("first", "second"))
    change(second, base_model_name_or_path=str(first))
    with pytest.raises(ModelError, match="is an adapter itself"):
        locate(str(second))
