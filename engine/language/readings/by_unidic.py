"""Readings of single pieces by UniDic. `engine.language.parts_of_speech` gives those of words in their sentence."""

from __future__ import annotations

from functools import lru_cache

from engine.language.parts_of_speech import tagged_words
from engine.language.readings.by_pykakasi import CACHED_READINGS
from engine.language.readings.hiragana import strip_subword_marks


@lru_cache(maxsize=CACHED_READINGS)
def unidic_reading(text: str) -> str:
    """The reading of a token, word or name in hiragana by UniDic, "" when it has none.

    Like `by_pykakasi.reading`, without the marks of subwords; the string is segmented by MeCab, and the readings of its
    words are joined. Words that UniDic does not have are read by pykakasi.

    >>> [unidic_reading(piece) for piece in ("斉藤", "##日", "ﾊﾟﾝ", "A4")]
    ['さいとう', 'ひ', 'ぱん', '']
    """
    return "".join(word.reading for word in tagged_words(strip_subword_marks(text)))
