"""The names of a run with a list of readings of one's own: its entries are names, and so is what is read like them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd

from engine.evaluations.alignment.naming.compared_names import NameAsWritten
from engine.evaluations.alignment.naming.names import NO_NAME, Names
from engine.evaluations.alignment.token_table import READING_COLUMNS
from engine.language.counterparts import COUNTERPART, spans_read_as
from engine.language.names import is_within_longer
from engine.language.readings.hiragana import hiragana_only
from engine.language.readings.own import Own
from engine.language.readings.sounds import sounds
from engine.language.readings.variants import plain_form
from engine.language.readings.words import OWN, UNIDIC, Reading
from engine.messages.message import named

OWN_LIST = named("own list")  # the kind of such a name
CACHED_SOUNDS = 10_000
Place = tuple[int, int, int, NameAsWritten]  # the sentence, begin and end there, and the name


def with_own_names(
    names: Names, sentence: np.ndarray, table: pd.DataFrame, sentences: Sequence[str], own: Own
) -> Names:
    """The same with the readings of a list of one's own, whose entries are names wherever a sentence has them.

    Not where they are a part of a longer name or word: not 東 in 東京. In the other sentence of the pair the words
    that are read like an entry are its counterpart, as those of names that MeCab finds are.
    """
    if not own:
        return names
    different = [
        replace(name, reading=Reading(own[form], OWN)) if (form := plain_form(name.text)) in own else name
        for name in names.different
    ]
    names = replace(names, different=different)
    places = [
        (index, start, end, NameAsWritten(text, OWN_LIST, Reading(own[plain_form(text)], OWN)))
        for index, start, end, text in own.found_in(sentences)
        if not is_within_longer(sentences[index], start, end)
    ]
    names = _with_names_at(names, sentence, table, places)
    return _with_names_at(names, sentence, table, _counterparts(names, sentence, table, sentences))


def _counterparts(names: Names, sentence: np.ndarray, table: pd.DataFrame, sentences: Sequence[str]) -> list[Place]:
    """The words that are read like a name of the list in the other sentence, where no name of the sentence is."""
    is_own = np.array([name.reading.source == OWN for name in names.different], dtype=bool)[names.name]
    others = np.unique(names.sentence[is_own]).tolist()
    begins = np.searchsorted(names.sentence, np.arange(len(sentences) + 1))
    heard = [_heard(name) for name in names.different]
    spans = _spans(names, table)
    of_words = table[READING_COLUMNS["unidic", "word"]].cat
    readings = {kana for name in names.different if name.reading.source == OWN for kana in name.reading.texts}
    read_so = np.isin(of_words.codes, np.flatnonzero(of_words.categories.isin(readings)))
    have_word = set(sentence[read_so].tolist())
    found: list[Place] = []
    for other in others:
        index = other ^ 1
        here, there = (range(begins[of], begins[of + 1]) for of in (index, other))
        known = frozenset[str]().union(*(heard[names.name[name]] for name in here))
        wanted = [heard[names.name[name]] for name in there if is_own[name] and not known & heard[names.name[name]]]
        if not wanted or not (index in have_word or _has_kana(sentences[index], frozenset[str]().union(*wanted))):
            continue  # before MeCab is asked
        elsewhere = frozenset[str]().union(*(heard[names.name[name]] for name in there))
        kept = [spans[name] for name in here if elsewhere & heard[names.name[name]]]
        found += [
            (index, start, end, NameAsWritten(sentences[index][start:end], COUNTERPART, Reading((kana,), UNIDIC)))
            for start, end, kana in spans_read_as(sentences[index], frozenset[str]().union(*wanted), kept)
        ]
    return found


def _has_kana(text: str, wanted: frozenset[str]) -> bool:
    """Whether the kana of a text sound like one of the readings somewhere, words apart."""
    spoken = sounds(hiragana_only(text))
    return any(sound in spoken for sound in wanted)


def _heard(name: NameAsWritten) -> frozenset[str]:
    return frozenset(map(_sounds, name.reading.texts))


@lru_cache(maxsize=CACHED_SOUNDS)
def _sounds(kana: str) -> str:
    return sounds(kana)


def _spans(names: Names, table: pd.DataFrame) -> list[tuple[int, int]]:
    """Where each name begins and ends in its sentence, by its tokens."""
    chosen = np.flatnonzero(names.of_token >= 0)
    first = np.full(len(names.name), len(names.of_token))
    last = np.full(len(names.name), -1)
    np.minimum.at(first, names.of_token[chosen], chosen)
    np.maximum.at(last, names.of_token[chosen], chosen)
    return list(zip(table["start"].to_numpy()[first].tolist(), table["end"].to_numpy()[last].tolist(), strict=True))


def _with_names_at(names: Names, sentence: np.ndarray, table: pd.DataFrame, places: Sequence[Place]) -> Names:
    """The same with further names, which take the tokens that they touch from the names that had them."""
    if not places:
        return names
    start, end, special = (table[column].to_numpy() for column in ("start", "end", "special"))
    first = np.searchsorted(sentence, np.arange(sentence[-1] + 2))
    of_token, number_of = names.of_token.copy(), {name: code for code, name in enumerate(names.different)}
    added: list[tuple[int, int]] = []
    for index, begin, last, name in places:
        tokens = np.arange(first[index], first[index + 1])
        touched = tokens[(start[tokens] < last) & (end[tokens] > begin) & ~special[tokens]]
        if not len(touched):
            continue
        of_token[touched] = len(names.sentence) + len(added)
        added.append((index, number_of.setdefault(name, len(number_of))))
    return _renumbered(
        of_token,
        np.r_[names.sentence, [index for index, _ in added]].astype(np.int64),
        np.r_[names.name, [code for _, code in added]].astype(np.int64),
        list(number_of),
    )


def _renumbered(of_token: np.ndarray, sentence: np.ndarray, name: np.ndarray, different: list[NameAsWritten]) -> Names:
    """Names numbered in the order of their first tokens; those that lost all of their tokens are left out."""
    kept, first = np.unique(of_token, return_index=True)
    kept, first = kept[kept >= 0], first[kept >= 0]
    order = kept[np.argsort(first, kind="stable")]
    number_of = np.full(len(sentence) + 1, NO_NAME)
    number_of[order] = np.arange(len(order))  # the last stays for tokens of no name
    return Names(number_of[of_token], sentence[order], name[order], different)
