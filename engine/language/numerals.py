"""Where the numbers of a sentence stand: words of MeCab with what belongs to a number before and after them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from engine.language.readings.eras import ERAS, LETTERS
from engine.language.readings.numbers import CURRENCIES, HOURS, ORDINAL, SIGNS, WORDS, is_counter, number
from engine.language.tagged_word import TaggedWord

# Single words of the dictionary that are numbers with a counter (一人, 二日); 一番 and 一応 are words like others.
COUNTERS_IN_WORDS = frozenset({"人", "日", "つ"})
# Words that a counter may consist of (か月間, 年生), and what stands before a number (氷点下).
WORDS_OF_COUNTER, WORDS_BEFORE = 3, 2
WORDS_OF_ERA_YEAR = 6
# Words after a year of an era that make something else of it: 平成三十年間 and 昭和30年代 are no year, but after
# 平成30年 other words may begin so (半ば, 代表). MeCab cuts 昭和30年代物 as 昭和, 30, 年 and 代物.
_AFTER_YEARS = frozenset(("間", "半", "目", "代", "代物"))
STUDENT = "生"  # M2年生 is in the second year of a master's course; after a year of birth stands the word 生まれ
_BEFORE = frozenset((*SIGNS, *HOURS, *CURRENCIES, ORDINAL))
_SEPARATORS = frozenset(",，.．、・")
_LISTING = frozenset(",，、")
# A hyphen after one of these joins, and is no minus.
_JOINS = re.compile("[0-9A-Za-zァ-ヺー〇零一二三四五六七八九十]")
_ROMAN = re.compile("[IVX]{1,7}")


def end_of_number(text: str, words: Sequence[TaggedWord], index: int) -> int:
    """The word after the number, with its counter, that begins at a word; the word itself where none begins.

    >>> from engine.language.parts_of_speech import tagged_words
    >>> [end_of_number(text, tagged_words(text), 0) for text in ("午後三時半に", "二、三人", "三、五、八", "猫")]
    [4, 2, 1, 0]
    >>> text = "12時30分に"
    >>> text[:tagged_words(text)[end_of_number(text, tagged_words(text), 0) - 1].end]
    '12時30分'
    >>> [end_of_number(text, tagged_words(text), 0) for text in ("半年後", "正午に", "3.5億円を", "1時間30分の", "1.2万人が")]
    [1, 1, 5, 4, 5]
    >>> text = "令和元年に"
    >>> text[:tagged_words(text)[end_of_number(text, tagged_words(text), 0) - 1].end]
    '令和元年'
    """
    if (end := _end_of_era_year(text, words, index)) > index:
        return end
    if (end := _end_of_word(text, words, index)) > index:
        return end
    end = _end_of_one(text, words, index)
    # minutes of an hour, centimetres of a metre: one quantity as long as all of it is one number
    while index < end < len(words) and _is_numeral(words[end]):
        further = _end_of_one(text, words, end)
        if further == end or not _are_joined(words[index:further]) or not number(_surface(text, words, index, further)):
            break
        end = further
    return end


def _end_of_word(text: str, words: Sequence[TaggedWord], index: int) -> int:
    """The word behind a number that is a word of its own, as 半年 and 正午; the word itself where none begins."""
    found = [
        end
        for end in range(index + 1, min(index + WORDS_OF_COUNTER, len(words)) + 1)
        if _surface(text, words, index, end) in WORDS and _are_joined(words[index:end])
    ]
    return max(found, default=index)


def _end_of_era_year(text: str, words: Sequence[TaggedWord], index: int) -> int:
    """The word after a year of an era that begins at a word; the word itself where none begins."""
    era = _surface(text, words, index, index + 1)
    if era not in ERAS and (era not in LETTERS or _JOINS.search(text[: words[index].start][-1:].replace("-", "A"))):
        return index
    for end in range(index + 2, min(index + WORDS_OF_ERA_YEAR, len(words)) + 1):
        if not _are_joined(words[index:end]):
            break
        if (year := number(text[words[index].start : words[end - 1].end])) is not None:
            is_followed = end < len(words) and _are_joined(words[end - 1 : end + 1])
            after = _surface(text, words, end, end + 1) if is_followed else ""
            is_student = era in LETTERS and year.counter == "年" and after == STUDENT
            return index if after in _AFTER_YEARS or is_student else end
    return index


def _end_of_one(text: str, words: Sequence[TaggedWord], index: int) -> int:
    for n_before in range(WORDS_BEFORE, -1, -1):
        first = index + n_before
        if n_before and not _stands_before(text, words, index, first):
            continue
        for last in _ends_of_numerals(text, words, first):
            for end in range(min(last + WORDS_OF_COUNTER, len(words)), last - 1, -1):
                if _are_joined(words[index:end]) and _is_number(text, words, index, end, last):
                    return end
    return index


def _is_number(text: str, words: Sequence[TaggedWord], index: int, end: int, last: int) -> bool:
    """Whether words make one number up to its counter. last: the word after its numerals."""
    parsed = number(text[words[index].start : words[end - 1].end])
    if parsed is None or not is_counter(parsed.counter):
        return False
    if isinstance(parsed.value, tuple):  # 二、三, but not of a longer list
        around = text[: words[index].start][-1:] + text[words[last - 1].end :][:1]
        return not any(character in _LISTING for character in around)
    return True


def _ends_of_numerals(text: str, words: Sequence[TaggedWord], first: int) -> list[int]:
    """The words at which the numerals that begin at a word may end, the longest first; separators are among them."""
    if first >= len(words):
        return []
    surface = _surface(text, words, first, first + 1)
    if not _is_numeral(words[first]):
        parsed = number(surface)
        counts = parsed is not None and parsed.counter in COUNTERS_IN_WORDS and surface[0] != ORDINAL
        return [first + 1] if counts or _ROMAN.fullmatch(surface) else []
    end, ends = first, []
    while end < len(words) and _is_numeral(words[end]):
        end += 1
        if end == len(words) or words[end].start != words[end - 1].end or not _is_numeral(words[end]):
            ends.append(end)
            if end == len(words) or text[words[end].start : words[end].end] not in _SEPARATORS:
                break
            end += 1
    return ends[::-1]


def _stands_before(text: str, words: Sequence[TaggedWord], index: int, first: int) -> bool:
    """Whether words before a number belong to it: 第, 午後, マイナス, ￥."""
    if first >= len(words):
        return False
    before = _surface(text, words, index, first)
    is_hyphen = before in ("-", "−")
    return before in _BEFORE and not (is_hyphen and _JOINS.search(text[: words[index].start][-1:]))


def _are_joined(words: Sequence[TaggedWord]) -> bool:
    """Whether no white space stands between words."""
    return all(word.end == following.start for word, following in pairwise(words))


def _surface(text: str, words: Sequence[TaggedWord], first: int, end: int) -> str:
    return unicodedata.normalize("NFKC", text[words[first].start : words[end - 1].end])


def _is_numeral(word: TaggedWord) -> bool:
    return "数詞" in word.part_of_speech
