"""A long text cut into pieces that an analyser bears, at the ends of sentences where it can be."""

from __future__ import annotations

import re
from functools import lru_cache


def pieces(text: str, most: int) -> list[str]:
    """Consecutive pieces of at most `most` characters, which joined are `text`; it holds no line break.

    A piece ends with a sentence or before a word in spaces; only a longer run without either is cut anywhere.

    >>> pieces("雨。雪が降る。", 5)
    ['雨。', '雪が降る。']
    """
    return _cutter(most).findall(text)


@lru_cache
def _cutter(most: int) -> re.Pattern[str]:
    return re.compile(rf".{{1,{most}}}\Z|.{{1,{most}}}(?<=[ 。！？])|.{{1,{most}}}")
