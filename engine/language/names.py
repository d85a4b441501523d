"""The names of a sentence by words: proper nouns, words that no dictionary has, and numbers with their counters."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from engine.language.in_context import NAME, phrases_in
from engine.language.numerals import end_of_number
from engine.language.parts_of_speech import CACHED_SENTENCES, tagged_words
from engine.language.readings.words import Reading, word_reading
from engine.language.tagged_word import TaggedWord
from engine.language.words import uses_spaces
from engine.messages.message import named

PROPER_NOUN, UNKNOWN_WORD, NUMERAL = named("proper noun"), named("unknown word"), "number"
# ・ and ー occur in Chinese text as well.
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
    together = {
        first: (first + len(phrase.words), phrase.kind) for first, phrase in phrases_in(text, words) if phrase.kind
    }
    names: list[Name] = []
    index = 0
    while index < len(words):
        word = words[index]
        last, kind = together.get(index) or (end_of_number(text, words, index), NUMERAL)
        if last > index:
            span, kana = text[word.start : words[last - 1].end], "".join(part.reading for part in words[index:last])
            if kind == NUMERAL:
                names.append(Name(word.start, words[last - 1].end, NUMERAL, word_reading(span)))
            elif kind == NAME:
                names.append(Name(word.start, words[last - 1].end, PROPER_NOUN, word_reading(span, kana, is_name=True)))
            index = last
            continue
        surface = text[word.start : word.end]
        if word.is_proper_noun or _is_unknown(word, surface):
            names.append(
                Name(
                    word.start,
                    word.end,
                    PROPER_NOUN if word.is_proper_noun else UNKNOWN_WORD,
                    word_reading(surface, word.reading if word.in_dictionary else "", is_name=word.is_proper_noun),
                )
            )
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
    spans = [
        *((word.start, word.end) for word in tagged_words(text)),
        *((name.start, name.end) for name in names_in(text)),
    ]
    return any(first <= start and end <= last and (first, last) != (start, end) for first, last in spans)


def _is_names_alone(text: str) -> bool:
    names = names_in(text)
    return (
        bool(names)
        and all(name.kind != UNKNOWN_WORD for name in names)
        and (len("".join(text.split())) == len("".join(text[name.start : name.end] for name in names)))
    )


def _is_unknown(word: TaggedWord, surface: str) -> bool:
    """Whether UniDic lacks a word that has a letter: an emoji or a sign is none."""
    return not word.in_dictionary and any(unicodedata.category(character)[0] == "L" for character in surface)
