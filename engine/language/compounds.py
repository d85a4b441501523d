"""Compounds that UniDic cuts and reads word by word (一日千秋, 株式会社), as the dictionaries that have them whole read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from engine.language.mecab import whole_words
from engine.language.nouns import ipadic_words
from engine.language.readings.by_pykakasi import dictionary_readings, reading
from engine.language.readings.hiragana import hiragana_only
from engine.language.readings.numbers import is_counter, number
from engine.language.tagged_word import TaggedWord

_COMPOUND = re.compile("[ぁ-ゖー々\u3400-\u9fff]*[々\u3400-\u9fff]{2,}[ぁ-ゖー々\u3400-\u9fff]*")
_NUMERAL, _PROPER = "数", "固有名詞"
_LEAST_OF_IDIOMS = 4  # characters; 一日千秋 is いちじつ, which pykakasi lacks
_KANJI = re.compile("[々\u3400-\u9fff]{2,}")
CACHED_NAMES = 50_000
_KANA = 7  # of the features of the IPA dictionary


def read_compounds(text: str, words: Sequence[TaggedWord], by_unidic: Sequence[str]) -> list[TaggedWord]:
    """The words with the readings that they have as parts of a compound.

    by_unidic: the reading of each word by UniDic. Where the words are read otherwise by now, and so that pykakasi's
    dictionary lists it for the compound, they stay as they are (日本人 is にほんじん by `in_context`).

    A compound is a noun or adverb of the IPA dictionary that is several words to UniDic. Its reading there counts
    where pykakasi's dictionary lists it as well; names excepted, also for compounds that pykakasi lacks, and for those of
    four characters. A number with its counter is none.

    >>> from engine.language.parts_of_speech import tagged_words
    >>> [word.reading for word in tagged_words("言語道断だ")]
    ['ごんご', 'どうだん', 'だ']
    """
    starts = {word.start: index for index, word in enumerate(words)}
    ends = {word.end: index for index, word in enumerate(words)}
    if not any(_may_begin(text, words[index], words[index + 1]) for index in range(len(words) - 1)):
        return list(words)
    read = list(words)
    for (start, end), features in ipadic_words(text):
        first, last = starts.get(start), ends.get(end)
        if first is None or last is None or first >= last or len(features) <= _KANA:
            continue
        parts = [word.reading for word in words[first : last + 1]]
        is_mended = parts != list(by_unidic[first : last + 1])
        reading = _reading(text[start:end], features, "".join(parts) if is_mended else "")
        if reading and reading != "".join(parts) and all(parts):
            for offset, kana in enumerate(divided(reading, parts)):
                read[first + offset] = replace(words[first + offset], reading=kana)
    return read


def read_proper_nouns(text: str, words: Sequence[TaggedWord]) -> list[TaggedWord]:
    """The words with proper nouns in kanji as the IPA dictionary and pykakasi's read them, where these agree and UniDic
    has another reading (上杉 かみすぎ, 尚子 ひさこ).

    >>> from engine.language.parts_of_speech import tagged_words
    >>> [word.reading for word in tagged_words("上杉だ")]
    ['うえすぎ', 'だ']
    """
    return [
        replace(word, reading=_of_most(text[word.start : word.end], word.reading))
        if word.is_proper_noun and _KANJI.fullmatch(text, word.start, word.end)
        else word
        for word in words
    ]


@lru_cache(maxsize=CACHED_NAMES)
def _of_most(name: str, by_unidic: str) -> str:
    by_pykakasi = reading(name)
    if by_pykakasi in ("", by_unidic):
        return by_unidic
    by_ipadic = {hiragana_only(features[_KANA]) for features in whole_words(name, "ipadic", 1)}
    return by_pykakasi if by_ipadic == {by_pykakasi} else by_unidic


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
