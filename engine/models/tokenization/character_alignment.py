"""Where pieces of a normalised text stand in the text as it was given.

A tokenizer without offsets normalises a text (NFKC: ｶﾞ becomes ガ, ㍿ becomes 株式会社), cuts it, and may
put [UNK] in the place of a piece. Here the text is normalised in the same way with every character's origin
kept, and the pieces are found in it from left to right. Pure strings; no tokenizer is needed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


@dataclass(frozen=True)
class Folded:
    """A text normalised; character i of it stems from `text[starts[i]:ends[i]]`."""

    characters: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def origin(self, begin: int, end: int) -> tuple[int, int]:
        """The character span in the given text that folded characters `begin` to `end` stem from."""
        if begin < end:
            return self.starts[begin], self.ends[end - 1]
        position = self.ends[begin - 1] if begin else 0
        return position, position


def fold(text: str, form: Form | None, *, offset: int = 0, case: bool = True) -> Folded:
    """Normalise `text` by a Unicode form ("NFKC", "NFC", … or None) and, with `case`, fold its case, keeping origins.

    `place` folds the case of what it looks for, so that it does not matter whether the tokenizer lowers it.
    `offset` is where `text` begins in the whole text. Characters that melt into one (ｶ + ﾞ, e + ´) each have
    the whole group as their origin.

    >>> fold("ｶﾞ㍿", "NFKC")
    Folded(characters='ガ株式会社', starts=(0, 2, 2, 2, 2), ends=(2, 3, 3, 3, 3))
    """
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for begin, end in _groups(text, form):
        group = _normalised(text[begin:end], form)
        folded = "".join(map(str.casefold, group)) if case else group
        characters.append(folded)
        starts += [offset + begin] * len(folded)
        ends += [offset + end] * len(folded)
    return Folded("".join(characters), tuple(starts), tuple(ends))


def place(surfaces: Sequence[str | None], within: Folded, begin: int, end: int) -> list[tuple[int, int]]:
    """Find pieces one after another in folded characters `begin` to `end`; returns their folded ranges.

    Only white space and control characters may lie between two pieces. A piece that is unknown (None), or
    that is not found so, takes what lies between its found neighbours, without the white space round it;
    several unknown pieces in a row share that. Ranges never go back, and may be empty.

    >>> place(["ab", None, "d"], fold("ab c d", None), 0, 6)
    [(0, 2), (3, 4), (5, 6)]
    """
    found: list[tuple[int, int] | None] = []
    cursor, after_unknown = begin, False
    for surface in surfaces:
        wanted = "" if surface is None else "".join(map(str.casefold, surface))
        at = within.characters.find(wanted, cursor, end) if wanted else -1
        if at < 0 or not (after_unknown or _is_dropped(within.characters[cursor:at])):
            found.append(None)
            after_unknown = True
            continue
        cursor, after_unknown = at + len(wanted), False
        found.append((at, cursor))
    return _filled(found, within.characters, begin, end)


def _filled(found: list[tuple[int, int] | None], characters: str, begin: int, end: int) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    next_start = end
    starts_after: list[int] = []
    for known in reversed(found):
        starts_after.append(next_start)
        next_start = known[0] if known else next_start
    previous_end, gap = begin, begin
    for known, gap_end in zip(found, reversed(starts_after), strict=True):
        if known:
            previous_end = gap = known[1]
            ranges.append(known)
            continue
        inner = characters[gap:gap_end]
        first = gap + len(inner) - len(inner.lstrip())
        last = gap + len(inner.rstrip())
        ranges.append((first, last) if first < last else (previous_end, previous_end))
    return ranges


def _groups(text: str, form: Form | None) -> list[tuple[int, int]]:
    """Cut `text` where normalising the parts gives the same as normalising the whole."""
    if form is None or unicodedata.is_normalized(form, text):
        return [(i, i + 1) for i in range(len(text))]
    groups: list[tuple[int, int]] = []
    begin = 0
    for i in range(1, len(text)):
        if not _melts(text[begin:i], text[i], form):
            groups.append((begin, i))
            begin = i
    return [*groups, (begin, len(text))]


def _melts(group: str, character: str, form: Form) -> bool:
    """Whether `character` changes, or may be reordered into, the group before it."""
    first = unicodedata.normalize("NFKD", character)[:1]
    if first and unicodedata.combining(first):
        return True
    return _normalised(group + character, form) != _normalised(group, form) + _normalised(character, form)


def _normalised(text: str, form: Form | None) -> str:
    return text if form is None else unicodedata.normalize(form, text)


def _is_dropped(characters: str) -> bool:
    """Whether a tokenizer may drop these without a trace."""
    return all(character.isspace() or unicodedata.category(character)[0] == "C" for character in characters)
