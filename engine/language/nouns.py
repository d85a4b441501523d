"""The common nouns of a text as spans of its characters, candidates for masking."""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Any

from engine.language.words import uses_spaces
from engine.version import library_version

# MeCab and its dictionary determine the nouns: both are recorded with what was built from them.
ENGINE_VERSION = ", ".join(f"{name} {library_version(name)}" for name in ("fugashi", "ipadic"))
PART_OF_SPEECH = ("名詞", "一般")
# MeCab's time is quadratic in a long run without an end of sentence, so texts are split into pieces.
PIECE_CHARACTERS = 4_000

_PIECE = re.compile(rf".{{1,{PIECE_CHARACTERS}}}\Z|.{{1,{PIECE_CHARACTERS}}}(?<=[ 。！？])|.{{1,{PIECE_CHARACTERS}}}")
# MeCab ends its input at NUL, and a lone surrogate has no UTF-8 form: one character each in their place.
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_lock = threading.Lock()


def common_nouns(text: str) -> list[tuple[int, int]]:
    """The common nouns of `text` as (start, end), in order: text[start:end] is the noun, as written.

    By MeCab with the IPA dictionary, part of speech 名詞-一般 with at least one letter, kana or kanji. So これ
    (代名詞), 東京 (固有名詞), 演奏 (サ変接続: 演奏する), 今 (副詞可能), こと (非自立) and numbers are none; a word the
    dictionary does not know is one where MeCab takes it for such a noun. All nouns that Shibayama et al. 2020
    list for their fill-mask test are of this part of speech, and UniDic would cut some of them up (主人 + 公).
    A text without kana and kanji has none: to this dictionary all English words are nouns.

    Safe to call from several threads. The first call of a process opens the dictionary.

    >>> text = "この本の主人公は、東京で演奏する。"
    >>> [text[start:end] for start, end in common_nouns(text)]
    ['本', '主人公']
    """
    if uses_spaces(text):
        return []
    return [
        (start, end)
        for (start, end), features in ipadic_words(text)
        if features[:2] == PART_OF_SPEECH and any(map(str.isalpha, text[start:end]))
    ]


def ipadic_words(text: str) -> list[tuple[tuple[int, int], tuple[str, ...]]]:
    """Each word of `text` by MeCab with the IPA dictionary: its span and its features, of which the eighth is its kana.

    A word that the dictionary does not have has seven features. Safe to call from several threads.

    >>> [features[7] for _, features in ipadic_words("言語道断だ")]
    ['ゴンゴドウダン', 'ダ']
    """
    # MeCab drops white space, so the lengths of words are counted along the other characters.
    positions = [index for index, character in enumerate(text) if not character.isspace()]
    plain = _UNREADABLE.sub("\ufffd", " ".join(text.split()))
    with _lock:
        lengths = [
            (len(node.surface), tuple(node.feature)) for piece in _PIECE.findall(plain) for node in _tagger()(piece)
        ]
    words = []
    used = 0
    for length, features in lengths:
        words.append(((positions[used], positions[used + length - 1] + 1), features))
        used += length
    return words


@lru_cache(maxsize=1)
def _tagger() -> Any:
    import fugashi
    import ipadic

    # GenericTagger and an empty rc file: no system setting applies.
    return fugashi.GenericTagger(f'-r /dev/null -d "{ipadic.DICDIR}"')
