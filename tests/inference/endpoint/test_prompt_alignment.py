"""Which characters each token covers, and that tokens of another text are refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from engine.inference.endpoint.prompt_alignment import prompt_spans
from tests.support import tiny_models

PART = "\ufffd"


@pytest.mark.parametrize(
    ("tokens", "text", "spans"),
    [
        (["1", "キロ"], "１㌔", [(-1, -1), (-1, -1)]),
        (["The", " cat"], "The cat", [(0, 3), (3, 7)]),
        # 量 is E9 87 8F: two tokens of it, each a part.
        (["猫", PART, PART, "。"], "猫量。", [(0, 1), (1, 2), (1, 2), (2, 3)]),
        # A server that shows a character with its last token only.
        (["猫", "", "", "量"], "猫量", [(0, 1), (1, 2), (1, 2), (1, 2)]),
        # SentencePiece: the marker of a space, or the space lost by decoding a token alone.
        (["▁Hello", "▁world"], "Hello world", [(0, 5), (5, 11)]),
        (["Hello", "world"], "Hello world", [(0, 5), (5, 11)]),
        ([" Hello", " world"], "Hello world", [(0, 5), (5, 11)]),
        (["<unk>", "b"], "字字b", [(0, 2), (2, 3)]),
        ([], "", []),
    ],
)
def test_tokens_cover_the_text(tokens: list[str], text: str, spans: list[tuple[int, int]]) -> None:
    assert prompt_spans(tokens, text) == spans


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["The"], "The cat"),
        (["The", " cat", "s"], "The cat"),
        (["the", " cat"], "The cat"),
        ([" cat", "The"], "The cat"),
        ([PART] * 3, "abc"),
        ([PART], "量量"),
        ([], "a"),
        (["a"], ""),
        (["猫", PART], "猫"[:0]),
    ],
)
def test_tokens_of_another_text_are_refused(tokens: list[str], text: str) -> None:
    assert prompt_spans(tokens, text) is None


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return AutoTokenizer.from_pretrained(tiny_models.gpt2_byte_level(tmp_path_factory.mktemp("models") / "bytes"))


@settings(max_examples=150, deadline=None)
@given(
    text=st.text(st.sampled_from("猫量子秤aé 😀。the"), min_size=1, max_size=25),
    other=st.text("xyz", min_size=1, max_size=5),
)
def test_tokens_decoded_one_by_one_cover_any_text_in_order(byte_level: Any, text: str, other: str) -> None:
    """Of a byte-level BPE, each token decoded alone; the same tokens with something after them are refused."""
    tokens = [byte_level.decode([token]) for token in byte_level(text)["input_ids"]]
    spans = prompt_spans(tokens, text)
    assert spans is not None and len(spans) == len(tokens)
    ends = [end for _, end in spans]
    assert ends == sorted(ends) and (not text[ends[-1] :].strip())
    for token, (start, end) in zip(tokens, spans, strict=True):
        assert PART in token or text[start:end].endswith(token)
    assert prompt_spans([*tokens, other], text) is None


def test_a_thousand_broken_characters_take_no_time() -> None:
    text = "量" * 1000
    spans = prompt_spans([PART, PART] * 1000, text)
    assert spans is not None and spans[-1][1] == 1000
