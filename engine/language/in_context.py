"""How words are read where they stand: what MeCab, which reads each word by itself, gets wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from engine.language.numerals import end_of_number
from engine.language.readings.counters import counter_kana
from engine.language.readings.numbers import number_readings
from engine.language.readings.variants import usual_kanji, without_selectors
from engine.language.tagged_word import TaggedWord

LIST, HOMOGRAPHS = (Path(__file__).parent / name for name in ("readings_in_context.tsv", "homographs.tsv"))
ANY_PLACE, PLACE = "<地名>", "地名"
UNCHANGED, NAME, WORD = "-", "name", "word"
NEIGHBOURS = 5  # words before and after a homograph that tell how it is read
SEPARATORS = frozenset(",，、・")  # within a number, without a reading


@dataclass(frozen=True)
class Phrase:
    """Words in a row and the reading of each there, UNCHANGED for that of MeCab.

    kind: NAME where they are one name together, WORD where they are a word in which no number counts, else "".
    """

    words: tuple[str, ...]
    readings: tuple[str, ...]
    kind: str


@dataclass(frozen=True)
class Homograph:
    """A reading of a word, and the words of which one must stand before it, and one after; any where there are none.

    A condition is one word within NEIGHBOURS words, or a run of words next to it, which begins with "".
    """

    reading: str
    before: tuple[tuple[str, ...], ...]
    after: tuple[tuple[str, ...], ...]


def read_in_context(text: str, words: Sequence[TaggedWord]) -> tuple[TaggedWord, ...]:
    """The words with their readings in this text: those of the lists, and those of numbers with their counters.

    A word without a reading (digits) stays without one. A number whose reading cannot be divided among its words stays
    as MeCab reads it.
    """
    readings = _of_homographs(text, words)
    phrases = list(phrases_in(text, words))
    in_phrases = {first + offset for first, phrase in phrases for offset in range(len(phrase.words))}
    for first, phrase in phrases:
        for offset, kana in enumerate(phrase.readings):
            readings[first + offset] = readings[first + offset] if kana == UNCHANGED else kana
    index = 0
    while index < len(words):
        end = end_of_number(text, words, index)
        if end > index + 1 and in_phrases.isdisjoint(range(index, end)):
            span = text[words[index].start : words[end - 1].end]
            read = [
                place for place in range(index, end) if text[words[place].start : words[place].end] not in SEPARATORS
            ]
            for place, kana in zip(
                read, _divided(number_readings(span), [readings[place] for place in read]), strict=True
            ):
                readings[place] = kana
        index = max(end, index + 1)
    return tuple(
        word if kana == word.reading else replace(word, reading=kana)
        for word, kana in zip(words, readings, strict=True)
    )


def _of_homographs(text: str, words: Sequence[TaggedWord]) -> list[str]:
    """The readings of the words, those of homographs by their neighbours."""
    readings = [word.reading for word in words]
    surfaces = [text[word.start : word.end] for word in words]
    for index, surface in enumerate(surfaces):
        for homograph in _homographs().get(surface, ()):
            before = surfaces[max(index - NEIGHBOURS, 0) : index]
            after = surfaces[index + 1 : index + 1 + NEIGHBOURS]
            if _is_beside(homograph.before, before[::-1]) and _is_beside(homograph.after, after):
                readings[index] = homograph.reading
                break
    return readings


def _is_beside(conditions: Sequence[tuple[str, ...]], neighbours: Sequence[str]) -> bool:
    """Whether one of the conditions is met by the neighbours of a word, the nearest first."""
    return not conditions or any(
        tuple(neighbours[: len(run) - 1]) == run[1:] if run[0] == "" else run[0] in neighbours for run in conditions
    )


@lru_cache(maxsize=1)
def _homographs() -> dict[str, tuple[Homograph, ...]]:
    """The homographs of the list with their readings, in its order."""
    found: dict[str, list[Homograph]] = {}
    for line in HOMOGRAPHS.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            word, kana, *conditions = line.split("\t")
            before, after = (
                tuple(tuple(run.split("+")) for run in words.split()) if words != UNCHANGED else ()
                for words in conditions
            )
            found.setdefault(word, []).append(Homograph(kana, before, after))
    return {word: tuple(readings) for word, readings in found.items()}


def phrases_in(text: str, words: Sequence[TaggedWord]) -> Iterator[tuple[int, Phrase]]:
    """The phrases of the list, the longest first where several begin at a word, with the number of their first word."""
    surfaces = [usual_kanji(without_selectors(text[word.start : word.end])) for word in words]
    index = 0
    while index < len(words):
        starts = [
            *_phrases().get(surfaces[index], ()),
            *(_phrases().get(ANY_PLACE, ()) if PLACE in words[index].part_of_speech else ()),
        ]
        found = max(
            (phrase for phrase in starts if _fits(phrase, surfaces, index)),
            key=lambda phrase: len(phrase.words),
            default=None,
        )
        if found:
            yield index, found
        index += len(found.words) if found else 1


def _fits(phrase: Phrase, surfaces: Sequence[str], index: int) -> bool:
    return tuple(surfaces[index + 1 : index + len(phrase.words)]) == phrase.words[1:]


def _divided(wholes: Sequence[str], readings: Sequence[str]) -> list[str]:
    """The reading of a number divided among its words, of which all but one or two keep theirs.

    >>> _divided(("さんびゃくにん",), ("さん", "ひゃく", "にん"))
    ['さん', 'びゃく', 'にん']
    >>> _divided(("さんびゃくにん",), ("さん", "ひゃく", ""))  # as they are where the last has none
    ['さん', 'ひゃく', '']
    >>> _divided(("さんぼん",), ("さん", "ぽん")), _divided(("じゅっぷん",), ("じゅう", "ふん"))
    (['さん', 'ぼん'], ['じゅっ', 'ぷん'])
    """
    for whole in wholes:
        first, last, rest = 0, len(readings), whole
        while first < last - 1 and readings[first] and rest.startswith(readings[first]):
            rest = rest.removeprefix(readings[first])
            first += 1
        while first < last - 1 and readings[last - 1] and rest.endswith(readings[last - 1]):
            rest = rest.removesuffix(readings[last - 1])
            last -= 1
        parts = [rest] if last - first == 1 else _number_and_counter(rest, readings[last - 1]) * (last - first == 2)
        if parts and all(parts):
            return [
                *readings[:first],
                *(kana if own else "" for own, kana in zip(readings[first:last], parts, strict=True)),
                *readings[last:],
            ]
    return list(readings)


def _number_and_counter(whole: str, counter: str) -> list[str]:
    """A reading cut before its counter, which may begin otherwise than it is read alone; [] where it has none."""
    if not counter:
        return []
    ending = next((kana for kana in counter_kana(counter) if whole.endswith(kana)), "")
    return [whole.removesuffix(ending), ending] if ending else []


@lru_cache(maxsize=1)
def _phrases() -> dict[str, tuple[Phrase, ...]]:
    """The phrases of the list by their first word."""
    found: dict[str, list[Phrase]] = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            words, readings, *kind = line.split("\t")
            phrase = Phrase(tuple(words.split()), tuple(readings.split()), "".join(kind))
            found.setdefault(phrase.words[0], []).append(phrase)
    return {first: tuple(phrases) for first, phrases in found.items()}
