"""How a word or name is read: every reading that it has, whether they cover all of it, and where they come from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from engine.language.readings.by_pykakasi import reading
from engine.language.readings.dictionary_names import readings_of_name
from engine.language.readings.hiragana import hiragana_only, strip_subword_marks
from engine.language.readings.numbers import number, number_readings
from engine.language.readings.sounds import in_small_kana, kana_of_plain_romaji
from engine.language.readings.variants import japanese_kanji, plain_form, usual_kanji
from engine.messages.message import named

# Where readings come from.
OWN, NUMBER, LIST, UNIDIC, PYKAKASI, VARIANT, ROMAJI, SURFACE = (
    named("own list"),
    "number",
    named("name list"),
    "UniDic",
    "pykakasi",
    "variant",
    "romaji",
    "surface",
)
FOLDER = Path(__file__).parent
CACHED_WORDS = 200_000

_KANA = re.compile("[ぁ-ゖァ-ヺーゝゞヽヾ・=\\s]+")
_KATAKANA = re.compile("[ァ-ヺーヽヾ・=\\s]+")
_READ_ALONE = re.compile("[ぁ-ゖァ-ヺーゝゞヽヾ々〆ヶ]")
_FIRST_EMOJI = "\U0001f000"
_REPEATS = "ーゝゞヽヾ々"  # no reading without what they repeat or lengthen


@dataclass(frozen=True)
class Reading:
    """The readings of a word in hiragana, the most usual first; () where no reading covers all of it.

    source: of the readings, one of the names above; "surface" for kana, and where there is no reading.
    """

    texts: tuple[str, ...]
    source: str

    @property
    def is_complete(self) -> bool:
        """Whether it is read as a whole; a word that is not is compared as it is written."""
        return bool(self.texts)


def word_reading(
    text: str, in_context: str = "", own: Mapping[str, tuple[str, ...]] | None = None, *, is_name: bool = False
) -> Reading:
    """How a word or name is read.

    In this order: as `own` says, by `plain_form` of a text; the name lists of this folder, of a number with those by
    its value beside them; numbers with their counters by their value; kana, which are their own reading, katakana also
    as their old spelling may be meant (ジュリエツト); UniDic's reading `in_context`, "" where there is none, with
    pykakasi's beside it where it is another; pykakasi's; romaji by its spelling. Of a number that has a reading in
    context as well, that reading is the first where UniDic takes the text for a proper noun (`is_name`), and the last
    elsewhere. Readings that leave out a character (a Latin letter, a digit, an emoji, a kanji of no dictionary) are
    none.

    >>> word_reading("東"), word_reading("Tシャツ").is_complete
    (Reading(texts=('ひがし', 'あずま'), source='name list'), False)
    >>> word_reading("千頭", "ちかみ", is_name=True).texts
    ('ちかみ', 'せんとう')
    >>> word_reading("三人").texts == word_reading("３人").texts == ('さんにん',)
    True
    """
    if own and (texts := own.get(plain_form(text))):
        return Reading(texts, OWN)
    return _word_reading(text, in_context, is_name)


@lru_cache(maxsize=CACHED_WORDS)
def is_read_whole(text: str) -> bool:
    """Whether pykakasi has a reading for every letter and digit of a text that has any; symbols are not read.

    >>> [is_read_whole(text) for text in ("斉藤", "##ｻﾝ", "３世", "习近平", "。")]
    [True, True, False, False, False]
    """
    plain = usual_kanji(strip_subword_marks(text))
    read = [character for character in plain if unicodedata.category(character)[0] in "LN" or character >= _FIRST_EMOJI]
    return any(character not in _REPEATS for character in read) and all(
        _READ_ALONE.match(character) or reading(character) for character in read
    )


@lru_cache(maxsize=CACHED_WORDS)
def as_written(text: str) -> tuple[str, ...]:
    """What is compared of a text that has no whole reading: the characters of its plain form, a number as one by value.

    >>> as_written("Alice"), as_written("百人") == as_written("100人") == ("100", "人")
    (('a', 'l', 'i', 'c', 'e'), True)
    """
    plain = strip_subword_marks(text)
    if (parsed := number(plain)) is not None:
        return (str(parsed.value), *plain_form(parsed.counter))
    return tuple(plain_form(plain))


@lru_cache(maxsize=CACHED_WORDS)
def _word_reading(text: str, in_context: str, is_name: bool) -> Reading:
    plain = strip_subword_marks(text)
    numbered = number_readings(plain)
    if listed := _names().get(plain_form(plain)):
        return Reading(tuple(dict.fromkeys((*listed, *numbered))), LIST)
    if numbered and in_context and is_name:
        return Reading(tuple(dict.fromkeys((in_context, *numbered))), UNIDIC)
    if numbered:
        return Reading(tuple(dict.fromkeys(filter(None, (*numbered, in_context)))), NUMBER)
    if _KANA.fullmatch(plain) and (kana := hiragana_only(plain)) and kana != "ー":
        is_katakana = _KATAKANA.fullmatch(plain) is not None
        return Reading(tuple(dict.fromkeys((kana, in_small_kana(kana) if is_katakana else kana))), SURFACE)
    japanese = japanese_kanji(plain)
    if is_name and not is_read_whole(japanese):
        japanese = plain_form(plain)  # rare variants, which no dictionary reads
    by_pykakasi = reading(japanese) if is_read_whole(japanese) else ""
    as_name = readings_of_name(usual_kanji(plain)) if is_name else ()
    if in_context and is_read_whole(plain):
        return Reading(tuple(dict.fromkeys(filter(None, (in_context, by_pykakasi, *as_name)))), UNIDIC)
    if by_pykakasi:
        source = PYKAKASI if usual_kanji(plain) == plain == japanese else VARIANT
        return Reading(tuple(dict.fromkeys((by_pykakasi, *as_name))), source)
    if romaji := kana_of_plain_romaji("".join(plain.split())):
        return Reading(romaji, ROMAJI)
    return Reading((), SURFACE)


@lru_cache(maxsize=1)
def _names() -> dict[str, tuple[str, ...]]:
    """The readings of the name lists by the plain form of the name."""
    lines = [
        line.split("\t")
        for name in ("name_readings.tsv", "foreign_names.tsv")
        for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    return {plain_form(name): tuple(map(hiragana_only, readings.split())) for name, readings in lines}
