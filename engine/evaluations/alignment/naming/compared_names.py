"""How alike two names are, apart from where they stand: by their readings, their numbers, or as they are written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from engine.language.counterparts import COUNTERPART, texts_as_name
from engine.language.frames import BEFORE_NAMES, KINDS_OF_PLACE
from engine.language.names import NUMERAL
from engine.language.parts_of_speech import tagged_words
from engine.language.readings.abbreviations import abbreviates, is_listed, may_be_short
from engine.language.readings.dictionary_names import are_known_as_one
from engine.language.readings.likeness import sound_distance
from engine.language.readings.numbers import is_counter, number, number_readings, quantity
from engine.language.readings.sounds import sounds, without_long_vowels
from engine.language.readings.spellings import kana_of_initials, kana_of_spelling
from engine.language.readings.variants import plain_form
from engine.language.readings.words import OWN, ROMAJI, SURFACE, Reading, as_written
from engine.measures.name_agreement import best_agreement
from engine.measures.reading_penalty import Agreement

FOREIGN = frozenset({"KATAKANA", "LATIN", "KATAKANA-HIRAGANA"})  # scripts of names that are spelt in several ways
ABBREVIATED = 0.97  # M of a name and what is short for it
HOMOPHONE = 0.75  # M of two names that are read alike, but spelt with other kanji, at most
LONGER_NAME = 0.5  # of a name and one that holds it, at most: 西船橋, 船橋
MASS_AND_LENGTH, _KILO = {"グラム", "メートル"}, re.compile("(?:キロ|ミリ)$")
TIMES = {"秒", "か月"}  # dimensions that no number of days makes one, but both of which say how long
LEAST_GUESS = 0.6  # M below which a guess by foreign spelling says nothing
CACHED_PAIRS = 50_000


@dataclass(frozen=True)
class NameAsWritten:
    """A name apart from where it stands: all that a comparison needs."""

    text: str
    kind: str
    reading: Reading


@dataclass(frozen=True)
class Alike:
    """How alike two names are, and how each is read in the comparison; "" where they are compared as written."""

    agreement: Agreement
    reading: str
    other_reading: str


def alike(own: NameAsWritten, other: NameAsWritten, *, by_sound: bool) -> Alike | None:
    """How alike two names are; None where the one cannot be the other. The same in either order."""
    if (own.text, own.kind) <= (other.text, other.kind):
        return _alike(own, other, by_sound)
    found = _alike(other, own, by_sound)
    return found and Alike(found.agreement, found.other_reading, found.reading)


@lru_cache(maxsize=CACHED_PAIRS)
def _alike(own: NameAsWritten, other: NameAsWritten, by_sound: bool) -> Alike | None:
    is_number = own.kind == NUMERAL, other.kind == NUMERAL
    if own.kind == other.kind == COUNTERPART and _is_counted(own.text) and _is_counted(other.text):
        return _of_numbers(own.text, other.text, is_placed=True)
    if all(is_number) and OWN not in (own.reading.source, other.reading.source):
        return _of_numbers(own.text, other.text)
    texts = [
        texts_as_name(name.text, name.kind, name.reading) if is_number[0] != is_number[1] else name.reading.texts
        for name in (own, other)
    ]
    if not any(is_number) and plain_form(own.text) == plain_form(other.text):
        return Alike(Agreement(0, 1, 1.0), *(next(iter(read), "") for read in texts))
    found = _by_reading(own, other, texts, by_sound=by_sound)
    if any(is_number):
        # a number is no other name, unless it is read like it (一人 and ひとり)
        return found if found is not None and (is_number[0] == is_number[1] or found.agreement.value == 1) else None
    if (found is None or found.agreement.value < ABBREVIATED) and (
        _is_short_for(own.text, other.text) or are_known_as_one(own.text, other.text)
    ):
        longest = found.agreement.longest if found else 1
        return Alike(_agreement_of(longest, ABBREVIATED), *(next(iter(read), "") for read in texts))
    if found is None and _is_known_otherwise(own.text, other.text):
        return Alike(_agreement_of(1, LONGER_NAME), *(next(iter(read), "") for read in texts))
    return found


def _is_known_otherwise(own: str, other: str) -> bool:
    """Whether one of two names is initials of which a list says what they stand for, and the other one is in kanji."""
    return any(
        _scripts(initials) == {"LATIN"} and _scripts(name) == {"CJK"} and len(name) > 2 and is_listed(initials)
        for initials, name in ((own, other), (other, own))
    )


def _of_numbers(own: str, other: str, *, is_placed: bool = False) -> Alike | None:
    """Numbers by value; None where their dimensions differ, unless they stand in one another's place."""
    numbers = number(own), number(other)
    if numbers[0] is None or numbers[1] is None:
        return None
    (value, dimension), (other_value, other_dimension) = quantity(numbers[0]), quantity(numbers[1])
    if {dimension, other_dimension} == MASS_AND_LENGTH and any(map(_KILO.search, (own, other))):
        dimension = other_dimension  # 5キロ beside 500グラム
    if dimension != other_dimension and not is_placed and {dimension, other_dimension} != TIMES:
        return None
    is_same = (value, dimension) == (other_value, other_dimension)
    return Alike(
        Agreement(int(not is_same), 1, float(is_same)),
        *(next(iter(number_readings(text)), "") for text in (own, other)),
    )


