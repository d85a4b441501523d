"""The words of a sentence with their parts of speech and readings, as UniDic has them in that sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from engine.language.readings import hiragana_only, reading
from engine.language.words import words_with_features

PROPER_NOUN = "固有名詞"
# A study scores the same sentences under several settings, and tagging takes most of its time.
CACHED_SENTENCES = 8192
# Index of the kana spelling among the features of unidic-lite; an unknown word has fewer features.
_KANA = 17


@dataclass(frozen=True)
class TaggedWord:
    """One word: text[start:end], its part of speech from the general to the special, its reading in hiragana."""

    start: int
    end: int
    part_of_speech: tuple[str, ...]
    reading: str

    @property
    def is_proper_noun(self) -> bool:
        """Whether MeCab tags it as a name (固有名詞): of a person, a place, an organisation or another thing."""
        return PROPER_NOUN in self.part_of_speech


@lru_cache(maxsize=CACHED_SENTENCES)
def tagged_words(text: str) -> tuple[TaggedWord, ...]:
    """The words of `text` by MeCab with unidic-lite, spans as in `words.word_spans`.

    The reading is the spelling in kana (は stays は, not わ) that UniDic has for the word in this context, in the
    characters that `readings.reading` uses. A word that UniDic does not have (also digits and Latin letters, in
    unidic-lite) is read by that function. Names are the names of the dictionary, and MeCab's guesses for unknown
    words; this is not named entity recognition.

    >>> [(word.reading, word.is_proper_noun) for word in tagged_words("斉藤は一日走る")]
    [('さいとう', True), ('は', False), ('ついたち', False), ('はしる', False)]
    """
    return tuple(TaggedWord(start, end, features[:4],
                            hiragana_only(features[_KANA]) if len(features) > _KANA else reading(text[start:end]))
                 for (start, end), features in words_with_features(text))
