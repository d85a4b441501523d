"""The names of a sentence by words: proper nouns, words that no dictionary has, and numbers with their counters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.language.parts_of_speech import CACHED_SENTENCES, TaggedWord, tagged_words
from engine.language.readings.numbers import is_bare_number, is_counter, number, number_readings
from engine.language.readings.sounds import sounds
from engine.language.readings.words import OWN, UNIDIC, Reading, word_reading
from engine.language.words import uses_spaces

PROPER_NOUN, UNKNOWN_WORD, NUMERAL, COUNTERPART = "proper noun", "unknown word", "number", "counterpart"
# Single words of the dictionary that are numbers with a counter (一人, 二日); 一番 and 一応 are words like others.
COUNTERS_IN_WORDS = frozenset({"人", "日", "つ"})
# Words that a counterpart of a name may consist of: さいとう is さ, い and とう where MeCab does not know it.
WORDS_OF_COUNTERPART = 4
# No name consists of these alone: particles, auxiliaries, affixes (さん, ご) and signs.
NO_COUNTERPARTS = frozenset({"助詞", "助動詞", "接頭辞", "接尾辞", "接辞", "記号", "補助記号"})
LEAST_MORAE = 2
_SMALL_KANA = frozenset("ゃゅょぁぃぅぇぉゎ")
# ・ and ー stand in Chinese text as well.
_KANA = re.compile("[ぁ-ゖァ-ヺｦ-ｯｱ-ﾝ]")


@dataclass(frozen=True)
class Name:
    """A name: text[start:end], what kind of name it is, and how it is read."""

    start: int
    end: int
    kind: str
    reading: Reading


@lru_cache(maxsize=CACHED_SENTENCES)
def names_in(text: str) -> tuple[Name, ...]:
    """The names of a sentence, in order: they do not overlap.

    A surname and a given name are two, because either may stand alone. This is MeCab's opinion, not named entity
    recognition: a word that UniDic lacks counts as a name whatever it is. A text without kana and kanji has no names:
    UniDic has no words of its language.

    >>> [(name.kind, name.reading.texts) for name in names_in("斉藤とAliceは三人")]
    [('proper noun', ('さいとう',)), ('proper noun', ('ありす',)), ('number', ('さんにん',))]
    """
    if uses_spaces(text):  # neither kana nor kanji
        return ()
    words = tagged_words(text)
    names: list[Name] = []
    index = 0
    while index < len(words):
        end = _end_of_number(text, words, index)
        if end > index:
            span = text[words[index].start:words[end - 1].end]
            names.append(Name(words[index].start, words[end - 1].end, NUMERAL, word_reading(span)))
            index = end
            continue
        word = words[index]
        surface = text[word.start:word.end]
        if word.is_proper_noun or _is_unknown(word, surface):
            names.append(Name(word.start, word.end, PROPER_NOUN if word.is_proper_noun else UNKNOWN_WORD,
                              word_reading(surface, word.reading if word.in_dictionary else "",
                                           is_name=word.is_proper_noun)))
        index += 1
    return tuple(names)


def are_japanese(text: str, other: str) -> bool:
    """Whether MeCab's opinion on the names of a pair of sentences counts.

    It does where one of the two has kana: kanji alone may be Chinese, whose words UniDic lacks or reads otherwise. Two
    texts without kana count where both are nothing but proper nouns and numbers: a list of names has no grammar.

    >>> [are_japanese(*pair) for pair in (("斉藤は来た", "斉藤来日"), ("斉藤", "尾崎"), ("我爱北京", "我爱上海"))]
    [True, True, False]
    """
    return any(map(_KANA.search, (text, other))) or all(map(_is_names_alone, (text, other)))


def is_within_longer(text: str, start: int, end: int) -> bool:
    """Whether text[start:end] is a part, and not the whole, of one name or of one word of MeCab.

    >>> is_within_longer("東京の東", 0, 1), is_within_longer("東京の東", 3, 4)
    (True, False)
    """
    spans = [*((word.start, word.end) for word in tagged_words(text)),
             *((name.start, name.end) for name in names_in(text))]
    return any(first <= start and end <= last and (first, last) != (start, end) for first, last in spans)


def with_counterparts(text: str, other: str) -> tuple[Name, ...]:
    """The names of a sentence, and the words of it that are read like a name of the other sentence: its counterparts.

    A name in kana may be no name to MeCab, as ひとり for 一人, or several words. Searched for are the names of `other`
    that no name of the sentence is read like and that have at least LEAST_MORAE. A pair that is not Japanese
    (`are_japanese`) has no names.
    """
    if not are_japanese(text, other):
        return ()
    own, others = names_in(text), names_in(other)
    known = {sounds(kana) for name in own for kana in name.reading.texts}
    wanted = {sounds(kana) for name in others if not known & set(map(sounds, name.reading.texts))
              for kana in texts_as_name(other[name.start:name.end], name.kind, name.reading)
              if sum(sign not in _SMALL_KANA for sign in kana) >= LEAST_MORAE}
    if not wanted:
        return own
    longest = max(map(len, wanted))
    words = tagged_words(text)
    taken = {position for name in own for position in range(name.start, name.end)}
    found: list[Name] = []
    index = 0
    while index < len(words):
        step = 1
        kana = ""
        for last in range(index, min(index + WORDS_OF_COUNTERPART, len(words))):
            word = words[last]
            if word.start in taken or not word.reading or (last > index and word.start != words[last - 1].end):
                break
            kana += word.reading
            if len(kana) > longest + WORDS_OF_COUNTERPART:
                break
            if sounds(kana) in wanted and any(part.part_of_speech[0] not in NO_COUNTERPARTS
                                              for part in words[index:last + 1]):
                found.append(Name(words[index].start, word.end, COUNTERPART, Reading((kana,), UNIDIC)))
                step = last - index + 1
                break
        index += step
    return tuple(sorted((*own, *found), key=lambda name: name.start))


def texts_as_name(text: str, kind: str, reading: Reading) -> tuple[str, ...]:
    """The readings that a name may share with one that is no number.

    Of a number without a counter only those that are not its own (はじめ of 一, じゅうそう of 十三): に is the particle
    far more often than 2, and さん no 3.
    """
    if kind != NUMERAL or reading.source == OWN or not is_bare_number(text):
        return reading.texts
    return tuple(kana for kana in reading.texts if kana not in number_readings(text))


def _is_names_alone(text: str) -> bool:
    names = names_in(text)
    return bool(names) and all(name.kind != UNKNOWN_WORD for name in names) and (
        len("".join(text.split())) == len("".join(text[name.start:name.end] for name in names)))


def _end_of_number(text: str, words: Sequence[TaggedWord], index: int) -> int:
    """Where the number that begins at a word ends, with its counter; the word itself where none begins."""
    end = index
    if words[end].part_of_speech[0] == "接頭辞" and text[words[end].start:words[end].end] == "第":
        end += 1
    begin = end
    while end < len(words) and (_is_numeral(words[end]) or (
            end > begin and text[words[end].start:words[end].end] in ",，." and end + 1 < len(words)
            and _is_numeral(words[end + 1]))):
        end += 1
    if end == begin:
        surface = text[words[index].start:words[index].end]
        parsed = number(surface) if begin == index else None
        return index + 1 if parsed is not None and parsed.counter in COUNTERS_IN_WORDS and begin == index else index
    if number(text[words[index].start:words[end - 1].end]) is None:
        return index
    if end < len(words) and words[end].start == words[end - 1].end \
            and is_counter(text[words[end].start:words[end].end]):
        end += 1
    return end


def _is_numeral(word: TaggedWord) -> bool:
    return "数詞" in word.part_of_speech


def _is_unknown(word: TaggedWord, surface: str) -> bool:
    """Whether UniDic lacks a word that has a letter: an emoji or a sign is none."""
    return not word.in_dictionary and any(unicodedata.category(character)[0] == "L" for character in surface)
