"""Configurations that no model has, directories in other formats, and repositories with code of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from engine.errors import ModelError
from engine.models.loading.model_description import describe
from engine.models.loading.weights import load
from engine.models.scoring.sentence_vectors import sentence_vectors
from engine.models.sources.model_location import locate
from tests.models.loading import random_llama
from tests.support import tiny_models


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    return tiny_models.bert(tmp_path / "bert")


def change(folder: Path, name: str = "config.json", **fields: Any) -> None:
    path = folder / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[]", "no JSON object but a list"),
        ("null", "no JSON object but a NoneType"),
        ("3", "no JSON object"),
        ("\0", "cannot be read as JSON"),
        ('{"model_type": 3}', "says model_type 3"),
        ('{"model_type": ["bert"]}', r"says model_type \['bert'\]"),
        ('{"model_type": ""}', "names no architecture"),
        ('{"model_type": "nonsense"}', "names no architecture"),
    ],
)
def test_files_that_are_no_configuration(content: str, words: str, bert: Path) -> None:
    (bert / "config.json").write_text(content)
    with pytest.raises(ModelError, match=rf"config\.json.*{words}"):
        load(str(bert), "encode")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("num_hidden_layers", "twelve"),
        ("num_hidden_layers", -1),
        ("num_hidden_layers", 0),
        ("num_hidden_layers", 10**12),
        ("num_hidden_layers", 2.5),
        ("num_hidden_layers", None),
        ("hidden_size", -32),
        ("hidden_size", 10**15),
        ("hidden_size", 10**30),
        ("hidden_size", 0),
        ("vocab_size", -5),
        ("vocab_size", 10**18),
        ("vocab_size", "many"),
        ("num_attention_heads", 0),
        ("num_attention_heads", 5),
        ("hidden_act", "nope"),
        ("hidden_act", 7),
        ("max_position_embeddings", -1),
        ("max_position_embeddings", "many"),
        ("architectures", "BertModel"),
        ("architectures", [3]),
        ("architectures", {"a": 1}),
        ("quantization_config", "bnb"),
        ("quantization_config", [1]),
        ("auto_map", 3),
        ("layer_norm_eps", float("nan")),
        ("layer_norm_eps", "small"),
        ("pad_token_id", 10**9),
        ("text_config", 5),
        ("text_config", {"a": 1}),
        ("is_encoder_decoder", True),
        ("is_decoder", "perhaps"),
        ("id2label", 5),
        ("rope_scaling", 3),
        ("_attn_implementation", "nope"),
        ("dtype", "float99"),
        ("model_type", "gpt2"),
    ],
)
def test_fields_that_no_model_has(field: str, value: Any, bert: Path) -> None:
    change(bert, **{field: value})
    with pytest.raises(ModelError, match=str(bert)):
        load(str(bert), "encode")


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
FIELDS = (
    "model_type",
    "architectures",
    "num_hidden_layers",
    "hidden_size",
    "vocab_size",
    "num_attention_heads",
    "intermediate_size",
    "hidden_act",
    "max_position_embeddings",
    "pad_token_id",
    "layer_norm_eps",
    "dtype",
    "tie_word_embeddings",
    "is_decoder",
    "tokenizer_class",
    "transformers_version",
    "quantization_config",
    "auto_map",
    "text_config",
    "type_vocab_size",
    "id2label",
    "rope_scaling",
    "rope_parameters",
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fields=st.dictionaries(st.sampled_from(FIELDS), values, min_size=1, max_size=3))
def test_any_value_is_read_or_refused_in_our_words(fields: dict[str, Any], bert: Path) -> None:
    published = (bert / "config.json").read_text()
    change(bert, **fields)
    try:
        describe(locate(str(bert)))
    except ModelError as error:
        assert str(error)
    finally:
        (bert / "config.json").write_text(published)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("model.tflite", "format TensorFlow Lite only"),
        ("model.onnx", "format ONNX only"),
        ("onnx/model.onnx", r"format ONNX only \(onnx/model\.onnx\)"),
    ],
)
def test_other_formats(name: str, words: str, bert: Path) -> None:
    (bert / name).parent.mkdir(exist_ok=True)
    (bert / name).write_bytes(b"x")
    locate(str(bert))  # beside weights it does no harm
    (bert / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=rf"{words}.*converted from"):
        locate(str(bert))


@pytest.mark.parametrize("method", ["gptq", "awq"])
def test_quantised_weights(method: str, bert: Path) -> None:
    change(bert, quantization_config={"quant_method": method})
    with pytest.raises(ModelError, match=rf"are quantised \({method}\).*Choose the model they were made from"):
        load(str(bert), "encode")


CODE = 'raise SystemExit("code of the repository was run")\n'


def test_code_that_transformers_does_not_need_is_never_run(bert: Path) -> None:
    expected = sentence_vectors(load(str(bert), "encode"), ["猫"], layers=[2], pooling="mean")
    (bert / "own.py").write_text(CODE)
    change(
        bert,
        auto_map={"AutoConfig": "own.BertConfig", "AutoModel": "own.BertModel", "AutoTokenizer": ["own.Own", None]},
    )
    change(bert, "tokenizer_config.json", auto_map={"AutoTokenizer": ["own.OwnTokenizer", "own.OwnTokenizer"]})
    found = sentence_vectors(load(str(bert), "encode"), ["猫"], layers=[2], pooling="mean")
    np.testing.assert_array_equal(found[0]["vectors"], expected[0]["vectors"])


@pytest.mark.parametrize(
    ("fields", "class_name"),
    [
        ({"architectures": ["LlamaEncoderModel"]}, "LlamaEncoderModel"),
        ({"architectures": ["BertModel", "BertForCL"]}, "BertForCL"),
        ({"auto_map": {"AutoModel": "modeling_bidirectional.BidirectionalBertModel"}}, "BidirectionalBertModel"),
        ({"auto_map": {"AutoModel": "somebody/code--modeling_lora.BertLoRA"}}, "BertLoRA"),
        ({"auto_map": {"AutoConfig": ["own.OwnConfig"]}}, "OwnConfig"),
    ],
)
def test_a_class_that_this_transformers_does_not_have(fields: dict[str, Any], class_name: str, bert: Path) -> None:
    change(bert, **fields)
    with pytest.raises(ModelError, match=rf"a class that transformers \d\S* does not have \({class_name}\).*'bert'"):
        load(str(bert), "encode")


@pytest.mark.parametrize(
    "fields",
    [
        {"architectures": ["LLaDAModelLM"]},
        {"auto_map": {"AutoModel": "modeling_dream.DreamModel"}},
        {
            "model_type": "Dream",
            "architectures": ["DreamModel"],
            "auto_map": {"AutoModel": "modeling_dream.DreamModel"},
        },
        {"architectures": ["DiffusionGemmaForBlockDiffusion"]},
    ],
)
def test_diffusion_language_models_are_refused_with_the_reason(fields: dict[str, Any], bert: Path) -> None:
    change(bert, **fields)
    with pytest.raises(ModelError, match=r"is a diffusion language model .*no probability from left to right"):
        load(str(bert), "encode")


@pytest.mark.parametrize(
    "fields",
    [
        {"architectures": ["TFBertForMaskedLM"]},
        {"architectures": ["FlaxBertForMaskedLM"]},
        {"quantization_config": {}},
        {"quantization_config": None},
        {"dtype": "auto"},
        {"torch_dtype": "auto"},
    ],
)
def test_statements_that_change_nothing(fields: dict[str, Any], bert: Path) -> None:
    expected = load(str(bert), "masked")
    change(bert, **fields)
    found = load(str(bert), "masked")
    assert (found.facts.kind, found.facts.dtype, found.facts.architecture) == ("masked", "float32", "BertForMaskedLM")
    ids = torch.arange(5, 12)[None]
    with torch.inference_mode():
        assert torch.equal(found.model(input_ids=ids).logits, expected.model(input_ids=ids).logits)


def test_the_first_name_of_llama_is_its_name_today(tmp_path: Path) -> None:
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    folder = random_llama.save(tmp_path / "llama", torch.float32, vocab_size=600, **sizes)
    change(folder, architectures=["LLaMAForCausalLM"])
    assert load(str(folder), "causal").facts.architecture == "LlamaForCausalLM"


def test_code_that_is_needed_is_refused(bert: Path) -> None:
    (bert / "own.py").write_text(CODE)
    change(bert, model_type="own", auto_map={"AutoConfig": "own.OwnConfig", "AutoModel": "own.OwnModel"})
    with pytest.raises(ModelError, match=r"model type 'own'\) needs code from its own repository.*-hf"):
        load(str(bert), "encode")


def test_a_tokenizer_with_code_of_its_own_is_refused(bert: Path) -> None:
    (bert / "own.py").write_text(CODE)
    (bert / "tokenizer.json").unlink()
    change(bert, "tokenizer_config.json", tokenizer_class="OwnTokenizer", auto_map={"AutoTokenizer": ["own.Own", None]})
    with pytest.raises(ModelError, match=r"tokenizer in .*needs code from its own repository"):
        load(str(bert), "encode")


def split(folder: Path, elsewhere: str = "") -> list[Path]:
    """Two files and their index in place of model.safetensors."""
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(weights)
    paths = [folder / f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
    weight_map = {}
    for number, path in enumerate(paths):
        part = names[number::2]
        save_file({name: weights[name] for name in part}, path, metadata={"format": "pt"})
        weight_map |= dict.fromkeys(part, path.name)
    if elsewhere:
        weight_map[names[0]] = elsewhere
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return paths


def test_sharded_weights_are_those_of_one_file(bert: Path) -> None:
    before = load(str(bert), "encode").facts
    expected = sentence_vectors(load(str(bert), "encode"), ["猫がいる"], layers=[2], pooling="mean")
    paths = split(bert)
    found = sentence_vectors(load(str(bert), "encode"), ["猫がいる"], layers=[2], pooling="mean")
    np.testing.assert_array_equal(found[0]["vectors"], expected[0]["vectors"])
    after = load(str(bert), "encode").facts
    assert after.fingerprint != before.fingerprint and after.weights_bytes > before.weights_bytes
    paths[1].unlink()
    with pytest.raises(ModelError, match=rf"names weights that are not beside it: {paths[1].name}"):
        load(str(bert), "encode")


@pytest.mark.parametrize("name", ["../model.safetensors", "/etc/passwd", "..", "", "a/b.safetensors", "..\\x"])
def test_an_index_of_files_elsewhere(name: str, bert: Path, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes((bert / "model.safetensors").read_bytes())
    split(bert, elsewhere=name or "x")
    if not name:
        index = bert / "model.safetensors.index.json"
        index.write_text(index.read_text().replace('"x"', '""'))
    with pytest.raises(ModelError, match="names a file that is not beside it"):
        load(str(bert), "encode")


@pytest.mark.parametrize("content", ["[]", "{}", '{"weight_map": []}', '{"weight_map": {"a": 3}}', "[" * 100_000])
def test_a_malformed_index(content: str, bert: Path) -> None:
    split(bert)
    (bert / "model.safetensors.index.json").write_text(content)
    with pytest.raises(ModelError, match=r"model\.safetensors\.index\.json"):
        load(str(bert), "encode")
