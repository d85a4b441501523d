"""Segmenters, which split a text into words before a model's own vocabulary is applied.

mecab-ipadic, mecab-unidic-lite, mecab-jumandic     MeCab with a dictionary that comes as a package
mecab-neologd                                       MeCab with the NEologd of HAKARI_NEOLOGD_DIR
mecab:DIRECTORY                                     MeCab with a compiled dictionary of one's own
jumanpp                                             Juman++, where its program is installed
"""

from __future__ import annotations

import re

from engine.errors import InputError, ModelError
from engine.language import jumanpp, mecab
from engine.messages.message import Message, list_of

JUMANPP = "jumanpp"
MECAB, MECAB_DIRECTORY = "mecab-", "mecab:"
NAMES = (*(MECAB + name for name in (*mecab.PACKAGES, mecab.NEOLOGD)), JUMANPP)

# MeCab ends its input at NUL, and a lone surrogate has no UTF-8 form: one character each in their place.
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")


def word_spans(text: str, segmenter: str) -> list[tuple[int, int]]:
    """The words of `text` as (start, end), in order and not overlapping: text[start:end] is the word, as written.

    Together they hold every character that is not white space, and no white space. Long texts are split at the ends of
    sentences into pieces that the segmenter can process. Safe to call from several threads.

    Raises InputError for an unknown segmenter, ModelError when it or its dictionary is not installed or cannot be used,
    RunError when it fails on this text.

    >>> text = "図書館は 東京"
    >>> [text[start:end] for start, end in word_spans(text, "mecab-jumandic")]
    ['図書', '館', 'は', '東京']
    """
    # The lengths of words are counted along the characters that are not white space; no search is needed.
    positions = [index for index, character in enumerate(text) if not character.isspace()]
    spaced_text = _UNREADABLE.sub("\ufffd", " ".join(text.split()))
    lengths = [len(surface) for surface in _surfaces(spaced_text, segmenter)]
    spans = []
    used = 0
    for length in lengths:
        spans.append((positions[used], positions[used + length - 1] + 1))
        used += length
    return spans


def identity(segmenter: str) -> str:
    """The segmenter and its dictionary with their versions, for cache keys and signatures.

    A dictionary without a version is identified by a SHA-256 over its files. Raises as `word_spans`.

    >>> identity("mecab-jumandic").endswith("jumandic 1.0.0")
    True
    """
    return jumanpp.identity() if _checked(segmenter) == JUMANPP else mecab.identity(_dictionary(segmenter))


def state(segmenter: str) -> str:
    """A short text that changes when the segmenter or its dictionary does, computed without opening them.

    Raises as `word_spans`.
    """
    return jumanpp.state() if _checked(segmenter) == JUMANPP else mecab.state(_dictionary(segmenter))


def missing(segmenter: str) -> str | None:
    """What is missing on this machine to use the segmenter, with advice; None where nothing is."""
    try:
        state(segmenter)
    except ModelError as error:
        return str(error)
    return None


def display_name(segmenter: str) -> str:
    """The name of a segmenter for readers.

    >>> display_name("mecab-jumandic"), display_name("jumanpp")
    ('MeCab with jumandic', 'Juman++')
    """
    if _checked(segmenter) == JUMANPP:
        return "Juman++"
    named = {mecab.NEOLOGD: "NEologd"}
    return Message("MeCab with {segmenter}", segmenter=named.get(_dictionary(segmenter), _dictionary(segmenter)))


def _surfaces(spaced_text: str, segmenter: str) -> list[str]:
    if _checked(segmenter) == JUMANPP:
        return jumanpp.surfaces(spaced_text)
    return mecab.surfaces(spaced_text, _dictionary(segmenter))


def _checked(segmenter: str) -> str:
    is_directory = segmenter.startswith(MECAB_DIRECTORY) and segmenter != MECAB_DIRECTORY
    if segmenter not in NAMES and not is_directory:
        raise InputError(
            Message(
                "There is no segmenter {segmenter!r}. There are {NAMES}, and "
                "{MECAB_DIRECTORY}DIRECTORY for a dictionary of your own.",
                segmenter=segmenter,
                NAMES=list_of(NAMES),
                MECAB_DIRECTORY=MECAB_DIRECTORY,
            )
        )
    return segmenter


def _dictionary(segmenter: str) -> str:
    return segmenter[len(MECAB) :]  # both prefixes have the same length
