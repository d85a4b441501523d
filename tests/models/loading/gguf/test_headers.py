"""The header of a GGUF file is read within bounds, and what is no model that can be read ends in words."""

from __future__ import annotations

import struct
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import ModelError
from engine.models.loading.model_description import describe
from engine.models.loading.weights import load
from engine.models.sources.gguf.configuration import configuration
from engine.models.sources.gguf.header import read_header
from engine.models.sources.model_location import locate
from tests.models.loading.gguf.writing import CASES, LLAMA3_ROPE, convert, made, rope_factors
from tests.models.zoo.specimens import Specimen

MAGIC = b"GGUF"


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def head(n_tensors: int, n_fields: int, version: int = 3) -> bytes:
    return MAGIC + struct.pack("<IQQ", version, n_tensors, n_fields)


def tensor(name: str, shape: tuple[int, ...], kind: int = 0, offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


STRING, LIST = struct.pack("<I", 8), struct.pack("<I", 9)
HOSTILE = {
    "empty": b"",
    "another format": b"PK\x03\x04" + bytes(100),
    "version 1": head(1, 0, 1) + bytes(100),
    "big-endian": MAGIC + struct.pack(">IQQ", 3, 1, 1) + bytes(100),
    "10^18 tensors": head(10**18, 0) + bytes(100),
    "10^18 fields": head(0, 10**18) + bytes(100),
    "as many fields as could be": head(0, 10_000) + bytes(200),
    "a string of 2^60 bytes": head(0, 1) + struct.pack("<Q", 2**60) + bytes(100),
    "a value of 2^60 bytes": head(0, 1) + text("a") + STRING + struct.pack("<Q", 2**60) + bytes(100),
    "a list of 2^60 strings": head(0, 1) + text("a") + LIST + struct.pack("<IQ", 8, 2**60) + bytes(100),
    "a list of 2^60 numbers": head(0, 1) + text("a") + LIST + struct.pack("<IQ", 4, 2**60) + bytes(100),
    "a list of lists": head(0, 1) + text("a") + LIST + struct.pack("<IQ", 9, 1) + bytes(100),
    "a value of no type": head(0, 1) + text("a") + struct.pack("<I", 99) + bytes(100),
    "no UTF-8": head(0, 1) + struct.pack("<Q", 2) + b"\xff\xfe" + STRING + text("a") + bytes(100),
    "a field twice": head(0, 2) + (text("a") + STRING + text("b")) * 2 + bytes(100),
    "a tensor twice": head(2, 0) + tensor("t", (4,)) * 2 + bytes(100),
    "a tensor of 2^100 numbers": head(1, 0) + tensor("t", (2**50, 2**50)) + bytes(100),
    "a tensor of 2^60 numbers": head(1, 0) + tensor("t", (2**30, 2**30)) + bytes(100),
    "a tensor of five dimensions": head(1, 0) + tensor("t", (1, 1, 1, 1, 1)) + bytes(100),
    "a tensor without numbers": head(1, 0) + tensor("t", (4, 0)) + bytes(100),
    "a tensor of no type": head(1, 0) + tensor("t", (4,), kind=4000) + bytes(100),
    "a tensor elsewhere": head(1, 0) + tensor("t", (4,), offset=2**63) + bytes(100),
    "half a block": head(1, 0) + tensor("t", (16, 2), kind=8) + bytes(100),
    "no alignment": head(0, 1) + text("general.alignment") + struct.pack("<II", 4, 0) + bytes(100),
    "strings without number": head(0, 2) + (text("a") + LIST + struct.pack("<IQ", 8, 4) + text("") * 4) + bytes(3),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_header_ends_in_words_at_once(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(content)
    tracemalloc.start()
    started = time.perf_counter()
    with pytest.raises(ModelError, match=r"weights in model\.gguf are damaged or cut short: .*Copy or download"):
        locate(str(tmp_path / "model.gguf"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.perf_counter() - started < 2 and most < 20_000_000


def test_many_short_strings_are_bounded(tmp_path: Path) -> None:
    """Each string of a list is an object in memory: a file of 200 MB could announce 25 million of them."""
    n = 3_100_000
    (tmp_path / "model.gguf").write_bytes(head(0, 1) + text("a") + LIST + struct.pack("<IQ", 8, n) + bytes(8 * n))
    with pytest.raises(ModelError, match="announces 3,100,000 entries"):
        locate(str(tmp_path))


@pytest.fixture(scope="module")
def specimen(tmp_path_factory: pytest.TempPathFactory) -> Specimen:
    return made(CASES["qwen3"], tmp_path_factory.mktemp("damaged"))


@pytest.fixture(scope="module")
def whole(specimen: Specimen) -> bytes:
    path = specimen.folder.parent / "model.gguf"
    convert(CASES["qwen3"], specimen, path, "Q8_0")
    return path.read_bytes()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1), bits=st.integers(1, 255), cut=st.booleans())
def test_any_damage_of_the_header_ends_in_words(at: float, bits: int, cut: bool, whole: bytes, tmp_path: Path) -> None:
    place = int(at * 20_000)
    damaged = whole[:place] if cut else whole[:place] + bytes([whole[place] ^ bits]) + whole[place + 1 :]
    (tmp_path / "model.gguf").write_bytes(damaged)
    try:
        describe(locate(str(tmp_path)))
    except ModelError as error:
        assert str(error)


def test_a_file_that_is_cut_short_is_refused_wherever(whole: bytes, tmp_path: Path) -> None:
    for left in (1, 2, 3, 10, 1000):
        (tmp_path / "model.gguf").write_bytes(whole[: len(whole) - len(whole) // 1000 * left + left])
        with pytest.raises(ModelError, match="damaged or cut short"):
            locate(str(tmp_path))


def rejected(name: str, tmp_path: Path, words: str, *, quantisation: str = "F32", **changes: Any) -> None:
    case = CASES[name]
    convert(case, made(case, tmp_path), tmp_path / "model.gguf", quantisation, **changes)
    with pytest.raises(ModelError, match=words):
        load(str(tmp_path), "causal")


@pytest.mark.parametrize(
    ("name", "words", "changes"),
    [
        ("qwen3", r"holds no language model but a part of one \(mmproj\)", {"general.type": "mmproj"}),
        ("qwen3", r"part of one \(adapter\).*format of peft", {"general.type": "adapter"}),
        ("llama", "is a mixture of experts", {"llama.expert_count": 8}),
        ("llama", r"scaled in a way that is not read from a GGUF file \(yarn\)", {"llama.rope.scaling.type": "yarn"}),
        ("llama", "parts of several sizes", {"llama.rope.dimension_count": 8}),
        ("gemma2", "no number for gemma2.attention.sliding_window", {"gemma2.attention.sliding_window": "many"}),
        ("qwen2", "could change the numbers: qwen2.attention.causal", {"qwen2.attention.causal": False}),
        ("gpt2", r"config.json in .*model\.gguf says num_attention_heads 0", {"gpt2.attention.head_count": 0}),
    ],
)
def test_what_the_header_says_of_another_model_is_refused(
    name: str, words: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    rejected(name, tmp_path, words, fields=changes)


def test_an_architecture_that_is_not_read_is_refused_by_name(tmp_path: Path) -> None:
    for name, words in (
        ("mamba", r"\(mamba\) is not read from a GGUF file; read are llama, "),
        ("clip", r"\(mmproj\)"),
    ):
        rejected("qwen3", tmp_path / name, words, fields={"general.architecture": name})


def test_a_tensor_without_a_place_is_refused(tmp_path: Path) -> None:
    extra = {"blk.0.attn_sinks.weight": np.zeros(4, np.float32)}
    rejected(
        "qwen3", tmp_path, r"holds 1 tensors that a Qwen3ForCausalLM has no place for \(blk\.0\.attn_si", extra=extra
    )


def test_more_layers_than_the_header_counts_are_refused(tmp_path: Path) -> None:
    rejected("qwen3", tmp_path, "no place for", fields={"qwen3.block_count": 1})


def test_fewer_layers_than_the_header_counts_are_refused(tmp_path: Path) -> None:
    rejected("qwen3", tmp_path, "lack 11 parts", fields={"qwen3.block_count": 3})


def test_another_width_is_refused(tmp_path: Path) -> None:
    rejected("qwen3", tmp_path, "have another shape", fields={"qwen3.feed_forward_length": 128})


def test_rope_factors_of_another_kind_are_refused(tmp_path: Path) -> None:
    case = CASES["llama 3"]
    specimen = made(case, tmp_path)
    for number, factors in enumerate((rope_factors(specimen.model.config)[::-1], np.ones(3, np.float32))):
        path = tmp_path / f"{number}.gguf"
        convert(case, specimen, path, extra={"rope_freqs.weight": factors.copy()})
        with pytest.raises(
            ModelError, match=r"not read from a GGUF file \(rope_freqs\.weight\)\. Put the config\.json"
        ):
            locate(str(path))


@pytest.mark.parametrize("name", list(CASES))
def test_the_configuration_is_that_of_the_model_that_was_converted(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    published = made(case, tmp_path).model.config
    convert(case, made(case, tmp_path / "again"), tmp_path / "model.gguf")
    found = configuration(read_header(tmp_path / "model.gguf"))
    assert found.pop("architectures") == [type(made(case, tmp_path / "third").model).__name__] or name == "mistral"
    assert found.pop("dtype") == "float32"
    for field, value in found.items():
        if (
            field in ("model_type", "hidden_act", "attention_bias", "mlp_bias", "use_sliding_window")
            and name == "mistral"
        ):
            continue
        expected = getattr(published, field)
        assert value == expected or (value is None and field.endswith("_id")), field


def test_the_scaling_of_llama_3_is_read_from_its_factors(tmp_path: Path) -> None:
    case = CASES["llama 3"]
    convert(case, made(case, tmp_path), tmp_path / "model.gguf")
    assert configuration(read_header(tmp_path / "model.gguf"))["rope_parameters"] == LLAMA3_ROPE


def test_a_type_that_nothing_turns_into_numbers_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES["qwen3"]
    convert(case, made(case, tmp_path), tmp_path / "model.gguf", "Q8_0")

    def refuse(*arguments: Any) -> Callable[..., Any]:
        raise NotImplementedError

    monkeypatch.setattr("gguf.quants.dequantize", refuse)
    with pytest.raises(ModelError, match=r"has the data type Q8_0, which the package gguf does not turn into numbers"):
        load(str(tmp_path), "causal")
