"""The counterparts of names: words of a sentence that are read like a name of the other sentence of the pair."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import islice, product

from engine.language.frames import BEFORE_NAMES, Place, one_place, places_of_names
from engine.language.names import NUMERAL, PROPER_NOUN, UNKNOWN_WORD, Name, are_japanese, names_in
from engine.language.parts_of_speech import CACHED_SENTENCES, tagged_words
from engine.language.readings.counters import is_measure
from engine.language.readings.hiragana import hiragana_only
from engine.language.readings.numbers import is_bare_number, number, number_readings, quantity
from engine.language.readings.sounds import sounds
from engine.language.readings.words import OWN, UNIDIC, Reading, word_reading
from engine.language.tagged_word import TaggedWord

COUNTERPART = "counterpart"
# Words that a counterpart of a name may consist of: さいとう is さ, い and とう where MeCab does not know it.
WORDS_OF_COUNTERPART = 5
# No name consists of these alone: particles, auxiliaries, affixes (さん, ご) and signs.
NO_COUNTERPARTS = frozenset({"助詞", "助動詞", "接頭辞", "接尾辞", "接辞", "記号", "補助記号"})
# Where a name has a kanji MeCab seldom takes these for a part of it: 太田に is not 大谷.
_GRAMMAR = frozenset({"助詞", "助動詞"})
LEAST_MORAE = 2
MOST_READINGS = 8  # of a run of words, of which several may be read in several ways
_SMALL_KANA = frozenset("ゃゅょぁぃぅぇぉゎ")
_APOSTROPHE = re.compile("[A-Za-zÀ-ɏ'’]+['’](?!s$)[A-Za-zÀ-ɏ]+")
_KANA = re.compile("[ぁ-ゖァ-ヺー]+")
_KANJI = re.compile("[々\u3400-\u9fff\uf900-\ufaff]")


@lru_cache(maxsize=CACHED_SENTENCES)
def with_counterparts(text: str, other: str) -> tuple[Name, ...]:
    """The names of a sentence, and the words of it that are read like a name of the other sentence: its counterparts.

    A name in kana may be no name to MeCab, as ひとり for 一人, several words, or a name and a particle (ひろ and と).
    Searched for are the names of `other` that no name of the sentence is read like and that have at least LEAST_MORAE.
    Names of the sentence that are read unlike any of `other` give way to a counterpart that they are a part of. A pair
    that is not Japanese (`are_japanese`) has no names.
    """
    if not are_japanese(text, other):
        return ()
    own, others, placed = _with_places(text, other, whole_names(text), whole_names(other))
    known = {sounds(kana) for name in own for kana in name.reading.texts}
    heard = {sounds(kana) for name in others for kana in name.reading.texts}
    kept = [*placed, *((name.start, name.end) for name in own if heard & set(map(sounds, name.reading.texts)))]
    numerals = [(name.start, name.end) for name in own if name.kind == NUMERAL]
    found: list[tuple[int, int, str]] = []
    # a number of the other sentence is no part of a number of this one: 四時間 of 二十四時間
    for kinds, left_alone in (((PROPER_NOUN, UNKNOWN_WORD, COUNTERPART), kept), ((NUMERAL,), [*kept, *numerals])):
        wanted = {
            sounds(kana)
            for name in others
            if name.kind in kinds and not known & set(map(sounds, name.reading.texts))
            for kana in texts_as_name(other[name.start : name.end], name.kind, name.reading)
        }
        found += spans_read_as(text, wanted, [*left_alone, *((start, end) for start, end, _ in found)])
    counterparts = [Name(start, end, COUNTERPART, Reading((kana,), UNIDIC)) for start, end, kana in found]
    replaced = {position for name in counterparts for position in range(name.start, name.end)}
    left = [name for name in own if not replaced & set(range(name.start, name.end))]
    return tuple(sorted((*left, *counterparts), key=lambda name: name.start))


def _with_places(
    text: str, other: str, own: list[Name], others: list[Name]
) -> tuple[list[Name], list[Name], list[tuple[int, int]]]:
    """The names of both sentences, with what stands in the place of a name of the other one (`frames`) as one name, and
    where these are in the first. A number that is the whole of a place stays one, beside a number of another dimension
    as a counterpart (三割, 三分)."""
    spans, other_spans = ([(name.start, name.end) for name in names] for names in (own, others))
    numerals, other_numerals = (
        [(name.start, name.end) for name in names if name.kind == NUMERAL] for names in (own, others)
    )
    places = [
        place
        for place in places_of_names(text, other, spans, other_spans)
        if not _reaches(numerals, place.start, place.end)
        and not _reaches(other_numerals, place.other_start, place.other_end)
    ]
    places = [place for place in places if not _are_as_many(text, own, other, others, place)]
    placed = [(place.start, place.end) for place in places]
    own, others = (
        _with_names_at(text, own, placed),
        _with_names_at(other, others, [(place.other_start, place.other_end) for place in places]),
    )
    if (place := one_place(text, other)) is not None:
        number = _number_at(own, place.start, place.end)
        other_number = _number_at(others, place.other_start, place.other_end)
        if number is not None and other_number is not None and _are_unlike(text, number, other, other_number):
            own, others = (
                [replace(name, kind=COUNTERPART) if name is found else name for name in names]
                for names, found in ((own, number), (others, other_number))
            )
            placed.append((number.start, number.end))
    return own, others, placed


def _are_as_many(text: str, own: Sequence[Name], other: str, others: Sequence[Name], place: Place) -> bool:
    """Whether both sides of a place are filled by names, as many on each: a surname and a given name are two."""
    inside, other_inside = (
        [name for name in names if name.start < end and name.end > start]
        for names, start, end in ((own, place.start, place.end), (others, place.other_start, place.other_end))
    )
    return (
        len(inside) == len(other_inside) > 0
        and _is_filled(inside, text[place.start : place.end])
        and _is_filled(other_inside, other[place.other_start : place.other_end])
    )


def _is_filled(names: Sequence[Name], surface: str) -> bool:
    """Whether names are all of a text but its white space."""
    return sum(name.end - name.start for name in names) == len("".join(surface.split()))


def _reaches(numerals: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a number is in a place and more of it than a beginning: 第一 is the beginning of 第一生命."""
    return any(
        first < end and last > start and not (first == start and last < end and end - last > 1)
        for first, last in numerals
    )


