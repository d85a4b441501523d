"""A text made ready by a recipe, with every character's origin in the text as it was given. Free of torch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.language.segmenters import word_spans
from engine.language.widths import full_width_units
from engine.models.sources.recipes import Recipe
from engine.models.tokenization.character_alignment import Folded, fold

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Part:
    """A stretch of a text: a special token that the text spells (`special`), or the words of what lies between such.

    `words`: at least one for a special token; none for white space alone.
    """

    words: tuple[Folded, ...]
    special: bool = False


def prepare(text: str, recipe: Recipe, special_tokens: Sequence[str]) -> list[Part]:
    """The parts of `text`, in order, normalised and segmented as `recipe` says.

    Special tokens that the text spells ([MASK]) are left as they are, and no word reaches over one. Without a
    segmenter a part is one word with its white space, unless the recipe's vocabulary asks for words: then they
    end at white space. Raises as `segmenters.word_spans`.
    """
    longest_first = sorted(filter(None, special_tokens), key=len, reverse=True)
    stretches = re.split(f"({'|'.join(map(re.escape, longest_first))})", text) if longest_first else [text]
    parts: list[Part] = []
    offset = 0
    for number, stretch in enumerate(stretches):
        if number % 2:
            parts.append(Part((fold(stretch, None, offset=offset, case=False),), special=True))
        elif stretch:
            parts.append(Part(_words(stretch, recipe, offset)))
        offset += len(stretch)
    return parts


def joined(words: Sequence[Folded], between: str = " ") -> Folded:
    """Words as one text; what is put between two of them stems from the place where the second begins, and no text.

    >>> joined([fold("ab", None), fold("c", None, offset=2)])
    Folded(characters='ab c', starts=(0, 1, 2, 2), ends=(1, 2, 2, 3))
    """
    starts: list[int] = []
    ends: list[int] = []
    for word in words:
        if starts and word.starts:
            starts += [word.starts[0]] * len(between)
            ends += [word.starts[0]] * len(between)
        starts += word.starts
        ends += word.ends
    return Folded(between.join(word.characters for word in words if word.characters), tuple(starts), tuple(ends))


def _words(stretch: str, recipe: Recipe, offset: int) -> tuple[Folded, ...]:
    # No library that is asked later reads a lone surrogate.
    readable = _SURROGATE.sub("\ufffd", stretch)
    folded = fold(readable, "NFKC" if "nfkc" in recipe.normalize else None, offset=offset, case=False)
    if "full-width" in recipe.normalize:
        folded = _widened(folded)
    if recipe.segmenter:
        spans = word_spans(folded.characters, recipe.segmenter)
    elif recipe.vocabulary in ("wordpiece", "words"):
        spans = [found.span() for found in re.finditer(r"\S+", folded.characters)]
    else:
        spans = [(0, len(folded.characters))]
    words = (Folded(folded.characters[start:end], folded.starts[start:end], folded.ends[start:end])
             for start, end in spans)
    return tuple(map(_lowered, words) if "lower" in recipe.normalize else words)


def _widened(folded: Folded) -> Folded:
    characters, starts, ends = [], [], []
    position = 0
    for character, length in full_width_units(folded.characters):
        characters.append(character)
        starts.append(folded.starts[position])
        ends.append(folded.ends[position + length - 1])
        position += length
    return Folded("".join(characters), tuple(starts), tuple(ends))


def _lowered(folded: Folded) -> Folded:
    lowered = folded.characters.lower()
    by_character = [character.lower() for character in folded.characters]
    if len(lowered) == len(folded.characters) == sum(map(len, by_character)):
        return Folded(lowered, folded.starts, folded.ends)
    # İ is lower-cased to two characters, which have one origin.
    starts = [start for start, low in zip(folded.starts, by_character, strict=True) for _ in low]
    ends = [end for end, low in zip(folded.ends, by_character, strict=True) for _ in low]
    return Folded(lowered, tuple(starts), tuple(ends))
