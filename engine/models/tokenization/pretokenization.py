"""Normalisation and word segmentation of a text by a recipe, keeping each character's origin. Imports no torch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.language.segmenters import word_spans
from engine.language.widths import full_width_units
from engine.models.sources.recipes import Recipe
from engine.models.tokenization.character_alignment import NormalizedText, UnicodeForm, normalize_with_origins

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Part:
    """A segment of a text: a special token that the text contains (`special`), or the words between two of them.

    `words`: exactly one for a special token; none for white space alone.
    """

    words: tuple[NormalizedText, ...]
    special: bool = False


def pretokenize(text: str, recipe: Recipe, special_tokens: Sequence[str]) -> list[Part]:
    """The parts of `text`, in order, normalised and segmented as `recipe` says.

    Special tokens that the text contains ([MASK]) are left as they are, and no word crosses one. Without a segmenter
    a part is one word with its white space, unless the recipe's vocabulary needs words: then they end at white space.
    Raises as `segmenters.word_spans`.
    """
    longest_first = sorted(filter(None, special_tokens), key=len, reverse=True)
    segments = re.split(f"({'|'.join(map(re.escape, longest_first))})", text) if longest_first else [text]
    parts: list[Part] = []
    offset = 0
    for number, segment in enumerate(segments):
        if number % 2:
            parts.append(Part((normalize_with_origins(segment, None, offset=offset, case=False),), special=True))
        elif segment:
            parts.append(Part(_words(segment, recipe, offset)))
        offset += len(segment)
    return parts


def join_words(words: Sequence[NormalizedText], between: str = " ") -> NormalizedText:
    """Words as one text; the separator between two of them has an empty origin where the second begins.

    >>> join_words([normalize_with_origins("ab", None), normalize_with_origins("c", None, offset=2)])
    NormalizedText(characters='ab c', starts=(0, 1, 2, 2), ends=(1, 2, 2, 3))
    """
    starts: list[int] = []
    ends: list[int] = []
    for word in words:
        if starts and word.starts:
            starts += [word.starts[0]] * len(between)
            ends += [word.starts[0]] * len(between)
        starts += word.starts
        ends += word.ends
    characters = between.join(word.characters for word in words if word.characters)
    return NormalizedText(characters, tuple(starts), tuple(ends))


def _words(segment: str, recipe: Recipe, offset: int) -> tuple[NormalizedText, ...]:
    # No library that follows reads a lone surrogate.
    readable = _SURROGATE.sub("\ufffd", segment)
    form: UnicodeForm | None = "NFKC" if "nfkc" in recipe.normalize else None
    normalized = normalize_with_origins(readable, form, offset=offset, case=False)
    if "full-width" in recipe.normalize:
        normalized = _full_width(normalized)
    if recipe.segmenter:
        word_ranges = word_spans(normalized.characters, recipe.segmenter)
    elif recipe.vocabulary in ("wordpiece", "words"):
        word_ranges = [match.span() for match in re.finditer(r"\S+", normalized.characters)]
    else:
        word_ranges = [(0, len(normalized.characters))]
    words = (
        NormalizedText(normalized.characters[start:end], normalized.starts[start:end], normalized.ends[start:end])
        for start, end in word_ranges
    )
    return tuple(map(_lower_case, words) if "lower" in recipe.normalize else words)


def _full_width(normalized: NormalizedText) -> NormalizedText:
    characters, starts, ends = [], [], []
    position = 0
    for character, length in full_width_units(normalized.characters):
        characters.append(character)
        starts.append(normalized.starts[position])
        ends.append(normalized.ends[position + length - 1])
        position += length
    return NormalizedText("".join(characters), tuple(starts), tuple(ends))


def _lower_case(normalized: NormalizedText) -> NormalizedText:
    lowered = normalized.characters.lower()
    by_character = [character.lower() for character in normalized.characters]
    if len(lowered) == len(normalized.characters) == sum(map(len, by_character)):
        return NormalizedText(lowered, normalized.starts, normalized.ends)
    # İ is lower-cased to two characters, which have one origin.
    starts = [start for start, low in zip(normalized.starts, by_character, strict=True) for _ in low]
    ends = [end for end, low in zip(normalized.ends, by_character, strict=True) for _ in low]
    return NormalizedText(lowered, tuple(starts), tuple(ends))