def _number_at(names: Sequence[Name], start: int, end: int) -> Name | None:
    """The only number that a place is a part of."""
    found = [name for name in names if name.kind == NUMERAL and name.start < end and name.end > start]
    return found[0] if len(found) == 1 and found[0].start <= start and end <= found[0].end else None


def _are_unlike(text: str, own: Name, other: str, theirs: Name) -> bool:
    """Whether two numbers differ in their dimension, and in more than what they count (二羽, 二匹)."""
    one, two = number(text[own.start : own.end]), number(other[theirs.start : theirs.end])
    if one is None or two is None:
        return False
    return quantity(one)[1] != quantity(two)[1] and (one.value != two.value or is_measure(one.counter, two.counter))


def _with_names_at(text: str, names: list[Name], spans: Sequence[tuple[int, int]]) -> list[Name]:
    """The names, with those in one of the spans as one name that fills it."""
    for start, end in spans:
        inside = [name for name in names if name.start < end and name.end > start]
        words = [word for word in tagged_words(text) if word.start < end and word.end > start]
        kana = "".join(word.reading for word in words)
        is_read = all(word.reading for word in words) and (words[0].start, words[-1].end) == (start, end)
        read = word_reading(text[start:end], kana if is_read else "", is_name=True)
        if len(inside) > 1 and _is_filled(inside, text[start:end]):  # a surname and a given name, each in several ways
            spoken = map("".join, product(*(name.reading.texts for name in inside)))
            read = replace(read, texts=tuple(dict.fromkeys((*read.texts, *islice(spoken, MOST_READINGS)))))
        name = Name(start, end, COUNTERPART, read)
        names = sorted((*(each for each in names if each not in inside), name), key=lambda each: each.start)
    return names


def whole_names(text: str) -> list[Name]:
    """The names of a sentence, those that MeCab cuts put together: 東日本 of 東 and 日本, Jun'ichi of Jun, ' and ichi.

    Put before a name are the words of BEFORE_NAMES alone. An apostrophe joins two words in Latin letters, save an s.

    >>> [(name.start, name.end, name.reading.texts) for name in whole_names("東日本のJun'ichi")]
    [(0, 3, ('ひがしにほん', 'ひがしにっぽん')), (4, 12, ('じゅんいち',))]
    """
    before = {word.end: word for word in tagged_words(text) if text[word.start : word.end] in BEFORE_NAMES}
    names: list[Name] = []
    for name in names_in(text):
        last = names[-1] if names else None
        word = before.get(name.start) if name.kind == PROPER_NOUN else None
        if word is not None and (last is None or last.end <= word.start):
            read = tuple(word.reading + kana for kana in name.reading.texts)
            names.append(Name(word.start, name.end, PROPER_NOUN, replace(name.reading, texts=read)))
        elif last is not None and _APOSTROPHE.fullmatch(text, last.start, name.end) and name.start == last.end + 1:
            joined = text[last.start : name.end].replace("’", "'")
            names[-1] = Name(last.start, name.end, UNKNOWN_WORD, word_reading(joined))
        else:
            names.append(name)
    return names


