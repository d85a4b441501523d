"""Readings: names however they are written, pieces of tokenizers, what has no reading, and threads."""

from __future__ import annotations

import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pykakasi.kanji import Kanwa
from pykakasi.properties import Configurations

from engine.language.readings.by_pykakasi import ENGINE_VERSION, PackedTables, reading
from engine.language.readings.words import is_read_whole

HIRAGANA = re.compile(r"[ぁ-ゖー]*")


@pytest.mark.parametrize(
    "name", ["斉藤", "斎藤", "齋藤", "さいとう", "サイトウ", "ｻｲﾄｳ", "⻫藤", "##斎藤", "▁斉藤", "▁サイトウ"]
)
def test_one_name_in_every_spelling(name: str) -> None:
    assert reading(name) == "さいとう"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("尾崎", "おざき"),
        ("尾﨑", "おざき"),
        ("髙橋", "たかはし"),
        ("𠮷野", "よしの"),
        ("田中", "たなか"),
        ("日", "にち"),
        ("##日", "にち"),
        ("一日", "ついたち"),  # a piece alone is read otherwise than the word
        ("ハンター", "はんたー"),
        ("猟師", "りょうし"),
        ("ﾊﾟｰﾃｨｰ", "ぱーてぃー"),
        ("ガ", "が"),
        ("か\u3099", "が"),
        ("ヴァイオリン", "ゔぁいおりん"),
        ("人々", "ひとびと"),
    ],
)
def test_readings(text: str, expected: str) -> None:
    assert reading(text) == expected


def test_the_long_vowel_sign_is_kept_in_every_script() -> None:
    assert reading("コーヒー") == reading("こーひー") == reading("ｺｰﾋｰ") == "こーひー"
    assert reading("ー") == "ー"  # a piece may begin inside a vowel
    assert reading("こうひい") == "こうひい"  # kana are taken as written, not as sounded


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("いすゞ", "いすず"),
        ("つゞき", "つづき"),
        ("すゝめ", "すすめ"),
        ("こゝろ", "こころ"),
        ("づゝ", "づつ"),
        ("ばゞ", "ばば"),
        ("サヽキ", "ささき"),
        ("ゝ", ""),
    ],
)
def test_iteration_marks_repeat(text: str, expected: str) -> None:
    assert reading(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "##",
        "▁",
        "▁▁",
        "123",
        "１２",
        "ABC",
        "Ｔｏｋｙｏ",
        "[UNK]",
        "[CLS]",
        "。",
        "、",
        "「",
        "!?",
        "…",
        "〜",
        "→",
        "👩‍👩‍👧",
        "한국",
        "时",
        "Ġæ",
        "\u200b",
        " ",
        "\x00",
        "\ud83d",
    ],
)
def test_what_has_no_reading(text: str) -> None:
    assert reading(text) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A4用紙", "ようし"),
        ("3月", "がつ"),
        ("GPUで", "で"),
        ("猫👩犬", "ねこいぬ"),
        ("ジョン・スミス", "じょんすみす"),
    ],
)
def test_only_what_has_a_reading_is_left_of_a_mixture(text: str, expected: str) -> None:
    assert reading(text) == expected


@settings(max_examples=300)
@given(st.text(st.one_of(st.characters(), st.sampled_from("あアｱー々ゝゞ斉藤尾崎日本#▁\u3099")), max_size=12))
def test_any_text_gives_hiragana_and_a_reading_reads_as_itself(text: str) -> None:
    read = reading(text)
    assert HIRAGANA.fullmatch(read)
    assert reading(read) == read


@settings(max_examples=100)
@given(st.text([chr(code) for code in range(ord("ァ"), ord("ヶ") + 1)], max_size=8))
def test_katakana_and_hiragana_of_one_spelling_agree(katakana: str) -> None:
    hiragana = "".join(chr(ord(character) - 0x60) for character in katakana)
    assert reading(katakana) == reading(hiragana) == hiragana


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("〆切", "しめきり"),
        ("〆切り", "しめきり"),
        ("〆鯖", "しめさば"),
        ("〆", "しめ"),
        ("〆日", "しめび"),
        ("切", "せつ"),
    ],
)
def test_the_sign_of_closing_is_read(text: str, expected: str) -> None:
    assert reading(text) == expected and is_read_whole(text)


def test_threads_get_what_one_thread_gets() -> None:
    words = [chr(0x4E00 + 7 * index) + chr(0x5000 + 3 * index) for index in range(300)]
    reading.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(reading, words * 4))
    reading.cache_clear()
    assert together == [reading(word) for word in words] * 4


def test_the_version_names_the_dictionary_and_the_rules() -> None:
    assert re.fullmatch(r"pykakasi [\d.]+, rules \d+", ENGINE_VERSION)


def test_packed_tables_are_those_of_the_library() -> None:
    with open(Configurations.dictpath(Configurations.jisyo_kanwa), "rb") as file:
        tables = pickle.load(file)
    packed = PackedTables(tables)
    assert len(tables) > 6_000 and all(packed.get(code) == table for code, table in tables.items())
    assert packed.get(ord("a")) is None


def test_a_process_that_reads_keeps_the_dictionary_packed() -> None:
    reading("斉藤")
    assert isinstance(Kanwa()._jisyo_table, PackedTables)
