"""The tokenizer that a GGUF file's header describes gives the ids of the one that was converted, or is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from engine.errors import ModelError
from engine.models.loading.model_description import describe
from engine.models.sources.model_location import locate
from engine.models.tokenization.encoding import token_ids
from tests.models.loading.gguf.writing import CASES, convert, made
from tests.support.tiny_models import ENGLISH, JAPANESE

TEXTS = [
    *JAPANESE,
    *ENGLISH,
    "",
    " ",
    "  two   spaces ",
    "\tTab\tand\nline\r\nbreaks\n\n\n",
    "全角　空白　と\u00a0NBSP\u2003EM",
    "改行\n\n の 後",
    "I'LL we've 12345 1,234.5 No.7",
    "が ハ゜ ﾃﾞﾝﾜ ①㈱ é e\u0301",
    "🍣🇯🇵👩‍👩‍👧 and 𠮷野家",
    "<2en> word <think> inside",
    "...!!!？？",
]


@pytest.mark.parametrize("name", ["llama", "llama 3", "qwen2", "gpt2", "gemma2"])
def test_ids_are_those_of_the_tokenizer_that_was_converted(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    specimen = made(case, tmp_path)
    convert(case, specimen, tmp_path / "model.gguf")
    tokenizer = describe(locate(str(tmp_path / "model.gguf"))).tokenizer
    published = specimen.described.tokenizer
    for text in TEXTS:
        assert token_ids(tokenizer, text) == token_ids(published, text), text
        # By the file's own library, but for words of the user that are looked for in a text before it reads it.
        if "<" not in text:
            assert token_ids(tokenizer, text) == specimen.published.ids(text), text
    roles = ("bos_token_id", "eos_token_id")
    known = specimen.published.roles
    assert {role: getattr(tokenizer, role) for role in roles if role[:-3] in known} == {
        role: known[role[:-3]] for role in roles if role[:-3] in known
    }


@pytest.mark.parametrize(
    ("name", "fields", "before", "after"),
    [
        ("gpt2", {"tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.add_eos_token": True}, True, True),
        ("llama 3", {"tokenizer.ggml.add_bos_token": False}, False, False),
        ("llama 3", {}, True, False),
        ("llama", {"tokenizer.ggml.add_bos_token": False, "tokenizer.ggml.add_eos_token": True}, False, True),
    ],
)
def test_bos_and_eos_stand_where_the_header_says(
    name: str, fields: dict[str, Any], before: bool, after: bool, tmp_path: Path
) -> None:
    case = CASES[name]
    convert(case, made(case, tmp_path), tmp_path / "model.gguf", fields=fields)
    tokenizer = describe(locate(str(tmp_path))).tokenizer
    ids = token_ids(tokenizer, "猫")
    bos, eos = tokenizer.bos_token_id, tokenizer.eos_token_id
    assert (ids[0] == bos, ids[-1] == eos) == (before, after)


def test_a_chat_template_of_the_header_is_the_model_s(tmp_path: Path) -> None:
    case = CASES["qwen3"]
    specimen = made(case, tmp_path)
    convert(case, specimen, tmp_path / "model.gguf", fields={"tokenizer.chat_template": "{{ messages[0].content }}"})
    described = describe(locate(str(tmp_path)))
    assert described.tokenizer.chat_template == "{{ messages[0].content }}" and described.facts.chat_template


def test_a_tokenizer_beside_the_file_goes_before_the_header(tmp_path: Path) -> None:
    case = CASES["qwen3"]
    specimen = made(case, tmp_path)
    convert(case, specimen, tmp_path / "model.gguf", fields={"tokenizer.ggml.pre": "of next year"})
    with pytest.raises(ModelError, match=r"how texts are split \(tokenizer\.ggml\.pre: of next year\)\. Put the token"):
        locate(str(tmp_path))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(specimen.folder / name, tmp_path)
    described = describe(locate(str(tmp_path)))
    assert [token_ids(described.tokenizer, text) for text in TEXTS] == [
        token_ids(specimen.described.tokenizer, text) for text in TEXTS
    ]
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    vocabulary = content["model"]["vocab"]
    first, second = sorted(vocabulary, key=vocabulary.__getitem__)[300:302]
    vocabulary[first], vocabulary[second] = vocabulary[second], vocabulary[first]
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(ModelError, match=r"tokenizer\.json beside model\.gguf is not that of the model.*301 where the"):
        locate(str(tmp_path))


def test_a_configuration_beside_the_file_goes_before_the_header(tmp_path: Path) -> None:
    case = CASES["qwen2"]
    specimen = made(case, tmp_path)
    convert(case, specimen, tmp_path / "model.gguf", fields={"qwen2.rope.scaling.beta_fast": 32.0})
    with pytest.raises(ModelError, match=r"could change the numbers: qwen2\.rope\.scaling\.beta_fast\. Put the config"):
        locate(str(tmp_path))
    config = json.loads((specimen.folder / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen2"}))  # says nothing of the sizes
    with pytest.raises(ModelError, match="beta_fast"):
        locate(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({**config, "rms_norm_eps": 0.5}))
    assert describe(locate(str(tmp_path))).architecture.config.rms_norm_eps == 0.5
    (tmp_path / "config.json").write_text(json.dumps({**config, "hidden_size": 32}))
    with pytest.raises(ModelError, match=r"not that of the model in it \(qwen2\): hidden_size: 32\. Take both"):
        locate(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({**config, "model_type": "llama"}))
    with pytest.raises(ModelError, match="model_type: llama"):
        locate(str(tmp_path))


@pytest.mark.parametrize(
    ("fields", "without", "words"),
    [
        ({"tokenizer.ggml.model": "bert"}, (), "tokenizer.ggml.model: bert"),
        ({}, ("tokenizer.ggml.model",), "tokenizer.ggml.model: None"),
        ({}, ("tokenizer.ggml.merges",), "tokenizer.ggml.merges"),
        ({}, ("tokenizer.ggml.pre",), "tokenizer.ggml.pre: None"),
        ({}, ("tokenizer.ggml.tokens",), "tokenizer.ggml.tokens"),
        ({"tokenizer.ggml.token_type": [1, 1]}, (), "tokenizer.ggml.token_type"),
        ({"tokenizer.ggml.eos_token_id": 10**6}, (), "tokenizer.ggml.eos_token_id: 1000000"),
    ],
)
def test_a_vocabulary_that_is_not_understood_is_refused(
    fields: dict[str, Any], without: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    case = CASES["qwen3"]
    convert(case, made(case, tmp_path), tmp_path / "model.gguf", fields=fields, without=without)
    with pytest.raises(ModelError, match=rf"how texts are split \({words}\)"):
        locate(str(tmp_path))


def test_merges_that_do_not_fit_are_refused_in_words(tmp_path: Path) -> None:
    case = CASES["gpt2"]
    convert(case, made(case, tmp_path), tmp_path / "model.gguf", fields={"tokenizer.ggml.merges": ["no such", "xq zq"]})
    with pytest.raises(ModelError, match=r"tokenizer in .* cannot be loaded"):
        describe(locate(str(tmp_path)))
