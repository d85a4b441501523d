"""Does a text contain the spelling of a control token, such as [SEP]? Imports no torch."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from functools import cached_property


class Spellings:
    """The spellings of control tokens, to be looked for in texts."""

    def __init__(self, tokens: Collection[str]) -> None:
        """As the tokenizer spells them; empty ones are left out."""
        self.tokens = frozenset(filter(None, tokens))

    @cached_property
    def _folded(self) -> frozenset[str]:
        return frozenset(map(_folded, self.tokens))

    @cached_property
    def _first_characters(self) -> frozenset[str]:
        return frozenset(token[0] for token in self._folded if token)

    def occur_in(self, text: str) -> bool:
        """Whether a text contains one, also in another case or width: a tokenizer may fold these (＜ｓ＞) first.

        >>> Spellings(["[SEP]"]).occur_in("a [sep] b"), Spellings(["[SEP]"]).occur_in("SEP")
        (True, False)
        """
        folded = _folded(text)
        return not self._first_characters.isdisjoint(folded) and any(token in folded for token in self._folded)


def _folded(text: str) -> str:
    return text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