def spans_read_as(text: str, wanted: Set[str], kept: Sequence[tuple[int, int]]) -> list[tuple[int, int, str]]:
    """Runs of words that sound exactly like one of the `wanted` readings: begin, end and reading, in order.

    wanted: readings as `sounds` writes them; those below LEAST_MORAE are left out. kept: spans of the text that no run
    may touch. Of the runs that begin at a word the longest counts. A run in kanji after a numeral or prefix in kanji
    is a part of a longer name, which stands for it with its own reading: 四天王寺 where 天王寺 is wanted.

    >>> spans_read_as("ひろとが来た", {"ひろと"}, [])
    [(0, 3, 'ひろと')]
    """
    wanted = {sound for sound in wanted if sum(sign not in _SMALL_KANA for sign in sound) >= LEAST_MORAE}
    if not wanted:
        return []
    words = tagged_words(text)
    of_names = {(name.start, name.end): name.reading.texts for name in names_in(text)}
    taken = {position for start, end in kept for position in range(start, end)}
    found: list[tuple[int, int, str]] = []
    index = 0
    while index < len(words):
        best: tuple[int, str] | None = None
        read: tuple[str, ...] = ("",)
        for last in range(index, min(index + WORDS_OF_COUNTERPART, len(words))):
            word = words[last]
            if word.start in taken or (last > index and word.start != words[last - 1].end):
                break
            read = tuple(kana + more for kana in read for more in _readings(text, word, of_names))[:MOST_READINGS]
            heard = [sounds(kana) for kana in read]
            if not any(sound[:-1] == whole[: len(sound[:-1])] for sound in heard for whole in wanted):
                break  # whatever follows, no reading begins so; the last sound may change with what follows (ヴァ)
            same = next((kana for kana, sound in zip(read, heard, strict=True) if sound in wanted), "")
            if same and _may_be_name(text, words[index : last + 1]):
                best = last, same
        if best is not None:
            before = words[index - 1] if index and _is_put_before(text, words[index - 1], words[index]) else None
            start, more = (words[index].start, "") if before is None else (before.start, before.reading)
            found.append((start, words[best[0]].end, more + best[1]))
            index = best[0]
        index += 1
    return found


def _readings(text: str, word: TaggedWord, of_names: Mapping[tuple[int, int], tuple[str, ...]]) -> tuple[str, ...]:
    """How a word may be read: kana as they are written, a name in each of its ways, any other as in its sentence."""
    surface = text[word.start : word.end]
    if _KANA.fullmatch(surface):
        return (hiragana_only(surface),)
    return of_names.get((word.start, word.end)) or ((word.reading,) if word.reading else ())


def _is_put_before(text: str, word: TaggedWord, following: TaggedWord) -> bool:
    """Whether a word is a numeral, a prefix or one of BEFORE_NAMES, directly before another word in kanji."""
    return (
        word.end == following.start
        and bool(word.reading)
        and _KANJI.match(text, following.start) is not None
        and all(map(_KANJI.match, text[word.start : word.end]))
        and (
            word.part_of_speech[0] == "接頭辞"
            or "数詞" in word.part_of_speech
            or text[word.start : word.end] in BEFORE_NAMES
        )
    )


def _may_be_name(text: str, words: Sequence[TaggedWord]) -> bool:
    """Whether words may be a name together: not grammar alone, and with a kanji not up to or from a particle."""
    if all(word.part_of_speech[0] in NO_COUNTERPARTS for word in words):
        return False
    return _KANJI.search(text, words[0].start, words[-1].end) is None or not (
        {words[0].part_of_speech[0], words[-1].part_of_speech[0]} & _GRAMMAR
    )


def texts_as_name(text: str, kind: str, reading: Reading) -> tuple[str, ...]:
    """The readings that a name may share with one that is no number.

    Of a number without a counter only those that are not its own (はじめ of 一, じゅうそう of 十三): に is the particle
    far more often than 2, and さん no 3.
    """
    if kind != NUMERAL or reading.source == OWN or not is_bare_number(text):
        return reading.texts
    return tuple(kana for kana in reading.texts if kana not in number_readings(text))
