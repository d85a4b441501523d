"""The reading of a piece of Japanese text in hiragana: by pykakasi, on the piece alone."""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from typing import Any

from engine.version import library_version

# A reading depends on pykakasi's dictionary and on the rules below: both belong into a signature.
ENGINE_VERSION = f"pykakasi {library_version('pykakasi')}, rules 1"
CACHED_READINGS = 200_000

_SUBWORD_MARKS = re.compile(r"^(?:##|▁)+")
# Characters unknown to pykakasi -> their known equivalents: radicals in text copied from PDF files, and variants used
# in names. NFKC changes neither.
_KNOWN_VARIANTS = str.maketrans(
    "⺠⻁⻄⻆⻑⻘⻝⻤⻨⻩⻫⻭⻯⻲" "髙﨑𠮷濵栁靑",
    "民虎西角長青食鬼麦黄斉歯竜亀" "高崎吉浜柳青")
# Characters that pykakasi can read. Any other ends a run: an emoji inside one made it return the word before it twice.
_READABLE = re.compile("[ぁ-ゖゝゞァ-ヺーヽヾ々〆\u3400-\u4dbf\u4e00-\u9fff]+")
_KATAKANA_TO_HIRAGANA = {code: code - 0x60 for code in range(ord("ァ"), ord("ヶ") + 1)} | str.maketrans(
    "ヷヸヹヺヽヾ", "わゐゑをゝゞ")
_REPEATED = re.compile(r"([ぁ-ゖ])([ゝゞ])")
_NOT_A_READING = re.compile(r"[^ぁ-ゖー]+")
_DAKUTEN = "\u3099"
_lock = threading.Lock()


@lru_cache(maxsize=CACHED_READINGS)
def reading(text: str) -> str:
    """The reading of a token, word or name in hiragana, "" when it has none.

    Leading "##" and "▁" (the marks of WordPiece and SentencePiece) are removed; then NFKC, so
    that half-width kana read as kana, with variants such as 髙 and 﨑 read as 高 and 崎; then pykakasi.
    Katakana become hiragana; ー stays ー, also in hiragana words, so コーヒー and こーひー agree, and
    こうひい differs from them by two; ゝ and ゞ become the kana they repeat (すゝ is すす, すゞ is すず).
    Digits, Latin letters, symbols, other scripts and kanji unknown to pykakasi have no reading and are
    dropped. pykakasi reads this string only: 日 is にち here, though ついたち in 一日.

    Safe to call from several threads. The first call of a process loads the dictionary (a second).

    >>> [reading(name) for name in ("斉藤", "斎藤", "##サイトウ", "ｻｲﾄｳ", "尾崎", "A4")]
    ['さいとう', 'さいとう', 'さいとう', 'さいとう', 'おざき', '']
    """
    plain = strip_subword_marks(text).translate(_KNOWN_VARIANTS)
    with _lock:
        converted = "".join(part["hira"] for run in _READABLE.findall(plain) for part in _kakasi().convert(run))
    return hiragana_only(converted)


def strip_subword_marks(text: str) -> str:
    """The text of a piece in full-width kana (NFKC), without the leading "##" and "▁".

    >>> strip_subword_marks("##ｻﾝ")
    'サン'
    """
    return unicodedata.normalize("NFKC", _SUBWORD_MARKS.sub("", text))


def hiragana_only(kana: str) -> str:
    """Kana as hiragana and ー, repetition marks expanded; all other characters are dropped.

    >>> hiragana_only("コーヒー"), hiragana_only("すゞ・")
    ('こーひー', 'すず')
    """
    hiragana = kana.translate(_KATAKANA_TO_HIRAGANA)
    while _REPEATED.search(hiragana):
        hiragana = _REPEATED.sub(_repeat, hiragana)
    return _NOT_A_READING.sub("", hiragana)


@lru_cache(maxsize=1)
def _kakasi() -> Any:
    import pykakasi  # loads its dictionary, which only alignment needs

    return pykakasi.kakasi()


def _repeat(match: re.Match[str]) -> str:
    kana, sign = match.groups()
    # ゝ repeats the kana unvoiced (づゝ is づつ), ゞ repeats it voiced (つゞ is つづ), where it can be.
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFD", kana).replace(_DAKUTEN, ""))
    voiced = unicodedata.normalize("NFC", plain + _DAKUTEN)
    return kana + (voiced if sign == "ゞ" and len(voiced) == 1 else plain)
