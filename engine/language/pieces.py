"""Splitting of a long text into pieces that a segmenter can process, at the ends of sentences where possible."""

from __future__ import annotations

import re
from functools import lru_cache


def pieces(text: str, max_characters: int) -> list[str]:
    """Consecutive pieces of at most `max_characters` characters whose concatenation is `text`; it has no line breaks.

    A piece ends with a sentence or after a space; only a longer run without either is split elsewhere.

    >>> pieces("雨。雪が降る。", 5)
    ['雨。', '雪が降る。']
    """
    return _piece_pattern(max_characters).findall(text)


@lru_cache
def _piece_pattern(max_characters: int) -> re.Pattern[str]:
    return re.compile(rf".{{1,{max_characters}}}\Z|.{{1,{max_characters}}}(?<=[ 。！？])|.{{1,{max_characters}}}")
