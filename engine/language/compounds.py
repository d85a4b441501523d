"""Compounds that UniDic cuts and reads word by word (一日千秋, 株式会社), as the dictionaries that have them whole read them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from engine.language.mecab import whole_words
from engine.language.nouns import ipadic_words
from engine.language.readings.by_pykakasi import dictionary_readings, reading
from engine.language.readings.hiragana import hiragana_only
from engine.language.readings.numbers import CHARACTERS, is_counter, number
from engine.language.tagged_word import TaggedWord

_COMPOUND = re.compile("[ぁ-ゖー々\u3400-\u9fff]*[々\u3400-\u9fff]{2,}[ぁ-ゖー々\u3400-\u9fff]*")
_NUMERAL, _PROPER, _PERSON = "数", "固有名詞", "人名"
_FAMILY, _GIVEN, _PRONOUN = "姓", "名", "代名詞"
_LEAST_OF_IDIOMS = 4  # characters; 一日千秋 is いちじつ, which pykakasi lacks
LEAST_OF_LISTED = 3
_KANJI, _KANJI_ALONE = re.compile("[々\u3400-\u9fff]{2,}"), re.compile("[々\u3400-\u9fff]+")
PLACE_SUFFIXES = frozenset("市町村区郡県駅港")
WORDS_OF_A_PLACE = 3
ANALYSES = 10  # of the IPA dictionary, of a name as one word
CACHED_NAMES = 50_000
_KANA = 7  # of the features of the IPA dictionary


def read_compounds(text: str, words: Sequence[TaggedWord], by_unidic: Sequence[str]) -> list[TaggedWord]:
    """The words with the readings that they have as parts of a compound.

    by_unidic: the reading of each word by UniDic. Where the words are read otherwise by now, and so that pykakasi's
    dictionary lists it for the compound, they stay as they are (日本人 is にほんじん by `in_context`).

    A compound is a noun or adverb of the IPA dictionary that is several words to UniDic. Its reading there counts
    where pykakasi's dictionary lists it as well; names excepted, also for compounds that pykakasi lacks, and for those of
    four characters. A number with its counter is none. What the IPA dictionary cuts as well, and pykakasi's has whole, is
    one from LEAST_OF_LISTED characters on, unless a name is part of it (悪口雑言).

    >>> from engine.language.parts_of_speech import tagged_words
    >>> [word.reading for word in tagged_words("言語道断だ")]
    ['ごんご', 'どうだん', 'だ']
    """
    starts = {word.start: index for index, word in enumerate(words)}
    ends = {word.end: index for index, word in enumerate(words)}
    if not any(_may_begin(text, words[index], words[index + 1]) for index in range(len(words) - 1)):
        return list(words)
    read, whole = list(words), set[int]()
    for (start, end), features in ipadic_words(text):
        first, last = starts.get(start), ends.get(end)
        if first is None or last is None or first >= last or len(features) <= _KANA:
            continue
        whole.update(range(first, last + 1))
        parts = [word.reading for word in words[first : last + 1]]
        is_mended = parts != list(by_unidic[first : last + 1])
        reading = _reading(text[start:end], features, "".join(parts) if is_mended else "")
        if reading and reading != "".join(parts) and all(parts):
            for offset, kana in enumerate(divided(reading, parts)):
                read[first + offset] = replace(words[first + offset], reading=kana)
    for first, last, reading in _listed(text, read, by_unidic, whole):
        for offset, kana in enumerate(divided(reading, [word.reading for word in read[first : last + 1]])):
            read[first + offset] = replace(read[first + offset], reading=kana)
    return read


def _listed(
    text: str, read: Sequence[TaggedWord], by_unidic: Sequence[str], whole: Set[int]
) -> Iterator[tuple[int, int, str]]:
    """The compounds that pykakasi's dictionary has whole, the longest first: numbers of their first and last word, reading.

    read: the words with what was read so far; where it is no longer UniDic's reading it stays. whole: the numbers of the
    words of the IPA dictionary's compounds, which stay as well.
    """
    first = 0
    while first < len(read):
        last = first
        for end in range(_end_of_kanji(text, read, first) - 1, first, -1):
            compound = text[read[first].start : read[end].end]
            is_mended = [word.reading for word in read[first : end + 1]] != list(by_unidic[first : end + 1])
            is_mended |= not whole.isdisjoint(range(first, end + 1))
            if len(compound) < LEAST_OF_LISTED or is_mended or _counts(text, read[first], compound):
                continue
            listed = dictionary_readings(compound)
            if listed:
                if "".join(by_unidic[first : end + 1]) not in listed:
                    yield first, end, listed[0]
                last = end
                break
        first = last + 1


def _end_of_kanji(text: str, words: Sequence[TaggedWord], first: int) -> int:
    """The number of the first word, from `first` on, that is none in kanji next to those before, or a name or pronoun."""
    end = first
    while (
        end < len(words)
        and not words[end].is_proper_noun
        and _PRONOUN not in words[end].part_of_speech
        and _KANJI_ALONE.fullmatch(text, words[end].start, words[end].end)
        and (end == first or words[end - 1].end == words[end].start)
    ):
        end += 1
    return end


def _counts(text: str, word: TaggedWord, compound: str) -> bool:
    """Whether a compound that begins with a word is a number with its counter, follows one, or is a short one but of 一."""
    parsed = number(compound)
    is_number = parsed is not None and (
        is_counter(parsed.counter) or (len(compound) < _LEAST_OF_IDIOMS and not compound.startswith("一"))
    )
    before = text[word.start - 1 : word.start]
    return is_number or (bool(before) and before in f"{CHARACTERS}数何")


def read_places(text: str, words: Sequence[TaggedWord]) -> list[TaggedWord]:
    """The words with what stands before 市, 駅 and the like read as the place that it is to the IPA dictionary.

    Words that are no names to UniDic (直方 ちょくほう, 三 and 次) are read together as pykakasi's dictionary has them,
    of its readings the first that the IPA dictionary has for a place.

    >>> from engine.language.parts_of_speech import tagged_words
    >>> [word.reading for word in tagged_words("直方市だ")]
    ['のおがた', 'し', 'だ']
    """
    read = list(words)
    for place, suffix in enumerate(words):
        if text[suffix.start : suffix.end] not in PLACE_SUFFIXES:
            continue
        for first in range(max(place - WORDS_OF_A_PLACE, 0), place):
            own = words[first:place]
            name = text[own[0].start : suffix.start]
            is_one = all(word.end == after.start for word, after in pairwise((*own, suffix)))
            if not is_one or not _KANJI.fullmatch(name) or any(word.is_proper_noun for word in own):
                continue
            reading = _of_place(name)
            if reading and reading != "".join(word.reading for word in own) and all(word.reading for word in own):
                for offset, kana in enumerate(divided(reading, [word.reading for word in own])):
                    read[first + offset] = replace(own[offset], reading=kana)
            if reading:
                break
    return read


@lru_cache(maxsize=CACHED_NAMES)
def _of_place(name: str) -> str:
    """The reading of a place that the two dictionaries agree on; "" where they have none."""
    known = {
        hiragana_only(features[_KANA])
        for features in whole_words(name, "ipadic", ANALYSES)
        if features[1] == _PROPER and features[2] in ("地域", "一般")
    }
    return next((kana for kana in dictionary_readings(name) if kana in known), "")


def read_proper_nouns(text: str, words: Sequence[TaggedWord]) -> list[TaggedWord]:
    """The words with proper nouns in kanji as the IPA dictionary and pykakasi's read them, where these agree and UniDic
    has another reading (上杉 かみすぎ, 尚子 ひさこ). In the full name of a person a family name stays one (山中, which is
    さんちゅう as a common noun), and a given name stays that (藤村 とうそん, as a family name ふじむら).

    >>> from engine.language.parts_of_speech import tagged_words
    >>> [word.reading for word in tagged_words("上杉だ")]
    ['うえすぎ', 'だ']
    """
    kinds = ["", *(word.part_of_speech[3] if _PERSON in word.part_of_speech else "" for word in words), ""]
    return [
        replace(word, reading=_of_most(text[word.start : word.end], kind if beside else "", word.reading))
        if word.is_proper_noun and _KANJI.fullmatch(text, word.start, word.end)
        else word
        for word, kind, beside in zip(
            words,
            kinds[1:-1],
            [
                (own, after) == (_FAMILY, _GIVEN) or (before, own) == (_FAMILY, _GIVEN)
                for before, own, after in zip(kinds, kinds[1:], kinds[2:], strict=False)
            ],
            strict=True,
        )
    ]


@lru_cache(maxsize=CACHED_NAMES)
def _of_most(name: str, person_kind: str, by_unidic: str) -> str:
    """person_kind: 姓 or 名 of a family name next to a given name, which the IPA dictionary must have as such; else ""."""
    by_pykakasi = reading(name)
    if by_pykakasi in ("", by_unidic):
        return by_unidic
    best = whole_words(name, "ipadic", 1)
    if not best or hiragana_only(best[0][_KANA]) != by_pykakasi or (person_kind and best[0][3] != person_kind):
        return by_unidic
    return by_pykakasi


def divided(reading: str, parts: Sequence[str]) -> list[str]:
    """The reading of a compound cut where it comes nearest to the readings of its words alone; no part is empty.

    >>> divided("ごんごどうだん", ["げんご", "どうだん"]), divided("じゅうにんといろ", ["じゅう", "にん", "じゅう", "しょく"])
    (['ごんご', 'どうだん'], ['じゅう', 'にん', 'と', 'いろ'])
    """
    if len(reading) < len(parts):
        return list(parts)
    # best[n]: the least distance of the first parts to the first n characters of the reading, and where they end
    best: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
    for place, part in enumerate(parts):
        left = len(parts) - place - 1
        ends = [len(reading)] if not left else range(place + 1, len(reading) - left + 1)
        best = {
            end: min(
                (distance + _distance(reading[begin:end], part), (*cuts, end))
                for begin, (distance, cuts) in best.items()
                if begin < end
            )
            for end in ends
            if any(begin < end for begin in best)
        }
    cuts = (0, *best[len(reading)][1])
    return [reading[begin:end] for begin, end in pairwise(cuts)]


def _distance(own: str, other: str) -> int:
    """Twice the edit distance, and one more where the lengths differ: equal parts first, then parts of equal length."""
    return 2 * Levenshtein.distance(own, other) + (len(own) != len(other))


def _may_begin(text: str, word: TaggedWord, following: TaggedWord) -> bool:
    return word.end == following.start and _COMPOUND.search(text[word.start : following.end]) is not None


def _reading(compound: str, features: tuple[str, ...], by_words: str) -> str:
    """The reading of a compound that counts, "" for none. by_words: that of its words if it was mended, else ""."""
    kind, subkind = features[:2]
    if kind not in ("名詞", "副詞") or subkind == _NUMERAL or not _COMPOUND.fullmatch(compound):
        return ""
    parsed = number(compound)
    if parsed is not None and is_counter(parsed.counter):
        return ""
    kana, listed = hiragana_only(features[_KANA]), dictionary_readings(compound)
    if by_words in listed:
        return ""
    is_common = subkind != _PROPER and (not listed or len(compound) >= _LEAST_OF_IDIOMS)
    return kana if kana in listed or is_common else ""
