"""Scripts: the one that texts are written in, and those of the pieces of a vocabulary."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Protocol

# Chinese characters and kana are written together; half of the pieces of a Japanese vocabulary hold both.
CJK = "CJK"
_TOGETHER = ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC", "HALFWIDTH")
MOST_PIECES = 3_000  # of a vocabulary, evenly spread over its pieces in order
MOST_CHARACTERS = 100_000  # of texts
FEWEST_SHARE = 0.001


class Tokenizer(Protocol):
    """What is asked of a tokenizer."""

    @property
    def all_special_tokens(self) -> list[str]:
        """[CLS], <s> and their like."""

    def get_vocab(self) -> dict[str, int]:
        """Piece -> id."""

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """What pieces spell."""


def text_scripts(texts: Iterable[str]) -> dict[str, float]:
    """Script -> its share of the letters of texts, the most frequent first; empty without letters.

    >>> text_scripts(["ねこ and 犬"])
    {'CJK': 0.5, 'Latin': 0.5}
    """
    counts: Counter[str] = Counter()
    left = MOST_CHARACTERS
    for text in texts:
        counts.update(filter(None, map(_script, text[:left])))
        left -= len(text)
        if left <= 0:
            break
    return _shares(counts)


def piece_scripts(pieces: Sequence[str]) -> dict[str, float]:
    """Script -> its share of the pieces that are more than a letter, by the script of most of their letters.

    A single letter says little: vocabularies hold the alphabets of languages that they were not made for. A single
    Chinese or Japanese character counts, because it can be a word.

    >>> piece_scripts(["the", "##ing", "x", "犬", "?"])
    {'Latin': 0.667, 'CJK': 0.333}
    """
    counts: Counter[str] = Counter()
    for piece in pieces:
        letters = Counter(filter(None, map(_script, piece)))
        if not letters:
            continue
        script, _ = letters.most_common(1)[0]
        if script == CJK or letters.total() > 1:
            counts[script] += 1
    return _shares(counts)


def vocabulary_scripts(tokenizer: Tokenizer) -> dict[str, float]:
    """`piece_scripts` of a vocabulary, of a large one those of a sample of its pieces, as text."""
    special = set(tokenizer.all_special_tokens)
    pieces = sorted(piece for piece in tokenizer.get_vocab() if piece not in special)
    sample = pieces[:: max(1, len(pieces) // MOST_PIECES)]
    return piece_scripts([tokenizer.convert_tokens_to_string([piece]) for piece in sample])


def _shares(counts: Counter[str]) -> dict[str, float]:
    total = counts.total()
    shares = {script: round(n / total, 3) for script, n in counts.most_common()}
    return {script: share for script, share in shares.items() if share >= FEWEST_SHARE}


@cache
def _script(character: str) -> str:
    """The script of a letter, by the first word of its Unicode name; "" for what is no letter."""
    if not character.isalpha():
        return ""
    first = unicodedata.name(character, "").partition(" ")[0]
    if first == "FULLWIDTH":
        return "Latin"
    return CJK if first in _TOGETHER else first.title()
