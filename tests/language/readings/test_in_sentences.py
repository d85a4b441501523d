"""The readings of marked words in 305 sentences, beside those of pykakasi and of UniDic alone."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import lru_cache
from pathlib import Path

import pytest

from engine.language.names import names_in
from engine.language.parts_of_speech import tagged_words
from engine.language.readings.by_pykakasi import _kakasi, reading
from engine.language.readings.hiragana import hiragana_only
from engine.language.words import words_with_features

TABLE = Path(__file__).with_name("readings_in_sentences.tsv")
KANA = 17  # of UniDic's features


@lru_cache(maxsize=1)
def marked() -> list[tuple[str, int, int, list[str], str]]:
    """Each sentence, where the marked word begins and ends in it, the readings that it may have, and its kind."""
    rows = []
    for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]:
        sentence, readings, kind = line.split("\t")
        start, end = sentence.index("["), sentence.index("]") - 1
        rows.append((re.sub(r"[\[\]]", "", sentence), start, end, readings.split(), kind))
    return rows


def ours(text: str, start: int, end: int) -> str:
    """Of the words; of a number in digits that of the number, since digits have none as words."""
    if text[start].isdigit() and unicodedata.category(text[start]) == "Nd":
        return next(name.reading.texts[0] for name in names_in(text) if name.start == start and name.end == end)
    return "".join(word.reading for word in tagged_words(text) if word.start < end and word.end > start)


def by_unidic(text: str, start: int, end: int) -> str:
    return "".join(
        hiragana_only(features[KANA]) if len(features) > KANA else reading(text[first:last])
        for (first, last), features in words_with_features(text)
        if first < end and last > start
    )


def by_pykakasi(text: str, start: int, end: int) -> str:
    """Its reading of the whole sentence, of which the kana around the word are taken off its ends."""
    kana, position = "", 0
    for part in _kakasi().convert(text):
        first, last = position, position + len(part["orig"])
        position = last
        if first < end and last > start:
            part_kana = hiragana_only(part["hira"])
            part_kana = part_kana.removesuffix(hiragana_only(text[end:last]) if last > end else "")
            kana += part_kana.removeprefix(hiragana_only(text[first:start]) if first < start else "")
    return kana


def test_there_are_305_and_each_marks_a_word() -> None:
    assert len(marked()) == 305 == len({row[:3] for row in marked()})
    for text, start, end, readings, _ in marked():
        assert 0 <= start < end <= len(text) and readings
        assert all(re.fullmatch("[ぁ-ゖー]+", kana) for kana in readings)


@pytest.mark.parametrize("row", marked(), ids=lambda row: f"{row[0]}")
def test_each_is_read_as_in_its_sentence(row: tuple[str, int, int, list[str], str]) -> None:
    text, start, end, readings, _ = row
    assert ours(text, start, end) in readings


def test_the_published_shares() -> None:
    """Those of docs/names.md; in no kind are the two dictionaries alone better."""
    right: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    n: dict[str, int] = defaultdict(int)
    for text, start, end, readings, kind in marked():
        n[kind] += 1
        for place, read in enumerate((ours, by_pykakasi, by_unidic)):
            right[kind][place] += read(text, start, end) in readings
    assert all(of_kind[0] >= max(of_kind[1:]) for of_kind in right.values())
    shares = [round(sum(of_kind[place] for of_kind in right.values()) / sum(n.values()), 2) for place in (1, 2)]
    assert shares == [0.79, 0.68]
