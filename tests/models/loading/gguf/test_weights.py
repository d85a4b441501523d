"""A GGUF file is read as the numbers that it stands for: held against plain transformers with these very numbers."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import peft
import pytest
import torch
from transformers import AutoModelForCausalLM
from transformers.integrations.gguf.dequant import GGML_BLOCK, GGML_NAME, dequantize

from engine.evaluations.shared.signature import signature
from engine.models.loading.gguf_weights import dequantised
from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring.causal_lm import token_log_likelihoods
from engine.models.silence_transformers import silence_transformers
from engine.models.sources.gguf.header import Tensor
from tests.models.loading.gguf.writing import CASES, Case, Numbers, convert, made
from tests.models.zoo.specimens import Specimen
from tests.support.tiny_models import ENGLISH, JAPANESE

TEXTS = [*JAPANESE[:3], *ENGLISH[:2]]
# Of K-quants a row has 256 numbers in a block.
WIDE = {"hidden_size": 256, "intermediate_size": 256, "head_dim": 64}


def log_likelihoods(model: Any, ids: torch.Tensor) -> np.ndarray:
    with torch.inference_mode():
        logs = torch.log_softmax(model(input_ids=ids).logits[0], dim=-1)
    return np.asarray(logs[torch.arange(ids.shape[1] - 1), ids[0, 1:]])


def with_numbers(specimen: Specimen, numbers: Numbers) -> Any:
    dense = deepcopy(specimen.model)
    missing, unexpected = dense.load_state_dict(numbers, strict=False)
    assert not unexpected and all("lm_head" in name for name in missing)
    dense.tie_weights()
    return dense


def held_against(loaded: LoadedModel, dense: Any) -> None:
    for text in TEXTS:
        (piece,) = token_log_likelihoods(loaded, [text], prefix=())
        ids = torch.tensor([piece["read_ids"].tolist()])
        expected = log_likelihoods(dense, ids)[-len(piece["ids"]) :]
        np.testing.assert_allclose(piece["log_likelihoods"], expected, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("quantisation", ["F32", "F16", "BF16", "Q8_0", "Q4_0"])
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_the_numbers_are_those_of_the_blocks(case: Case, quantisation: str, tmp_path: Path) -> None:
    specimen = made(case, tmp_path)
    numbers = convert(case, specimen, tmp_path / "model.gguf", quantisation)
    loaded = load(str(tmp_path / "model.gguf"), "causal", precision="fp32")
    assert loaded.facts.quantised == f"GGUF {quantisation}"
    assert {weight.dtype for weight in loaded.model.parameters()} == {torch.float32}
    dense = with_numbers(specimen, numbers)
    own = dict(dense.named_parameters())
    for name, weight in loaded.model.named_parameters():
        np.testing.assert_allclose(weight.numpy(), own[name].detach().numpy(), rtol=0, atol=1e-6, err_msg=name)
    held_against(loaded, dense)


@pytest.mark.parametrize(("name", "kind"), [("llama", "Q4_K"), ("llama", "Q6_K"), ("qwen3", "Q4_K")])
def test_numbers_of_k_quants(name: str, kind: str, tmp_path: Path) -> None:
    case = CASES[name]
    specimen = made(case, tmp_path, **WIDE)
    numbers = convert(case, specimen, tmp_path / "model.gguf", kind, fields={"general.file_type": 15})
    loaded = load(str(tmp_path), "causal", precision="fp32")
    held_against(loaded, with_numbers(specimen, numbers))
    (signed,) = signature({}, [loaded.facts], "d" * 64)["models"]
    assert loaded.facts.quantised == signed["dequantised_from"] == "GGUF Q4_K_M"


@pytest.mark.parametrize("number", GGML_BLOCK, ids=[GGML_NAME[number] for number in GGML_BLOCK])
def test_every_type_of_blocks_stands_for_the_numbers_that_transformers_finds(number: int, tmp_path: Path) -> None:
    n_numbers, n_bytes = GGML_BLOCK[number]
    content = np.random.default_rng(number).integers(0, 256, (200, n_bytes), dtype=np.uint8)
    (tmp_path / "blocks").write_bytes(content.tobytes())
    tensor = Tensor("t", (200, n_numbers), GGML_NAME[number], 0, content.size)
    with np.errstate(all="ignore"):  # a scale of random bytes may be infinite
        found = dequantised(tmp_path / "blocks", tensor)
    expected = dequantize(torch.from_numpy(content.reshape(-1)), number).reshape(200, n_numbers).numpy()
    finite = np.isfinite(expected).all(axis=1) & np.isfinite(found).all(axis=1)
    assert finite.sum() > 100
    largest = np.abs(expected[finite]).max(axis=1, keepdims=True)
    assert (np.abs(found[finite] - expected[finite]) <= 1e-6 * largest).all()


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_numbers_in_full_are_those_of_the_model_that_was_converted(case: Case, tmp_path: Path) -> None:
    specimen = made(case, tmp_path)
    convert(case, specimen, tmp_path / "model.gguf")
    converted, published = (load(str(path), "causal", precision="fp32") for path in (tmp_path, specimen.folder))
    for text in TEXTS:
        ours, theirs = (token_log_likelihoods(model, [text], prefix=())[0] for model in (converted, published))
        assert ours["ids"].tolist() == theirs["ids"].tolist()
        np.testing.assert_allclose(ours["log_likelihoods"], theirs["log_likelihoods"], rtol=1e-6, atol=1e-5)
    hidden = [load(str(path), "encode", precision="fp32") for path in (tmp_path, specimen.folder)]
    assert hidden[0].facts.n_parameters == hidden[1].facts.n_parameters
    assert converted.facts.fingerprint != published.facts.fingerprint


# transformers itself takes the size of a head, or of a layer, from its defaults in files of the other two.
@pytest.mark.parametrize("name", ["llama", "mistral", "llama 3", "qwen2", "gemma2", "gemma3"])
def test_the_numbers_are_those_that_transformers_reads_itself(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    convert(case, made(case, tmp_path), tmp_path / "model.gguf", "Q8_0", fields={"general.name": "a model"})
    loaded = dict(load(str(tmp_path), "causal", precision="fp32").model.named_parameters())
    with silence_transformers():
        model = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file="model.gguf", dtype=torch.float32)
    reference = dict(model.named_parameters())
    assert loaded.keys() == reference.keys()
    assert not [name for name, weight in loaded.items() if not torch.equal(weight, reference[name].detach())]


def test_half_precision_rounds_the_numbers_once(tmp_path: Path) -> None:
    case = CASES["qwen3"]
    numbers = convert(case, made(case, tmp_path), tmp_path / "model.gguf", "Q8_0")
    weights = dict(load(str(tmp_path), "causal", precision="bf16").model.named_parameters())
    name = "model.layers.0.self_attn.q_proj.weight"
    assert weights[name].dtype == torch.bfloat16 and torch.equal(weights[name], numbers[name].to(torch.bfloat16))


def test_an_adapter_is_merged_into_the_numbers_of_its_base(tmp_path: Path) -> None:
    case = CASES["qwen3"]
    specimen = made(case, tmp_path)
    (tmp_path / "base").mkdir()
    numbers = convert(case, specimen, tmp_path / "base" / "model.gguf", "Q8_0")
    torch.manual_seed(2)
    adapted = peft.get_peft_model(
        with_numbers(specimen, numbers), peft.LoraConfig(target_modules=["q_proj"], init_lora_weights=False)
    )
    adapted.peft_config["default"].base_model_name_or_path = "../base"
    adapted.save_pretrained(tmp_path / "adapter", save_embedding_layers=False)
    loaded = load(str(tmp_path / "adapter"), "causal", precision="fp32")
    assert loaded.facts.quantised == "GGUF Q8_0" and loaded.facts.adapter_of.endswith("model.gguf")
    held_against(loaded, adapted)
