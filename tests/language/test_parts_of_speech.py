"""engine.language.parts_of_speech and unidic_readings: names and readings by UniDic."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.language.parts_of_speech import tagged_words
from engine.language.readings.by_pykakasi import reading
from engine.language.readings.by_unidic import unidic_reading
from engine.language.readings.hiragana import hiragana_only
from engine.language.words import word_spans, words_with_features

TEXT = "斉藤さんは東京で、ハンターの尾崎にＡ４を３枚渡した。"


def test_names_are_what_mecab_tags_as_such() -> None:
    names = [TEXT[word.start : word.end] for word in tagged_words(TEXT) if word.is_proper_noun]
    assert {"斉藤", "東京", "尾崎"} <= set(names) and "ハンター" not in names  # the paper's false alarm
    assert tagged_words("斉藤")[0].part_of_speech[:2] == ("名詞", "固有名詞")


def test_words_have_the_spans_of_words() -> None:
    assert [(word.start, word.end) for word in tagged_words(TEXT)] == word_spans(TEXT)
    assert [span for span, _ in words_with_features(TEXT)] == word_spans(TEXT)
    assert tagged_words("") == tagged_words(" \n") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("斉藤", "さいとう"),
        ("齋藤", "さいとう"),
        ("尾崎", "おざき"),
        ("##日", "ひ"),
        ("▁東京", "とうきょう"),
        ("ハンター", "はんたー"),
        ("ﾊﾝﾀｰ", "はんたー"),
        ("私は", "わたくしは"),
        ("。", ""),
        ("A4", ""),
        ("", ""),
        ("髙橋", "たかはし"),
    ],
)
def test_readings_by_unidic(text: str, expected: str) -> None:
    assert unidic_reading(text) == expected


def test_context_changes_a_reading() -> None:
    # 一日 as a date is ついたち; 行った alone could be いった or おこなった, and UniDic decides by its neighbours.
    def read(text: str, surface: str) -> str:
        return next(word.reading for word in tagged_words(text) if text[word.start : word.end] == surface)

    assert read("会議を行った", "行っ") == "おこなっ" and read("海に行った", "行っ") == "いっ"


def test_particles_keep_their_spelling() -> None:
    assert [word.reading for word in tagged_words("私は駅へ本を")][1::2] == ["は", "へ", "を"]


@settings(max_examples=60)
@given(st.text(st.sampled_from("斉藤はハｶﾅー々ゝA4。 \n\u3000"), max_size=15))
def test_readings_are_hiragana(text: str) -> None:
    for word in tagged_words(text):
        assert word.reading == hiragana_only(word.reading)
    assert unidic_reading(text) == hiragana_only(unidic_reading(text))
    assert reading(text) == hiragana_only(reading(text))
