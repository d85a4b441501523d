"""Kana as hiragana, and the characters in which readings are written."""

from __future__ import annotations

import re
import unicodedata

from engine.language.readings.variants import composed_marks, without_selectors

_SUBWORD_MARKS = re.compile(r"^(?:##|▁)+")
_KATAKANA_TO_HIRAGANA = {code: code - 0x60 for code in range(ord("ァ"), ord("ヶ") + 1)} | str.maketrans(
    "ヷヸヹヺヽヾ", "わゐゑをゝゞ"
)
_REPEATED = re.compile(r"([ぁ-ゖァ-ヶ])([ゝゞヽヾ])")
_NOT_A_READING = re.compile(r"[^ぁ-ゖー]+")
_DAKUTEN = "\u3099"


def strip_subword_marks(text: str) -> str:
    """The text of a piece in full-width kana (NFKC), without the leading "##" and "▁" and without variation selectors.

    >>> strip_subword_marks("##ｻﾝ")
    'サン'
    """
    return composed_marks(without_selectors(_SUBWORD_MARKS.sub("", text)))


def hiragana_only(kana: str) -> str:
    """Kana as hiragana and ー, repetition marks expanded; all other characters are dropped.

    >>> hiragana_only("コーヒー"), hiragana_only("すゞ・")
    ('こーひー', 'すず')
    """
    return _NOT_A_READING.sub("", repeated_kana(kana.translate(_KATAKANA_TO_HIRAGANA)))


def repeated_kana(text: str) -> str:
    """The text with ゝ ゞ ヽ ヾ as the kana that they repeat; its length stays, and so do marks after anything else.

    >>> repeated_kana("いすゞとこゝろ")
    'いすずとこころ'
    """
    while _REPEATED.search(text):
        text = _REPEATED.sub(_repeat, text)
    return text


def _repeat(match: re.Match[str]) -> str:
    kana, sign = match.groups()
    # ゝ repeats the kana unvoiced (づゝ is づつ), ゞ repeats it voiced (つゞ is つづ), where it can be.
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFD", kana).replace(_DAKUTEN, ""))
    voiced = unicodedata.normalize("NFC", plain + _DAKUTEN)
    return kana + (voiced if sign in "ゞヾ" and len(voiced) == 1 else plain)
