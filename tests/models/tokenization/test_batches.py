"""Texts that are read together have the tokens that each has alone, and the spans and words of a plain rule."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import PreTrainedTokenizerBase

from engine.models.sources.recipes import Recipe
from engine.models.tokenization.encoding import token_ids, token_ids_of_each
from engine.models.tokenization.offsets import SPACE_MARKS, Offsets, offsets_of_each, token_offsets
from engine.models.tokenization.probe_texts import probe_texts
from engine.models.tokenization.spans import spans_of_each
from engine.models.tokenization.tokenizer_loading import load_tokenizer
from tests.support import odd_tokenizers, tiny_models
from tests.support.layouts import papers as paper_layouts

RECIPE = Recipe(segmenter="mecab-ipadic", vocabulary="wordpiece", normalize=("nfkc",))
TOKENIZERS: dict[str, Callable[[Path], Any]] = {
    "WordPiece": lambda folder: load_tokenizer(tiny_models.bert(folder)),
    "MeCab and WordPiece": lambda folder: load_tokenizer(tiny_models.bert_japanese(folder)),
    "Unigram": lambda folder: load_tokenizer(tiny_models.gpt2_unigram(folder)),
    "byte-level": lambda folder: load_tokenizer(tiny_models.gpt2_byte_level(folder)),
    "bytes of a Unigram": lambda folder: odd_tokenizers.unigram_with_bytes(scheme="always"),
    "recipe": lambda folder: load_tokenizer(paper_layouts.japanese_bert(folder), RECIPE),
}
CONTROL_TEXTS = ("a [SEP] b", "<s>猫</s>", "[mask]", "<|endoftext|>the", "", " ", "\u3000")
TEXTS = (*CONTROL_TEXTS, *probe_texts()[:400], *CONTROL_TEXTS)


@pytest.fixture(scope="module", params=TOKENIZERS)
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> PreTrainedTokenizerBase:
    tokenizer: PreTrainedTokenizerBase = TOKENIZERS[request.param](tmp_path_factory.mktemp("tokenizer") / "model")
    return tokenizer


@pytest.mark.parametrize("control", [(), ("[SEP]", "<s>"), None])
def test_a_batch_has_the_tokens_of_each_text_alone(
    tokenizer: PreTrainedTokenizerBase, control: tuple[str, ...] | None
) -> None:
    assert token_ids_of_each(tokenizer, TEXTS, control=control) == [
        token_ids(tokenizer, text, control=control) for text in TEXTS
    ]
    together = offsets_of_each(tokenizer, TEXTS, control=control)
    assert together == [token_offsets(tokenizer, text, control=control) for text in TEXTS]
    assert [encoding.ids for encoding in together] == token_ids_of_each(tokenizer, TEXTS, control=control)


def test_spans_and_words_of_a_batch_are_those_of_the_rule(tokenizer: PreTrainedTokenizerBase) -> None:
    encodings = offsets_of_each(tokenizer, TEXTS)
    for text, encoding, spans in zip(TEXTS, encodings, spans_of_each(tokenizer, TEXTS), strict=True):
        assert (spans.ids, spans.tokens, spans.special.tolist()) == (encoding.ids, encoding.tokens, encoding.special)
        assert spans.spans.tolist() == [list(span) for span in spans_by_rule(text, encoding)], text
        assert spans.words.tolist() == words_by_rule(text, encoding), text
        assert (spans.spans.dtype, spans.words.dtype) == (np.int32, np.int32)


def test_no_text_has_no_spans(tokenizer: PreTrainedTokenizerBase) -> None:
    assert spans_of_each(tokenizer, []) == token_ids_of_each(tokenizer, []) == []


def spans_by_rule(text: str, encoding: Offsets) -> list[tuple[int, int]]:
    """Token by token: without white space at its ends, white space alone as it is, (-1, -1) for control tokens."""
    spans = []
    for (start, end), special in zip(encoding.offsets, encoding.special, strict=True):
        while text[start:end].strip() and text[start].isspace():
            start += 1
        while text[start:end].strip() and text[end - 1].isspace():
            end -= 1
        spans.append((-1, -1) if special else (start, end))
    return spans


def words_by_rule(text: str, encoding: Offsets) -> list[int]:
    """Token by token: a word begins where the tokenizer says so, and after white space."""
    words, word, previous = [], -1, -1
    for i, (token, (start, end)) in enumerate(zip(encoding.tokens, encoding.offsets, strict=True)):
        if encoding.special[i]:
            words.append(-1)
            previous = -1
            continue
        begins = previous < 0 or encoding.words[i] != encoding.words[previous]
        if not begins:
            is_blank = encoding.tokens[previous] in SPACE_MARKS or text[slice(*encoding.offsets[previous])].isspace()
            previous_end = encoding.offsets[previous][1]
            spaced = start >= previous_end and any(map(str.isspace, text[previous_end : min(start + 1, end)]))
            begins = not is_blank and (spaced or token.startswith(SPACE_MARKS))
        word += begins
        words.append(word)
        previous = i
    return words


def test_a_text_beyond_the_length_is_read_without_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which rows are too long is said in the result; transformers would say of one that it leads to errors."""
    monkeypatch.setattr(logging.getLogger("transformers"), "propagate", True)
    tokenizer = load_tokenizer(tiny_models.bert(tmp_path / "model"))
    tokenizer.model_max_length = 2
    with caplog.at_level(logging.WARNING, "transformers"):
        assert token_ids_of_each(tokenizer, ["a b c"]) == [token_ids(tokenizer, "a b c")]
    assert not caplog.records
