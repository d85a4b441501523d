"""Control tokens in a text under tokenizers whose own merges put their spellings together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from engine.models.tokenization.encoding import token_ids
from engine.models.tokenization.offsets import control_ids
from engine.models.tokenization.plain_text import control_spellings
from engine.models.tokenization.tokenizer_loading import load_tokenizer
from tests.support import tiny_models

PIECES = ("<unk>", "<s>", "</s>", "<", "s", ">", "/", "a", "b", "s>", "</", "<s")
MERGES = [("s", ">"), ("<", "s"), ("<s", ">"), ("<", "/"), ("</", "s>")]


@pytest.fixture
def tokenizer() -> PreTrainedTokenizerFast:
    """The merges of a vocabulary with scores, as converters write them: also those that make <s> and </s>."""
    backend = Tokenizer(models.BPE({piece: number for number, piece in enumerate(PIECES)}, MERGES, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Split(" ", "removed")
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", bos_token="<s>", eos_token="</s>")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a</s>b", "<s> a </ s> b"),
        ("<s>", "<s> < s>"),
        ("a<S>", "<s> a < <unk> >"),
        ("as>", "<s> a s>"),
    ],
)
def test_merges_do_not_make_a_control_token(text: str, pieces: str, tokenizer: PreTrainedTokenizerFast) -> None:
    ids = token_ids(tokenizer, text)
    assert [PIECES[number] for number in ids] == pieces.split()


def test_a_control_token_that_is_asked_for_is_read_as_such(tokenizer: PreTrainedTokenizerFast) -> None:
    ids = token_ids(tokenizer, "a</s>b<s>", control=["</s>"])
    assert [PIECES[number] for number in ids] == ["<s>", "a", "</s>", "b", "<", "s>"]


def test_a_special_token_that_ordinary_texts_have_is_text(tmp_path: Path) -> None:
    """A publisher's full stop among the additional special tokens, as XLNet has it in transformers 5."""
    folder = tiny_models.bert(tmp_path / "bert")
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({**settings, "additional_special_tokens": [".", "[E1]"]}))
    core = Tokenizer.from_file(str(folder / "tokenizer.json"))
    state = json.loads(core.to_str())
    number = state["model"]["vocab"].setdefault(".", len(state["model"]["vocab"]))
    state["added_tokens"].append(
        {
            "id": number,
            "content": ".",
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
    )
    state["added_tokens"].sort(key=lambda added: added["id"])
    (folder / "tokenizer.json").write_text(json.dumps(state))
    tokenizer = load_tokenizer(folder)
    spellings = control_spellings(tokenizer).tokens
    assert "." not in spellings and {"[E1]", "[SEP]"} <= spellings
    assert token_ids(tokenizer, "the cat.")[-2] == number and number not in control_ids(tokenizer)
