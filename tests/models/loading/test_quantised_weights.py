"""Quantised weights are read as numbers: those of the published formulas, computed here from the arrays of the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import ModelError
from engine.evaluations.shared.signature import signature
from engine.models.loading.bitsandbytes_weights import of_4_bits, of_8_bits
from engine.models.loading.weights import load, load_from_description, read_weights
from engine.models.scoring.causal_lm import token_log_likelihoods
from tests.models.zoo.kinds.causal import NEWER, OLDER
from tests.models.zoo.kinds.encoders import PACKAGED
from tests.models.zoo.kinds.hybrid import HYBRIDS
from tests.models.zoo.specimens import ModelKind, Specimen, build
from tests.support.tiny_models import JAPANESE

Weights = dict[str, torch.Tensor]
Quantised = tuple[Weights, Weights, dict[str, Any]]  # of the file, the numbers they stand for, quantization_config
# OCP Microscaling Formats 1.0, table 5: the 16 values of E2M1, by code.
E2M1 = torch.tensor([0.0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
BLOCK = 16
# Weights and what bitsandbytes itself makes of them; its metadata say by which versions and functions.
RECORDED = Path(__file__).with_name("bitsandbytes.safetensors")


def kind(name: str) -> ModelKind:
    return next(kind for kind in (*OLDER, *NEWER, *HYBRIDS, *PACKAGED) if kind.name == name)


def fp8(weights: Weights) -> Quantised:
    """Blocks of 16 by 16 numbers with a scale each, as the fine-grained FP8 of DeepSeek and Qwen."""
    stored: Weights = {}
    numbers: Weights = {}
    for name, weight in weights.items():
        stored[name] = numbers[name] = weight
        if weight.dim() == 2 and ".layers." in name and "vision" not in name:
            rows, columns = weight.shape
            n_rows, n_columns = -(-rows // BLOCK), -(-columns // BLOCK)
            scales = torch.rand(n_rows, n_columns) * 0.01 + 0.001
            every = scales.repeat_interleave(BLOCK, 0)[:rows].repeat_interleave(BLOCK, 1)[:, :columns]
            stored[name] = (weight / every).clamp(-448, 448).to(torch.float8_e4m3fn)
            stored[f"{name}_scale_inv"] = scales
            numbers[name] = stored[name].float() * every
    return stored, numbers, {"quant_method": "fp8", "weight_block_size": [BLOCK, BLOCK], "activation_scheme": "dynamic"}


def mxfp8(weights: Weights) -> Quantised:
    """32 numbers of a row in a block, whose scale is a byte: the power of two by 127 higher (E8M0)."""
    stored: Weights = {}
    numbers: Weights = {}
    for name, weight in weights.items():
        stored[name] = numbers[name] = weight
        if weight.dim() == 2 and ".layers." in name:
            scales = torch.randint(118, 124, (weight.shape[0], weight.shape[1] // 32), dtype=torch.uint8)
            every = torch.exp2(scales.float() - 127).repeat_interleave(32, 1)
            stored[name] = (weight / every).clamp(-448, 448).to(torch.float8_e4m3fn)
            stored[f"{name}_scale_inv"] = scales
            numbers[name] = stored[name].float() * every
    settings = {"quant_method": "mxfp8", "weight_block_size": [1, 32], "scale_fmt": "ue8m0"}
    return stored, numbers, {**settings, "activation_scheme": "dynamic"}


def mxfp4(weights: Weights) -> Quantised:
    """Two codes a byte, the lower first, 32 in a block with a power of two, as GPT-OSS's experts."""
    stored: Weights = {}
    numbers: Weights = {}
    for name, weight in weights.items():
        stored[name] = numbers[name] = weight
        if name.endswith("_proj") and "experts" in name:
            n_experts, n_read, n_written = weight.shape
            blocks = torch.randint(0, 256, (n_experts, n_written, n_read // 32, 16), dtype=torch.uint8)
            scales = torch.randint(120, 128, (n_experts, n_written, n_read // 32), dtype=torch.uint8)
            codes = torch.stack([blocks & 15, blocks >> 4], dim=-1).flatten(-2).long()
            values = E2M1[codes] * torch.exp2(scales.float() - 127)[..., None]
            del stored[name]
            stored |= {f"{name}_blocks": blocks, f"{name}_scales": scales}
            numbers[name] = values.flatten(-2).transpose(1, 2).contiguous()
    kept = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
    return stored, numbers, {"quant_method": "mxfp4", "modules_to_not_convert": kept}


def compressed_tensors(stored_as: str, **scheme: Any) -> Callable[[Weights], Quantised]:
    """What LLM Compressor writes: integers or FP8 with a scale for each row, or 4-bit integers, eight in an int32, the
    lowest bits first and 8 above their value, with a scale for each group of a row."""

    def method(weights: Weights) -> Quantised:
        stored: Weights = {}
        numbers: Weights = {}
        for name, weight in weights.items():
            stored[name] = numbers[name] = weight
            if weight.dim() != 2 or ".layers." not in name:
                continue
            stem = name.removesuffix(".weight")
            rows, columns = weight.shape
            group = scheme.get("group_size", columns)
            every = (scales := torch.rand(rows, columns // group) * 0.01 + 0.005).repeat_interleave(group, 1)
            if scheme["type"] == "float":
                stored[name] = (weight / every).clamp(-448, 448).to(torch.float8_e4m3fn)
                values = stored[name].float()
            else:
                most = 2 ** (scheme["num_bits"] - 1)
                values = (weight / every).round().clamp(-most, most - 1)
                stored[name] = values.to(torch.int8)
            if stored_as == "pack-quantized":
                del stored[name]
                places = (values.long() + 8).reshape(rows, columns // 8, 8) << (4 * torch.arange(8))
                stored[f"{stem}.weight_packed"] = places.sum(-1).to(torch.uint32).view(torch.int32)
                stored[f"{stem}.weight_shape"] = torch.tensor(weight.shape)
            stored[f"{stem}.weight_scale"] = scales
            numbers[name] = values * every
        given = {"symmetric": True, "dynamic": False, **scheme}
        return (
            stored,
            numbers,
            {
                "quant_method": "compressed-tensors",
                "format": stored_as,
                "quantization_status": "compressed",
                "config_groups": {"group_0": {"targets": ["Linear"], "weights": given}},
                "ignore": ["lm_head"],
            },
        )

    return method


def four_bits(*, nested: bool = False) -> Callable[[Weights], Quantised]:
    """As bitsandbytes: codes into a table of 16 numbers, two a byte, blocks of 64 numbers; nested: the scales as codes."""

    def method(weights: Weights) -> Quantised:
        stored: Weights = {}
        numbers: Weights = {}
        for name, weight in weights.items():
            stored[name] = numbers[name] = weight
            if weight.dim() != 2 or ".layers." not in name:
                continue
            n, table = weight.numel(), torch.linspace(-1, 1, 16)
            codes = torch.randint(0, 16, (n,))
            scales = torch.rand(-(-n // 64)) * 0.1
            state: dict[str, Any] = {"quant_type": "nf4", "blocksize": 64, "dtype": "float16", "shape": [*weight.shape]}
            stored |= {f"{name}.absmax": scales, f"{name}.quant_map": table}
            if nested:
                state |= {"nested_blocksize": 4, "nested_dtype": "float32", "nested_offset": 0.05}
                of_scales, outer = torch.randint(0, 256, scales.shape), torch.rand(-(-len(scales) // 4)) * 0.01
                finer = torch.linspace(-1, 1, 256)
                scales = torch.stack([finer[code] * outer[i // 4] + 0.05 for i, code in enumerate(of_scales.tolist())])
                stored |= {f"{name}.absmax": of_scales.to(torch.uint8), f"{name}.nested_absmax": outer}
                stored |= {f"{name}.nested_quant_map": finer}
            said = list(json.dumps(state).encode())
            stored[f"{name}.quant_state.bitsandbytes__nf4"] = torch.tensor(said, dtype=torch.uint8)
            stored[name] = (codes[0::2] * 16 + codes[1::2]).to(torch.uint8)[:, None]
            values = [table[code] * scales[i // 64] for i, code in enumerate(codes.tolist())]
            numbers[name] = torch.stack(values).reshape(weight.shape)
        return stored, numbers, {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}

    return method


def eight_bits(weights: Weights) -> Quantised:
    """As bitsandbytes: integers, and the largest number of each row, which is 127. GPT-2's matrices are turned first."""
    stored: Weights = {}
    numbers: Weights = {}
    for name, weight in weights.items():
        stored[name] = numbers[name] = weight
        turned = ".h." in name
        if weight.dim() == 2 and (turned or ".layers." in name):
            rows = (weight.T if turned else weight).contiguous()
            most = rows.abs().amax(1)
            stored[name] = (rows / most[:, None] * 127).round().to(torch.int8)
            stem = name.removesuffix(".weight")
            stored |= {f"{stem}.SCB": most, f"{stem}.weight_format": torch.tensor(0, dtype=torch.uint8)}
            values = stored[name].float() * most[:, None] / 127
            numbers[name] = (values.T if turned else values).contiguous()
    return stored, numbers, {"quant_method": "bitsandbytes", "load_in_8bit": True}


def quantise(specimen: Specimen, method: Callable[[Weights], Quantised]) -> Weights:
    """Write a copy of the weights that is quantised; the numbers it stands for."""
    path, config = specimen.folder / "model.safetensors", specimen.folder / "config.json"
    torch.manual_seed(1)
    stored, numbers, settings = method(load_file(path))
    assert stored.keys() != load_file(path).keys()
    save_file(stored, path, metadata={"format": "pt"})
    config.write_text(json.dumps({**json.loads(config.read_text()), "quantization_config": settings}))
    return numbers


CT = "compressed-tensors"
BNB = "bitsandbytes"
CASES = [
    ("qwen3", fp8, "fp8"),
    ("qwen3", mxfp8, "mxfp8"),
    ("gpt_oss", mxfp4, "mxfp4"),
    ("mistral3", fp8, "fp8"),
    ("qwen3", compressed_tensors("int-quantized", num_bits=8, type="int", strategy="channel"), CT),
    ("qwen3", compressed_tensors("float-quantized", num_bits=8, type="float", strategy="channel"), CT),
    ("qwen3", compressed_tensors("pack-quantized", num_bits=4, type="int", strategy="group", group_size=16), CT),
    ("qwen3", four_bits(), BNB),
    ("qwen3_moe", four_bits(nested=True), BNB),
    ("qwen3", eight_bits, BNB),
    ("gpt2", eight_bits, BNB),
]


@pytest.mark.parametrize(("name", "method", "said"), CASES)
def test_the_numbers_are_those_of_the_formula(
    name: str, method: Callable[[Weights], Quantised], said: str, tmp_path: Path
) -> None:
    specimen = build(kind(name), tmp_path / "model")
    numbers = quantise(specimen, method)
    loaded = load(str(specimen.folder), "causal", precision="fp32")
    assert loaded.facts.quantised == said and {weight.dtype for weight in loaded.model.parameters()} == {torch.float32}
    # The very model with these numbers, in plain transformers.
    plain = specimen.model
    path = tmp_path / "numbers"
    plain.config.quantization_config = None
    plain.save_pretrained(path)
    save_file(numbers, path / "model.safetensors", metadata={"format": "pt"})
    dense = type(plain).from_pretrained(path)
    text = dict(dense.named_parameters())
    for weight_name, weight in loaded.model.named_parameters():
        own = text.get(weight_name, text.get(weight_name.replace("model.", "model.language_model.", 1)))
        assert own is not None, weight_name
        np.testing.assert_allclose(weight.numpy(), own.detach().numpy(), rtol=0, atol=1e-5, err_msg=weight_name)
    for sentence in JAPANESE[:2]:
        (piece,) = token_log_likelihoods(loaded, [sentence], prefix=())
        ids = torch.tensor([piece["read_ids"].tolist()])
        with torch.inference_mode():
            logs = torch.log_softmax(dense(input_ids=ids).logits[0], dim=-1)
        expected = logs[torch.arange(ids.shape[1] - 1), ids[0, 1:]][-len(piece["ids"]) :]
        np.testing.assert_allclose(piece["log_likelihoods"], expected.numpy(), rtol=0, atol=1e-5)
    (signed,) = signature({}, [loaded.facts], "d" * 64)["models"]
    assert signed["dequantised_from"] == said


def test_half_precision_rounds_the_numbers_once(tmp_path: Path) -> None:
    specimen = build(kind("qwen3"), tmp_path / "model")
    numbers = quantise(specimen, fp8)
    read_weights(specimen.described, "causal", "fp32")  # of one description, one after the other
    loaded = load_from_description(specimen.described, "causal", "bf16")
    name = "model.layers.0.self_attn.q_proj.weight"
    weight = dict(loaded.model.named_parameters())[name]
    assert weight.dtype == torch.bfloat16 and torch.equal(weight, numbers[name].to(torch.bfloat16))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"quant_method": "gptq", "bits": 4},
            r"quantised \(gptq\): only the kernels of other packages \(optimum, gptq",
        ),
        ({"quant_method": "of next year"}, r"quantised \(of next year\), which cannot be turned back"),
        ({"bits": 4}, r"quantised \(method unknown\)"),
    ],
)
def test_what_cannot_be_read_as_numbers_is_refused_by_its_package(
    settings: dict[str, Any], words: str, tmp_path: Path
) -> None:
    specimen = build(kind("qwen3"), tmp_path / "model")
    config = specimen.folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "quantization_config": settings}))
    with pytest.raises(ModelError, match=words):
        load(str(specimen.folder), "causal")


@pytest.mark.parametrize("kind", ["nf4", "fp4", "nested"])
def test_four_bits_are_the_numbers_of_bitsandbytes(kind: str) -> None:
    recorded = load_file(RECORDED)
    own = {key.removeprefix(f"{kind}.weight"): part for key, part in recorded.items() if key.startswith(f"{kind}.")}
    assert torch.equal(of_4_bits(own.pop(""), own), recorded[f"{kind}.numbers"])


def test_eight_bits_are_the_numbers_of_bitsandbytes() -> None:
    recorded = load_file(RECORDED)
    numbers = of_8_bits(recorded["int8.weight"], recorded["int8.SCB"], recorded["int8.weight_format"])
    torch.testing.assert_close(numbers, recorded["int8.numbers"], rtol=1e-6, atol=0)


def test_numbers_that_are_to_be_quantised_while_they_are_loaded_stay_what_they_are(tmp_path: Path) -> None:
    specimen = build(kind("qwen3"), tmp_path / "model")
    config = specimen.folder / "config.json"
    asked = {"quant_method": "bitsandbytes", "load_in_8bit": True}
    config.write_text(json.dumps({**json.loads(config.read_text()), "quantization_config": asked}))
    loaded = load(str(specimen.folder), "causal", precision="fp32")
    assert loaded.facts.quantised == ""
    weights = load_file(specimen.folder / "model.safetensors")
    assert torch.equal(loaded.model.state_dict()["model.norm.weight"], weights["model.norm.weight"])
    name = "model.layers.0.mlp.up_proj.weight"
    assert torch.equal(loaded.model.state_dict()[name], weights[name])


@pytest.mark.parametrize("end", [".absmax", ".quant_map", ".quant_state.bitsandbytes__nf4", ""])
def test_a_quantised_weight_whose_parts_do_not_fit_is_named(end: str, tmp_path: Path) -> None:
    specimen = build(kind("qwen3"), tmp_path / "model")
    quantise(specimen, four_bits())
    path, name = specimen.folder / "model.safetensors", "model.layers.0.mlp.up_proj.weight"
    stored = load_file(path)
    stored[f"{name}{end}"] = stored[f"{name}{end}"][:-1].contiguous()
    save_file(stored, path, metadata={"format": "pt"})
    with pytest.raises(ModelError, match=rf"{name} of .* is damaged: its numbers do not fit .*Copy or download"):
        load(str(specimen.folder), "causal")


def test_weights_of_bitsandbytes_that_are_pickled_are_refused(tmp_path: Path) -> None:
    specimen = build(kind("qwen3"), tmp_path / "model")
    quantise(specimen, eight_bits)
    path = specimen.folder / "model.safetensors"
    torch.save(load_file(path), specimen.folder / "pytorch_model.bin")
    path.unlink()
    with pytest.raises(ModelError, match=r"quantised \(bitsandbytes\) in pytorch_model.bin; .* safetensors alone"):
        load(str(specimen.folder), "causal")


def test_an_empty_statement_of_quantisation_says_nothing(tmp_path: Path) -> None:
    specimen = build(kind("qwen3"), tmp_path / "model")
    config = specimen.folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "quantization_config": {}}))
    assert not load(str(specimen.folder), "causal").facts.quantised
