"""Control tokens in a text under tokenizers whose own merges put their spellings together."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from engine.models.tokenization.encoding import token_ids

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
