"""Readings of words and names: the table of hard cases, written by hand, and what is read by which rule."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.language.parts_of_speech import tagged_words
from engine.language.readings.alone import reading_alone
from engine.language.readings.variants import plain_form
from engine.language.readings.words import OWN, PYKAKASI, UNIDIC, VARIANT, is_read_whole, word_reading

TABLE = Path(__file__).parents[1] / "hard_readings.tsv"
# What the column `source` calls readings by a dictionary, whichever of the two has the word.
DICTIONARY = {UNIDIC, PYKAKASI, VARIANT}
with TABLE.open(encoding="utf-8", newline="") as lines:
    HARD = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_the_table_is_long_and_has_no_text_twice() -> None:
    assert len(HARD) >= 300 and len({row["text"] for row in HARD}) == len(HARD)
    assert all((row["complete"] == "yes") == bool(row["readings"]) for row in HARD)


@pytest.mark.parametrize("row", HARD, ids=lambda row: row["text"])
def test_hard_cases(row: dict[str, str]) -> None:
    """The first reading is the first of the table, every other of the table is known, and the source is the table's."""
    expected, found = row["readings"].split(), reading_alone(row["text"])
    assert found.is_complete == (row["complete"] == "yes")
    assert list(found.texts[:1]) == expected[:1] and set(expected) <= set(found.texts)
    assert found.source in (DICTIONARY if row["source"] == "dictionary" else {row["source"]})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("增田", "増田"),
        ("桒原", "桑原"),
        ("葛\U000e0100城", "葛城"),
        ("渡辺\U000e0102", "渡辺"),
        ("辻\ufe00", "辻"),
        ("穐山", "秋山"),
        ("舩橋", "船橋"),
        ("中邨", "中村"),
        ("關口", "関口"),
        ("佐籐", "佐藤"),
        ("髙槗", "高橋"),
    ],
)
def test_variants_are_one_name(one: str, other: str) -> None:
    assert plain_form(one) == plain_form(other)
    assert set(reading_alone(one).texts) & set(reading_alone(other).texts)


def test_a_list_of_ones_own_comes_first_and_knows_variants() -> None:
    own = {plain_form("乙音"): ("おとね",), plain_form("渡辺"): ("わたべ",)}
    assert word_reading("乙音", "おつおと", own).texts == ("おとね",)
    assert word_reading("渡邊", own=own) == word_reading("渡辺", own=own)
    assert word_reading("渡邊", own=own).source == OWN and word_reading("渡部", own=own).source != OWN


def test_unidic_in_context_comes_before_pykakasi() -> None:
    assert word_reading("来", "き").texts == ("き", "らい") and word_reading("来", "き").source == UNIDIC
    assert word_reading("来").source == PYKAKASI and word_reading("髙木").source == VARIANT


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("斉藤", True),
        ("##ｻﾝ", True),
        ("か\u3099", True),
        ("3世", False),
        ("习近平", False),
        ("Tシャツ", False),
        ("猫😀", False),
        ("。", False),
        ("", False),
        ("ー", False),
        ("々", False),
        ("人々", True),
        ("関ヶ原", True),
    ],
)
def test_what_is_read_whole(text: str, whole: bool) -> None:
    assert is_read_whole(text) == whole


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("いすゞとｶﾞｽ", [("いすゞ", "いすず"), ("と", "と"), ("ｶﾞｽ", "がす")]),
        ("𠮷野さんと髙橋", [("𠮷野", "よしの"), ("さん", "さん"), ("と", "と"), ("髙橋", "たかはし")]),
        (
            "葛\U000e0100城さんと辻\ufe00",
            [("葛\U000e0100城", ""), ("さん", "さん"), ("と", "と"), ("辻\ufe00", "つじ")],
        ),
        ("ト\u3099イツへ", [("ト\u3099イツ", "どいつ"), ("へ", "へ")]),
    ],
)
def test_mecab_reads_texts_in_their_usual_form_with_spans_of_their_own(text: str, words: list[tuple[str, str]]) -> None:
    tagged = tagged_words(text)
    assert [text[word.start : word.end] for word in tagged] == [surface for surface, _ in words]
    assert [word.reading for word in tagged][1:] == [read for _, read in words][1:]


@settings(max_examples=150)
@given(st.text(st.sampled_from("斉藤はｶﾞﾊﾟﾝﾞ々ゝゞか\u3099\u309aヶ髙𠮷3３人A 。\n\ufe00\U000e0100"), max_size=12))
def test_spans_of_any_text_are_its_own_and_go_on(text: str) -> None:
    end = 0
    for word in tagged_words(text):
        assert end <= word.start < word.end <= len(text)
        end = word.end
