"""Alignment of the pieces of a normalised text with the characters of the original text.

A tokenizer without offsets normalises a text (NFKC: ｶﾞ becomes ガ, ㍿ becomes 株式会社), splits it, and may
replace a piece by [UNK]. Here the text is normalised in the same way while the origin of every character is
kept, and the pieces are searched for in it from left to right. Strings only; no tokenizer is needed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

UnicodeForm = Literal["NFC", "NFD", "NFKC", "NFKD"]


@dataclass(frozen=True)
class NormalizedText:
    """A normalised text whose character i stems from `text[starts[i]:ends[i]]` of the original; it begins at `first`."""

    characters: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    first: int = field(default=0, repr=False)

    def origin(self, begin: int, end: int) -> tuple[int, int]:
        """The character span of the original text that normalised characters `begin` to `end` stem from."""
        if begin < end:
            return self.starts[begin], self.ends[end - 1]
        position = self.ends[begin - 1] if begin else self.first
        return position, position


def normalize_with_origins(
    text: str, form: UnicodeForm | None, *, offset: int = 0, case: bool = True, accents: bool = True
) -> NormalizedText:
    """Normalise `text` by a Unicode form ("NFKC", "NFC", … or None) and, with `case`, fold its case, keeping origins.

    Without `accents`, marks that combine with a character are left out, as BERT's basic tokenizer does: が becomes か.

    `align_surfaces` folds the case of what it searches for, so it does not matter whether the tokenizer lowers it.
    `offset` is where `text` begins in the whole text. Characters that compose to one (ｶ + ﾞ, e + ´) have the whole
    group as their origin.

    >>> normalize_with_origins("ｶﾞ㍿", "NFKC")
    NormalizedText(characters='ガ株式会社', starts=(0, 2, 2, 2, 2), ends=(2, 3, 3, 3, 3))
    """
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for begin, end in _normalization_groups(text, form):
        group = _normalised(text[begin:end], form)
        changed = "".join(map(str.casefold, group)) if case else group
        changed = changed if accents else _without_accents(changed)
        characters.append(changed)
        starts += [offset + begin] * len(changed)
        ends += [offset + end] * len(changed)
    return NormalizedText("".join(characters), tuple(starts), tuple(ends), offset)


def align_surfaces(
    surfaces: Sequence[str | None], normalized: NormalizedText, begin: int, end: int
) -> list[tuple[int, int]]:
    """Find pieces one after another in normalised characters `begin` to `end`; returns their normalised ranges.

    Only white space and control characters may lie between two pieces. A piece that is unknown (None) or not
    found this way gets the range between its found neighbours, without the white space around it; several unknown
    pieces in a row share that range. Ranges never go back, and may be empty.

    >>> align_surfaces(["ab", None, "d"], normalize_with_origins("ab c d", None), 0, 6)
    [(0, 2), (3, 4), (5, 6)]
    """
    known_ranges: list[tuple[int, int] | None] = []
    cursor, after_unknown = begin, False
    for surface in surfaces:
        target = "" if surface is None else "".join(map(str.casefold, surface))
        position = normalized.characters.find(target, cursor, end) if target else -1
        if position < 0 or not (after_unknown or _is_droppable(normalized.characters[cursor:position])):
            known_ranges.append(None)
            after_unknown = True
            continue
        cursor, after_unknown = position + len(target), False
        known_ranges.append((position, cursor))
    return _fill_gaps(known_ranges, normalized.characters, begin, end)


def _fill_gaps(
    known_ranges: list[tuple[int, int] | None], characters: str, begin: int, end: int
) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    next_start = end
    starts_after: list[int] = []
    for known_range in reversed(known_ranges):
        starts_after.append(next_start)
        next_start = known_range[0] if known_range else next_start
    previous_end, gap = begin, begin
    for known_range, gap_end in zip(known_ranges, reversed(starts_after), strict=True):
        if known_range:
            previous_end = gap = known_range[1]
            ranges.append(known_range)
            continue
        inner = characters[gap:gap_end]
        first = gap + len(inner) - len(inner.lstrip())
        last = gap + len(inner.rstrip())
        ranges.append((first, last) if first < last else (previous_end, previous_end))
    return ranges


def _normalization_groups(text: str, form: UnicodeForm | None) -> list[tuple[int, int]]:
    """Split `text` where normalising the parts gives the same as normalising the whole."""
    if form is None or unicodedata.is_normalized(form, text):
        return [(i, i + 1) for i in range(len(text))]
    groups: list[tuple[int, int]] = []
    begin = 0
    for i in range(1, len(text)):
        if not _composes(text[begin:i], text[i], form):
            groups.append((begin, i))
            begin = i
    return [*groups, (begin, len(text))]


def _composes(group: str, character: str, form: UnicodeForm) -> bool:
    """Whether `character` changes the group before it, or may be reordered into it."""
    first = unicodedata.normalize("NFKD", character)[:1]
    if first and unicodedata.combining(first):
        return True
    return _normalised(group + character, form) != _normalised(group, form) + _normalised(character, form)


def _normalised(text: str, form: UnicodeForm | None) -> str:
    return text if form is None else unicodedata.normalize(form, text)


def _without_accents(text: str) -> str:
    return "".join(
        character for character in unicodedata.normalize("NFD", text) if unicodedata.category(character) != "Mn"
    )


def _is_droppable(characters: str) -> bool:
    """Whether a tokenizer may drop these characters."""
    return all(character.isspace() or unicodedata.category(character)[0] == "C" for character in characters)
