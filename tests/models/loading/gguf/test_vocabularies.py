"""The tokenizer that a GGUF file's header describes gives the ids of the one that was converted, or is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2
from tokenizers import Tokenizer
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Tokenizer
from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

from engine.errors import ModelError
from engine.models.loading.model_description import describe
from engine.models.sources.gguf import vocabulary
from engine.models.sources.model_location import locate
from engine.models.tokenization.encoding import token_ids
from tests.models.loading.gguf.writing import CASES, convert, made
from tests.support.shared_data import shared_data
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


def test_the_expressions_are_those_that_transformers_has_for_these_names() -> None:
    for name, (expression, *_) in vocabulary._CUTS.items():
        assert expression == GGUF_PRE_TOKENIZER_SPLITS.get(name, "")


def test_ids_of_the_published_vocabulary_of_gpt_2(tmp_path: Path) -> None:
    published = tmp_path / "published"
    shutil.copytree(shared_data("tokenizers", "gpt2"), published)
    GPT2Config(n_embd=32, n_layer=1, n_head=2, n_inner=32, architectures=["GPT2LMHeadModel"]).save_pretrained(published)
    GPT2Tokenizer.from_pretrained(published).save_pretrained(published)
    model = GPT2LMHeadModel(GPT2Config.from_pretrained(published))
    specimen = SimpleNamespace(model=model, folder=published, published=SimpleNamespace(roles={"bos_token": 50256}))
    convert(CASES["gpt2"], cast(Any, specimen), tmp_path / "model.gguf")
    tokenizer = describe(locate(str(tmp_path))).tokenizer
    reference = Tokenizer.from_file(str(published / "tokenizer.json"))
    for text in TEXTS:
        assert token_ids(tokenizer, text) == reference.encode(text).ids, text


def test_a_llama_3_takes_a_word_of_its_vocabulary_as_it_stands(tmp_path: Path) -> None:
    case = CASES["llama 3"]
    specimen = made(case, tmp_path)
    path = specimen.folder / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    merges = content["model"]["merges"]
    content["model"] |= {"ignore_merges": True, "merges": merges[:20]}
    path.write_text(json.dumps(content), encoding="utf-8")
    convert(case, specimen, tmp_path / "model.gguf")
    tokenizer = describe(locate(str(tmp_path))).tokenizer
    reference = Tokenizer.from_file(str(path))
    texts = [*TEXTS, *(reference.decode([number]) for number in range(300, 400))]
    assert [token_ids(tokenizer, text) for text in texts] == [reference.encode(text).ids for text in texts]
    content["model"]["ignore_merges"] = False
    by_merges = Tokenizer.from_str(json.dumps(content))
    assert any(by_merges.encode(text).ids != reference.encode(text).ids for text in texts)


def test_no_blank_stands_before_a_text_where_the_header_says_so(tmp_path: Path) -> None:
    case = CASES["llama"]
    specimen = made(case, tmp_path)
    convert(case, specimen, tmp_path / "model.gguf", fields={"tokenizer.ggml.add_space_prefix": False})
    proto = sentencepiece_model_pb2.ModelProto.FromString((specimen.folder / "tokenizer.model").read_bytes())
    proto.normalizer_spec.add_dummy_prefix = False
    reference = SentencePieceProcessor(model_proto=proto.SerializeToString())
    tokenizer = describe(locate(str(tmp_path))).tokenizer
    for text in TEXTS:
        assert token_ids(tokenizer, text) == [reference.bos_id(), *reference.encode(text)], text


def test_scores_that_say_nothing_are_refused(tmp_path: Path) -> None:
    """As the converter writes them where a SentencePiece vocabulary was published as tokenizer.json alone."""
    case = CASES["llama"]
    specimen = made(case, tmp_path)
    scores = [-1000.0] * specimen.model.config.vocab_size
    convert(case, specimen, tmp_path / "model.gguf", fields={"tokenizer.ggml.scores": scores})
    with pytest.raises(ModelError, match=r"how texts are split \(the same tokenizer\.ggml\.scores for all pieces\)"):
        locate(str(tmp_path))


def test_merges_that_do_not_fit_are_refused_in_words(tmp_path: Path) -> None:
    case = CASES["gpt2"]
    convert(case, made(case, tmp_path), tmp_path / "model.gguf", fields={"tokenizer.ggml.merges": ["no such", "xq zq"]})
    with pytest.raises(ModelError, match=r"tokenizer in .* cannot be loaded"):
        describe(locate(str(tmp_path)))
