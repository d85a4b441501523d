"""Words of a text as spans of its characters: Japanese has no spaces, so MeCab segments it."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from engine.version import library_version

# MeCab and its dictionary determine the words: both belong into a signature.
ENGINE_VERSION = ", ".join(f"{name} {library_version(name)}" for name in ("fugashi", "unidic-lite"))
# MeCab's time is quadratic in a run of one script, and some 150,000 words at once crash the process
# (measured: "a" * 200_000, or a million characters of prose); so texts are split into pieces.
PIECE_CHARACTERS = 4_000

# Kana (also half-width and phonetic extensions), and kanji with 々〆〇, all extensions and compatibility forms.
_KANA_OR_KANJI = re.compile(
    "[ぁ-ゟァ-ヺー-ヿㇰ-ㇿｦ-ﾟ\U0001b000-\U0001b16f々〆〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
# MeCab ends its input at NUL, and a lone surrogate has no UTF-8 form: one character each in their place.
_PIECE = re.compile(rf".{{1,{PIECE_CHARACTERS}}}\Z|.{{1,{PIECE_CHARACTERS}}}(?<=[ 。！？])|.{{1,{PIECE_CHARACTERS}}}")
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
_lock = threading.Lock()


def word_spans(text: str) -> list[tuple[int, int]]:
    """The words of `text` as (start, end): text[start:end] is the word, as written.

    By MeCab with unidic-lite, in pieces of at most 4,000 characters that end, where possible, with a
    sentence or before a space. Spans are ordered and do not overlap; together they hold every
    character that is not whitespace, and no whitespace. An empty or blank text has none.

    Safe to call from several threads. The first call of a process opens the dictionary.

    >>> text = "私は 東京タワー"
    >>> [text[start:end] for start, end in word_spans(text)]
    ['私', 'は', '東京', 'タワー']
    """
    return [span for span, _ in words_with_features(text)]


def words_with_features(text: str) -> list[tuple[tuple[int, int], tuple[str, ...]]]:
    """Each word's span, as `word_spans` gives it, and its features in the order of unidic-lite.

    A word of the dictionary has 26 features, an unknown word has six.
    """
    # MeCab drops some whitespace and keeps some as words, so all of it is replaced by single spaces, and the lengths
    # of the words are counted along the characters that are not whitespace; no search is needed.
    positions = [index for index, character in enumerate(text) if not character.isspace()]
    plain = _UNREADABLE.sub("\ufffd", " ".join(text.split()))
    with _lock:
        lengths_and_features = [
            (len(node.surface), tuple(node.feature)) for piece in _PIECE.findall(plain) for node in _tagger()(piece)
        ]
    words = []
    used = 0
    for length, features in lengths_and_features:
        words.append(((positions[used], positions[used + length - 1] + 1), features))
        used += length
    return words


def uses_spaces(text: str) -> bool:
    """Whether spaces separate the words of this text: False as soon as it holds one kana or kanji.

    A rule of scripts, not of languages: Chinese counts as written without spaces, Thai wrongly as with.

    >>> uses_spaces("the cat sat"), uses_spaces("GPUで動く")
    (True, False)
    """
    return _KANA_OR_KANJI.search(text) is None


def are_spaced(texts: Sequence[str]) -> bool:
    """Whether texts are written with white space between words: at least half of them have some between two others of
    their characters.

    >>> are_spaced(["the cat sat", "go!"]), are_spaced(["猫が眠る。", "GPT が書く", "犬"])
    (True, False)
    """
    return 2 * sum(len(text.split(maxsplit=1)) > 1 for text in texts) >= len(texts)


@lru_cache(maxsize=1)
def _tagger() -> Any:
    import fugashi
    import unidic_lite

    # GenericTagger returns the features unchanged; with an empty rc file no system setting applies.
    return fugashi.GenericTagger(f'-r /dev/null -d "{unidic_lite.DICDIR}"')
