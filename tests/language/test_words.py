"""Words as spans of the text as it was written, whatever stands in it."""

from __future__ import annotations

import itertools
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.language.words import ENGINE_VERSION, PIECE_CHARACTERS, uses_spaces, word_spans

ODD = "猫がタワーｻｲﾄｳa1 \t\n\r\u3000\u200b\u200d\x00\x1f\xa0\u2028\ud83d👩🏽é\u0301が\u3099。、「」Ġ▁"


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in word_spans(text)]


def covered(text: str) -> list[int]:
    return [index for start, end in word_spans(text) for index in range(start, end)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "昨日、私は東京タワーでラーメンを食べました。",
            ["昨日", "、", "私", "は", "東京", "タワー", "で", "ラーメン", "を", "食べ", "まし", "た", "。"],
        ),
        ("  私は\n\n東京　タワー\t。 ", ["私", "は", "東京", "タワー", "。"]),
        ("👩 ｻｲﾄｳ です", ["👩", "ｻｲﾄｳ", "です"]),
        ("the cat sat", ["the", "cat", "sat"]),
        ("a\x00b", ["a", "\x00", "b"]),
        ("", []),
        (" \n\u3000", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@settings(max_examples=300)
@given(st.text(st.one_of(st.characters(), st.sampled_from(ODD)), max_size=30))
def test_spans_are_ordered_disjoint_and_hold_all_but_whitespace(text: str) -> None:
    spans = word_spans(text)
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert covered(text) == [index for index, character in enumerate(text) if not character.isspace()]


@settings(max_examples=100)
@given(st.text(st.one_of(st.characters(), st.sampled_from(ODD)), max_size=20))
def test_more_whitespace_moves_words_but_does_not_change_them(text: str) -> None:
    assert words(re.sub(r"\s", "\u3000\n ", text)) == words(text)


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000, "猫が好き。" * 40_000, " " * 70_000 + "猫"],
    ids=["one run", "many sentences", "mostly spaces"],
)
def test_very_long_texts_do_not_end_the_process(text: str) -> None:
    # MeCab given the first two whole ends the process with a segmentation fault
    assert covered(text) == [index for index, character in enumerate(text) if character != " "]


def test_a_text_is_cut_for_mecab_at_sentences() -> None:
    sentence = "昨日、私は東京タワーでラーメンを食べました。"
    n = 2 * PIECE_CHARACTERS // len(sentence)
    assert words(sentence * n) == words(sentence) * n


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the cat sat", True),
        ("L’élève est là.", True),
        ("안녕하세요 여러분", True),
        ("", True),
        ("123 👩 !?", True),
        ("猫", False),
        ("ひらがな", False),
        ("カタカナ", False),
        ("ｶﾀｶﾅ", False),
        ("GPUで動く", False),
        ("々", False),
        ("〇", False),
        ("𠮷", False),
        ("ㇰ", False),
    ],
)
def test_uses_spaces(text: str, expected: bool) -> None:
    assert uses_spaces(text) is expected


def test_threads_get_what_one_thread_gets() -> None:
    texts = [f"{index}番目の猫は{'とても' * (index % 5)}小さい。" for index in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(word_spans, texts * 3)) == [word_spans(text) for text in texts] * 3


def test_the_version_names_mecab_and_its_dictionary() -> None:
    assert re.fullmatch(r"fugashi [\d.]+, unidic-lite [\d.]+", ENGINE_VERSION)
