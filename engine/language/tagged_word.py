"""A word of a sentence, as MeCab tags it."""

from __future__ import annotations

from dataclasses import dataclass

PROPER_NOUN = "固有名詞"


@dataclass(frozen=True)
class TaggedWord:
    """One word: text[start:end], its part of speech from the general to the special, its reading in hiragana.

    in_dictionary: False for one that UniDic does not have, whose part of speech is a guess.
    """

    start: int
    end: int
    part_of_speech: tuple[str, ...]
    reading: str
    in_dictionary: bool = True

    @property
    def is_proper_noun(self) -> bool:
        """Whether MeCab tags it as a name (固有名詞): of a person, a place, an organisation or another thing."""
        return PROPER_NOUN in self.part_of_speech
