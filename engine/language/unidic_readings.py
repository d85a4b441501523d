"""A second opinion on readings: UniDic's, of a piece alone. Words in their sentence: `parts_of_speech`."""

from __future__ import annotations

from functools import lru_cache

from engine.language.parts_of_speech import tagged_words
from engine.language.readings import CACHED_READINGS, without_signs


@lru_cache(maxsize=CACHED_READINGS)
def unidic_reading(text: str) -> str:
    """The reading of a token, word or name in hiragana by UniDic, "" when it has none.

    As `readings.reading`, signs of subwords taken off first; the string is cut into words by MeCab, and their
    readings joined. What UniDic does not have is read by pykakasi.

    >>> [unidic_reading(piece) for piece in ("斉藤", "##日", "ﾊﾟﾝ", "A4")]
    ['さいとう', 'ひ', 'ぱん', '']
    """
    return "".join(word.reading for word in tagged_words(without_signs(text)))
