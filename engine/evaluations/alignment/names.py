"""The names of all sentences of a run, and which name of the other sentence each is most alike by reading."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine.language.counterparts import texts_as_name, with_counterparts
from engine.language.names import NUMERAL
from engine.language.readings.numbers import number, number_readings
from engine.language.readings.sounds import sounds, without_long_vowels
from engine.language.readings.variants import plain_form
from engine.language.readings.words import OWN, ROMAJI, Reading, as_written
from engine.measures.name_agreement import BestAgreement, best_agreement

NO_NAME = -1
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
        if numbers[0].counter != numbers[1].counter:
            return None
        same = numbers[0].value == numbers[1].value
        usual = next(iter(number_readings(own.text)), "")
        return best_agreement(["1"], ["1" if same else "0"]), usual
    is_number = own.kind == NUMERAL, other.kind == NUMERAL
    texts = [
        texts_as_name(name.text, name.kind, name.reading) if is_number[0] != is_number[1] else name.reading.texts
        for name in (own, other)
    ]
    if all(texts):
        # Romaji leaves long vowels out of Japanese names, but tells Ohno from Ono.
        is_romaji = (own.reading.source == ROMAJI) != (other.reading.source == ROMAJI)
        spelt = [[_sounding(text, by_sound=by_sound, is_romaji=is_romaji) for text in read_as] for read_as in texts]
        found = best_agreement(*spelt)
        read = texts[0][found.own]
    elif _scripts(own.text).isdisjoint(_scripts(other.text)):
        return None  # Путин may be プーチン or not: nothing says how the one is read, nor are they written alike
    else:
        found, read = best_agreement([as_written(own.text)], [as_written(other.text)]), ""
    if is_number[0] != is_number[1] and found.agreement.value < 1:
        return None  # a number is no other name, unless it is read like it (一人 and ひとり)
    return found, read


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