def _is_counted(text: str) -> bool:
    """Whether a text is a number with a counter that can be read: 三割, but not 三菱."""
    parsed = number(text)
    return parsed is not None and is_counter(parsed.counter)


def _by_reading(
    own: NameAsWritten, other: NameAsWritten, texts: Sequence[tuple[str, ...]], *, by_sound: bool
) -> Alike | None:
    """By their nearest readings, or as they are written where one has none and their scripts are alike."""
    scripts = _scripts(own.text), _scripts(other.text)
    is_latin = [script == {"LATIN"} for script in scripts]
    is_guess = False
    if is_latin[0] != is_latin[1]:
        texts = [
            _with_spelling(name.text, read) if latin else read
            for name, read, latin in zip((own, other), texts, is_latin, strict=True)
        ]
        is_guess = (own, other)[is_latin.index(True)].reading.source == SURFACE
    if all(texts):
        # Romaji leaves long vowels out of Japanese names, but tells Ohno from Ono.
        is_romaji = (own.reading.source == ROMAJI) != (other.reading.source == ROMAJI)
        is_foreign = by_sound and all(script <= FOREIGN for script in scripts) and not all(is_latin)
        spelt = [
            [_sounding(text, by_sound=by_sound and not is_foreign, is_romaji=is_romaji) for text in read_as]
            for read_as in texts
        ]
        found = best_agreement(spelt[0], spelt[1], by=partial(_by_sound, is_foreign=is_foreign))
        agreement, readings = found.agreement, (texts[0][found.own], texts[1][found.other])
        if scripts == ({"CJK"}, {"CJK"}) and OWN not in (own.reading.source, other.reading.source):
            most = _most_of_kanji(own.text, other.text)
            agreement = agreement if agreement.value <= most else _agreement_of(agreement.longest, most)
        if is_guess and agreement.value < HOMOPHONE:  # a guess never says that it is another name
            if agreement.value < LEAST_GUESS:
                return None
            agreement = _agreement_of(agreement.longest, HOMOPHONE)
        return Alike(agreement, *readings)
    if scripts[0].isdisjoint(scripts[1]):
        return None  # Путин may be プーチン or not: nothing says how the one is read, nor are they written alike
    return Alike(best_agreement([as_written(own.text)], [as_written(other.text)]).agreement, "", "")


def _with_spelling(text: str, readings: tuple[str, ...]) -> tuple[str, ...]:
    """The readings of a name in Latin letters, with what its letters, or else its spelling, may sound like."""
    return (*readings, *filter(None, (kana_of_initials(text) or kana_of_spelling(text),)))


def _agreement_of(longest: int, value: float) -> Agreement:
    return Agreement((1 - value) * longest, longest, value)


def _most_of_kanji(own: str, other: str) -> float:
    """How alike two names that are spelt with other kanji can be: 阿部 and 安部, 西船橋 and 船橋."""
    short, long = sorted(map(plain_form, (own, other)), key=len)
    if long[:-1] == short[:-1] and {long[-1], short[-1]} <= KINDS_OF_PLACE:
        return LONGER_NAME  # 岐阜県, 岐阜市
    is_within = len(long) == len(short) + 1 and long.endswith(short) and long[0] in BEFORE_NAMES
    return LONGER_NAME if is_within else HOMOPHONE


def _by_sound(own: Sequence[str], other: Sequence[str], *, is_foreign: bool) -> Agreement:
    distance, longest = sound_distance("".join(own), "".join(other), is_foreign=is_foreign)
    return Agreement(distance, longest, 1 - distance / longest if longest else 1.0)


def _is_short_for(own: str, other: str) -> bool:
    if not may_be_short(own, other):
        return False  # before MeCab is asked
    return abbreviates(own, other, _words(own), _words(other))


@lru_cache(maxsize=CACHED_PAIRS)
def _words(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((text[word.start : word.end], word.reading) for word in tagged_words(text))


@lru_cache(maxsize=CACHED_PAIRS)
def _scripts(text: str) -> set[str]:
    """The scripts of a name's letters, by their names in Unicode: LATIN, CYRILLIC, KATAKANA, CJK."""
    return {unicodedata.name(letter, "?").split()[0] for letter in plain_form(text) if letter.isalpha()}


@lru_cache(maxsize=CACHED_PAIRS)
def _sounding(text: str, *, by_sound: bool, is_romaji: bool) -> str:
    return without_long_vowels(sounds(text)) if is_romaji else sounds(text) if by_sound else text
