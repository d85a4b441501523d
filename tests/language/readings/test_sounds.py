"""Spellings of one sound, and romaji."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.readings.sounds import in_small_kana, kana_of_romaji, sounds, without_long_vowels


@pytest.mark.parametrize(
    "spellings",
    [
        ("たろう", "たろー", "たろお"),
        ("とうきょう", "とーきょー", "とおきょう"),
        ("おおさか", "おーさか", "おうさか"),
        ("けいこ", "けーこ", "けえこ"),
        ("ゔぃくとりあ", "びくとりあ"),
        ("ゔぁいおりん", "ばいおりん"),
        ("みかづき", "みかずき"),
        ("はなぢ", "はなじ"),
        ("ゐのうえ", "いのうえ"),
        ("うぃーん", "ういーん"),
        ("こおり", "こーり"),
    ],
)
def test_spellings_of_one_sound(spellings: tuple[str, ...]) -> None:
    assert len({sounds(spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("おの", "おおの"),
        ("さとう", "さいとう"),
        ("たろう", "じろう"),
        ("きゃのん", "きやのん"),
        ("はし", "ばし"),
        ("てぃー", "ちー"),
        ("まつ", "まっつ"),
    ],
)
def test_other_sounds_stay_apart(one: str, other: str) -> None:
    assert sounds(one) != sounds(other)


@given(st.text(st.characters(min_codepoint=ord("ぁ"), max_codepoint=ord("ゔ")), max_size=10))
def test_sounds_are_their_own_sounds(kana: str) -> None:
    assert sounds(sounds(kana)) == sounds(kana)


@pytest.mark.parametrize(
    ("large", "small"),
    [
        ("じゅりえつと", "じゅりえっと"),
        ("ぢやつく", "ぢゃっく"),
        ("しやーろつく", "しゃーろっく"),
        ("ちやーるす", "ちゃーるす"),
        ("どいつ", "どいつ"),
        ("つばさ", "つばさ"),
        ("まつい", "まつい"),
        ("やまだ", "やまだ"),
    ],
)
def test_small_kana_of_old_spelling(large: str, small: str) -> None:
    assert in_small_kana(large) == small and in_small_kana(small) == small


@pytest.mark.parametrize(
    ("word", "kana"),
    [
        ("Tanaka", "たなか"),
        ("SATŌ", "さとー"),
        ("Satoh", "さとー"),
        ("Ohno", "おーの"),
        ("Ohara", "おはら"),
        ("Sinzyuku", "しんじゅく"),
        ("Shinjuku", "しんじゅく"),
        ("Tsuchiya", "つちや"),
        ("Tutiya", "つちや"),
        ("Hokkaido", "ほっかいど"),
        ("Matchi", "まっち"),
        ("Ken'ichi", "けんいち"),
        ("Namba", "なんば"),
        ("Kyōto", "きょーと"),
        ("Ｆｕｊｉ", "ふじ"),
        ("Alice", ""),
        ("Bob", ""),
        ("A", ""),
        ("o", ""),
        ("III", ""),
        ("Ⅲ", ""),
        ("Ii", "いい"),
        ("A4", ""),
        ("", ""),
        ("-", ""),
        ("xyz", ""),
        ("Tanaka!", ""),
    ],
)
def test_romaji(word: str, kana: str) -> None:
    assert kana_of_romaji(word) == kana


def test_romaji_without_long_vowels_agrees_without_them() -> None:
    assert without_long_vowels(sounds(kana_of_romaji("Saito"))) == without_long_vowels(sounds("さいとう"))
