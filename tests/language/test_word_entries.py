"""engine.language.word_entries: the words that a dictionary of words counts are those that number the tokens."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.language.parts_of_speech import cut_spans, tagged_words
from engine.language.word_entries import WORDS, entry, joined_entries, separate_entries, word_entries


def test_by_hand() -> None:
    assert word_entries("斉藤は髙橋と\nＣＤ を買った。") == ["斉藤", "は", "髙橋", "と", "CD", "を", "買っ", "た", "。"]
    assert word_entries(" \n") == [] == separate_entries("")
    # MeCab reads half-width kana as kana, and an entry has them so; the spelling of a kanji and case are kept.
    assert word_entries("ﾊﾟﾝとBerlin") == ["パン", "と", "Berlin"]
    assert WORDS.startswith("words: unidic-lite ")


@settings(max_examples=60)
@given(st.text(st.sampled_from("斉藤さんは走た 。A1ﾊﾟ髙々ゝ\n´\u3099㌔"), max_size=16))
def test_the_words_are_those_of_an_alignment_and_survive_joining(text: str) -> None:
    tagged = tagged_words(text)
    assert cut_spans(text) == [(word.start, word.end) for word in tagged]
    entries = word_entries(text)
    assert entries == [entry(text[word.start : word.end]) for word in tagged]
    assert not any(character.isspace() for word in entries for character in word)
    assert separate_entries(joined_entries(entries)) == [word for word in entries if word]
