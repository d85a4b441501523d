"""The names of all sentences of a run, and which name of the other sentence each is most alike by reading."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from engine.language.counterparts import BEFORE_NAMES, texts_as_name, with_counterparts
from engine.language.names import NUMERAL
from engine.language.parts_of_speech import tagged_words
from engine.language.readings.abbreviations import abbreviates
from engine.language.readings.likeness import sound_distance
from engine.language.readings.numbers import number, number_readings, quantity
from engine.language.readings.sounds import sounds, without_long_vowels
from engine.language.readings.spellings import kana_of_initials, kana_of_spelling
from engine.language.readings.variants import plain_form
from engine.language.readings.words import OWN, ROMAJI, SURFACE, Reading, as_written
from engine.measures.name_agreement import BestAgreement, best_agreement
from engine.measures.reading_penalty import Agreement

NO_NAME = -1
FOREIGN = frozenset({"KATAKANA", "LATIN", "KATAKANA-HIRAGANA"})  # scripts of names that are spelt in several ways
ABBREVIATED = 0.97  # M of a name and what is short for it
HOMOPHONE = 0.75  # M of two names that are read alike, but spelt with other kanji
LONGER_NAME = 0.5  # of a name and one that holds it: 西船橋, 船橋
LEAST_GUESS = 0.6  # M below which a guess by foreign spelling says nothing
SAME_SPELLING = BestAgreement(Agreement(0, 1, 1.0), 0, 0)
SEPARATOR = "|"
# Of each token: the number of its name in the sentence, the name as it is written, its kind, readings and their source.
NAME_TEXTS = ("name_text", "name_kind", "name_readings", "name_source")


@dataclass(frozen=True)
class NameAsWritten:
    """A name apart from where it stands: all that a comparison needs."""

    text: str
    kind: str
    reading: Reading


@dataclass(frozen=True, eq=False)
class Names:
    """The names of one model's sentences, in order.

    of_token: int (n_tokens,), the name of each token, -1 for none. sentence: int (n_names,). name: int (n_names,), the
    number of each among `different`, the different names.
    """

    of_token: np.ndarray
    sentence: np.ndarray
    name: np.ndarray
    different: list[NameAsWritten]


@dataclass(frozen=True, eq=False)
class NameMatches:
    """Of each name the counterpart that it is most alike; (n_names,) each.

    counterpart: its number, -1 where the other sentence has none. agreement, distance: nan there. reading: how the name
    is read in the comparison; "" where it is compared as it is written.
    """

    counterpart: np.ndarray
    agreement: np.ndarray
    distance: np.ndarray
    reading: np.ndarray


def name_columns(text: str, other: str, spans: np.ndarray, special: np.ndarray) -> dict[str, Any]:
    """The name columns of the tokens of one sentence; `other` is the other sentence of the pair."""
    names = with_counterparts(text, other)
    of_token = np.full(len(spans), NO_NAME)
    for index, name in enumerate(names):
        of_token[(spans[:, 0] < name.end) & (spans[:, 1] > name.start) & ~special] = index
    texts = [
        (text[name.start : name.end], name.kind, SEPARATOR.join(name.reading.texts), name.reading.source)
        for name in names
    ]
    by_token = [texts[index] if index >= 0 else ("",) * len(NAME_TEXTS) for index in of_token.tolist()]
    return (
        {"name": of_token, **dict(zip(NAME_TEXTS, zip(*by_token, strict=True), strict=True))}
        if by_token
        else {"name": of_token, **{column: () for column in NAME_TEXTS}}
    )


def names_of_tokens(table: pd.DataFrame, sentence: np.ndarray, sentences: Sequence[str]) -> Names:
    """The names that the tokens of a table belong to.

    A table of an earlier version has no names: they are looked up in `sentences`, which takes MeCab's time.
    """
    if "name" not in table or table["name"].isna().any():
        table = pd.DataFrame(_looked_up(table, sentence, sentences))
    local = table["name"].to_numpy(dtype=np.int64)
    begins = (
        np.flatnonzero((local >= 0) & np.r_[True, (local[1:] != local[:-1]) | (sentence[1:] != sentence[:-1])])
        if len(local)
        else np.zeros(0, dtype=np.int64)
    )
    of_token = np.full(len(local), NO_NAME)
    ends = np.append(begins[1:], len(local))
    if len(begins):
        after = np.arange(begins[0], len(local))
        in_name = np.repeat(np.arange(len(begins)), ends - begins)  # of the tokens from the first name on
        of_token[after] = np.where(local[after] >= 0, in_name, NO_NAME)
    keys = pd.MultiIndex.from_arrays([table[column].to_numpy()[begins] for column in NAME_TEXTS])
    codes, different = keys.factorize()
    names = [
        NameAsWritten(text, kind, Reading(tuple(readings.split(SEPARATOR)) if readings else (), source))
        for text, kind, readings, source in different
    ]
    return Names(of_token, sentence[begins], np.asarray(codes, dtype=np.int64), names)


def name_matches(names: Names, n_sentences: int, *, by_sound: bool) -> NameMatches:
    """The counterpart of each name: of the names of the other sentence that it could be, the one most alike."""
    counts = np.bincount(names.sentence, minlength=n_sentences)
    starts = np.cumsum(counts) - counts
    n_others = counts[names.sentence ^ 1]  # (n_names,) names of the other sentence
    own = np.repeat(np.arange(len(names.name)), n_others)  # (n_pairs of names,)
    within = np.arange(len(own)) - np.repeat(np.cumsum(n_others) - n_others, n_others)
    other = starts[names.sentence ^ 1][own] + within
    n_different = len(names.different)
    codes, of_pair = np.unique(names.name[own] * n_different + names.name[other], return_inverse=True)
    compared = [
        _compared(names.different[code // n_different], names.different[code % n_different], by_sound=by_sound)
        for code in codes.tolist()
    ]
    value = (
        np.array([pair[0].agreement.value if pair else -1.0 for pair in compared])[of_pair]
        if compared
        else (np.zeros(0))
    )
    best = np.full(len(names.name), -1.0)
    np.maximum.at(best, own, value)
    is_best = np.flatnonzero((value == best[own]) & (value >= 0))
    first = is_best[np.r_[True, own[is_best][1:] != own[is_best][:-1]]] if len(is_best) else is_best
    counterpart = np.full(len(names.name), NO_NAME)
    counterpart[own[first]] = other[first]
    distance, agreement = (np.full(len(names.name), np.nan) for _ in range(2))
    reading = np.full(len(names.name), "", dtype=object)
    for line in first.tolist():
        found, own_reading = compared[of_pair[line]] or (None, "")
        if found is not None:
            distance[own[line]], agreement[own[line]] = found.agreement.distance, found.agreement.value
            reading[own[line]] = own_reading
    return NameMatches(counterpart, agreement, distance, reading)


def _compared(own: NameAsWritten, other: NameAsWritten, *, by_sound: bool) -> tuple[BestAgreement, str] | None:
    """The agreement of two names, and how the first is read in it; None where the one cannot be the other."""
    numbers = [number(name.text) if name.kind == NUMERAL else None for name in (own, other)]
    if numbers[0] is not None and numbers[1] is not None and own.reading.source != OWN != other.reading.source:
        (value, dimension), (other_value, other_dimension) = map(quantity, numbers)
        if dimension != other_dimension:
            return None
        same = value == other_value
        usual = next(iter(number_readings(own.text)), "")
        return best_agreement(["1"], ["1" if same else "0"]), usual
    is_number = own.kind == NUMERAL, other.kind == NUMERAL
    texts = [
        texts_as_name(name.text, name.kind, name.reading) if is_number[0] != is_number[1] else name.reading.texts
        for name in (own, other)
    ]
    scripts = _scripts(own.text), _scripts(other.text)
    if not any(is_number) and plain_form(own.text) == plain_form(other.text):
        return SAME_SPELLING, next(iter(texts[0]), "")
    is_latin = [script == {"LATIN"} for script in scripts]
    if is_latin[0] != is_latin[1]:
        texts = _with_spellings(own, other, texts, is_latin)
    is_guess = is_latin[0] != is_latin[1] and any(
        name.reading.source == SURFACE and latin for name, latin in zip((own, other), is_latin, strict=True)
    )
    if all(texts):
        # Romaji leaves long vowels out of Japanese names, but tells Ohno from Ono.
        is_romaji = (own.reading.source == ROMAJI) != (other.reading.source == ROMAJI)
        is_foreign = by_sound and all(script <= FOREIGN for script in scripts) and not all(is_latin)
        spelt = [
            [_sounding(text, by_sound=by_sound and not is_foreign, is_romaji=is_romaji) for text in read_as]
            for read_as in texts
        ]
        found = best_agreement(*spelt, by=partial(_alike, is_foreign=is_foreign))
        read = texts[0][found.own]
        if scripts == ({"CJK"}, {"CJK"}) and OWN not in (own.reading.source, other.reading.source):
            found = replace(found, agreement=_at_most(found.agreement, _most_of_kanji(own.text, other.text)))
    elif scripts[0].isdisjoint(scripts[1]):
        # Путин may be プーチン or not: nothing says how the one is read, nor are they written alike
        found, read = None, ""
    else:
        found, read = best_agreement([as_written(own.text)], [as_written(other.text)]), ""
    if (
        not any(is_number)
        and (found is None or found.agreement.value < ABBREVIATED)
        and _is_short_for(own.text, other.text)
    ):
        longest = found.agreement.longest if found else 1
        return BestAgreement(Agreement((1 - ABBREVIATED) * longest, longest, ABBREVIATED), 0, 0), next(
            iter(texts[0]), ""
        )
    if found is None or (is_guess and found.agreement.value < LEAST_GUESS):
        return None
    if is_number[0] != is_number[1] and found.agreement.value < 1:
        return None  # a number is no other name, unless it is read like it (一人 and ひとり)
    return found, read


def _at_most(agreement: Agreement, most: float) -> Agreement:
    if agreement.value <= most:
        return agreement
    return Agreement((1 - most) * agreement.longest, agreement.longest, most)


def _most_of_kanji(own: str, other: str) -> float:
    """How alike two names that are spelt with other kanji can be: 阿部 and 安部, 西船橋 and 船橋."""
    short, long = sorted(map(plain_form, (own, other)), key=len)
    is_within = len(long) == len(short) + 1 and long.endswith(short) and long[0] in BEFORE_NAMES
    return LONGER_NAME if is_within else HOMOPHONE


def _with_spellings(
    own: NameAsWritten, other: NameAsWritten, texts: list[tuple[str, ...]], is_latin: list[bool]
) -> list[tuple[str, ...]]:
    """The readings of two names of which one is in Latin letters, that one with what its spelling may sound like."""
    return [
        (*read, *filter(None, (kana_of_initials(name.text) or kana_of_spelling(name.text),))) if latin else read
        for name, read, latin in zip((own, other), texts, is_latin, strict=True)
    ]


def _alike(own: Sequence[str], other: Sequence[str], *, is_foreign: bool) -> Agreement:
    distance, longest = sound_distance("".join(own), "".join(other), is_foreign=is_foreign)
    return Agreement(distance, longest, max(0.0, 1 - distance / longest) if longest else 1.0)


def _is_short_for(own: str, other: str) -> bool:
    words = [tuple((text[word.start : word.end], word.reading) for word in tagged_words(text)) for text in (own, other)]
    return abbreviates(own, other, *words)


def _scripts(text: str) -> set[str]:
    """The scripts of a name's letters, by their names in Unicode: LATIN, CYRILLIC, KATAKANA, CJK."""
    return {unicodedata.name(letter, "?").split()[0] for letter in plain_form(text) if letter.isalpha()}


def _sounding(text: str, *, by_sound: bool, is_romaji: bool) -> str:
    sounding = sounds(text) if by_sound else text
    return without_long_vowels(sounds(text)) if is_romaji else sounding


def _looked_up(table: pd.DataFrame, sentence: np.ndarray, sentences: Sequence[str]) -> dict[str, Any]:
    """The name columns of a table that has none."""
    spans = table[["start", "end"]].to_numpy()
    special = table["special"].to_numpy(dtype=bool)
    first = np.searchsorted(sentence, np.arange(len(sentences) + 1))
    columns: dict[str, list[Any]] = {name: [] for name in ("name", *NAME_TEXTS)}
    for index, text in enumerate(sentences):
        tokens = slice(first[index], first[index + 1])
        for name, values in name_columns(text, sentences[index ^ 1], spans[tokens], special[tokens]).items():
            columns[name] += list(values)
    return columns
