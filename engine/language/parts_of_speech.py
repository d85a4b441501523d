"""The words of a sentence with their parts of speech and readings, as UniDic has them in that sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from engine.language.compounds import read_compounds, read_places, read_proper_nouns
from engine.language.in_context import read_in_context
from engine.language.readings.by_pykakasi import reading
from engine.language.readings.hiragana import hiragana_only, repeated_kana
from engine.language.readings.variants import SELECTORS, composed_marks, dictionary_kanji, without_selectors
from engine.language.tagged_word import TaggedWord
from engine.language.words import word_spans, words_with_features

# A study scores the same sentences under several settings, and tagging takes most of its time.
CACHED_SENTENCES = 8192
_COMPOSED = re.compile(f"[ｦ-ﾟ]|[ぁ-ヿ][\u3099\u309a゛゜]|{SELECTORS}")
_COMPOSED_OR_ONE = re.compile(f"(?:[ｦ-ﾝ][ﾞﾟ]?|[ぁ-ヿ][\u3099\u309a゛゜]|.){SELECTORS}*", re.DOTALL)
# Index of the kana spelling among the features of unidic-lite; an unknown word has fewer features.
_KANA = 17


@lru_cache(maxsize=CACHED_SENTENCES)
def tagged_words(text: str) -> tuple[TaggedWord, ...]:
    """The words of `text` by MeCab with unidic-lite, spans as in `words.word_spans`.

    Half-width kana, voiced marks apart from their kana, repetition marks (ゝ), rare variants of kanji (髙) and
    characters with a variation selector (葛󠄀) are given to MeCab in their usual form, since its dictionary has no
    other; spans are those of the text as it stands.

    The reading is the spelling in kana (は stays は, not わ) that UniDic has for the word in this context, in the
    characters that `readings.reading` uses, mended by `in_context` (三本, お父さん) and `compounds` (株式会社). A word
    that UniDic does not have (also digits and Latin letters, in unidic-lite) is read by that function. Names are the
    names of the dictionary, and MeCab's guesses for unknown words; this is not named entity recognition.

    >>> [(word.reading, word.is_proper_noun) for word in tagged_words("斉藤は一日走る")]
    [('さいとう', True), ('は', False), ('いちにち', False), ('はしる', False)]
    """
    plain, origins = _usual_form(text)
    words = [
        TaggedWord(
            start,
            end,
            features[:4],
            hiragana_only(features[_KANA]) if len(features) > _KANA else reading(plain[start:end]),
            len(features) > _KANA,
        )
        for (start, end), features in words_with_features(plain)
    ]
    words = read_proper_nouns(plain, read_places(plain, words))
    placed = read_in_context(text, [replace(word, start=origins[word.start], end=origins[word.end]) for word in words])
    of_words = [replace(word, reading=read.reading) for word, read in zip(words, placed, strict=True)]
    return tuple(
        word if kana.reading == word.reading else replace(word, reading=kana.reading)
        for word, kana in zip(placed, read_compounds(plain, of_words, [word.reading for word in words]), strict=True)
    )


def cut_spans(text: str) -> list[tuple[int, int]]:
    """The spans of `tagged_words` alone, of texts that are cut once: nothing is read, and nothing kept.

    >>> cut_spans("ﾊﾟﾝを")
    [(0, 3), (3, 4)]
    """
    plain, origins = _usual_form(text)
    return [(origins[start], origins[end]) for start, end in word_spans(plain)]


def _usual_form(text: str) -> tuple[str, Sequence[int]]:
    """The text as MeCab's dictionary spells it, and where each of its characters begins in the text, and it ends."""
    plain = repeated_kana(dictionary_kanji(text))
    if not _COMPOSED.search(plain):
        return plain, range(len(plain) + 1)
    units = [match.span() for match in _COMPOSED_OR_ONE.finditer(plain)]
    return "".join(_composed(plain[start:end]) for start, end in units), [*(start for start, _ in units), len(plain)]


def _composed(unit: str) -> str:
    """A character with the marks after it as one character."""
    base = without_selectors(unit) or unit[0]
    composed = composed_marks(base) if len(base) > 1 or _COMPOSED.match(base) else base
    return composed if len(composed) == 1 else base[0]  # a mark that composes with nothing is left out
