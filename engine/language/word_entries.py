"""The words of a text as a dictionary of words counts them, and as it is asked for them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from engine.language.parts_of_speech import cut_spans
from engine.language.readings.variants import without_selectors
from engine.version import library_version

# What such a dictionary was counted with, where one of pieces has the fingerprint of a tokenizer.
WORDS = f"words: unidic-lite {library_version('unidic-lite')}"
SEPARATOR = " "  # no entry has white space


def word_entries(text: str) -> list[str]:
    """The entries of a text's words in order: the words of MeCab with unidic-lite, as spelled, each by `entry`.

    The words are those of `parts_of_speech.tagged_words`, which number the tokens of an alignment.

    >>> word_entries("斉藤は ＣＤを買う")
    ['斉藤', 'は', 'CD', 'を', '買う']
    """
    return [entry(text[start:end]) for start, end in cut_spans(text)]


def entry(word: str) -> str:
    """What a word is looked up by: itself in NFKC, so that full and half width are one; its case is kept.

    Variation selectors are left out.

    >>> entry("ＣＤ"), entry("ﾊﾟﾝ")
    ('CD', 'パン')
    """
    return "".join(unicodedata.normalize("NFKC", without_selectors(word)).split())


def joined_entries(entries: Sequence[str]) -> str:
    """Entries in a row as one text, of which `separate_entries` makes them again.

    >>> joined_entries(["東京", "タワー"])
    '東京 タワー'
    """
    return SEPARATOR.join(entries)


def separate_entries(joined: str) -> list[str]:
    """The entries in a text of `joined_entries`; none of an empty one."""
    return joined.split()
