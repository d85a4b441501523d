"""The reading of a piece of Japanese text in hiragana: by pykakasi, on the piece alone."""

from __future__ import annotations

import marshal
import re
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from engine.language.readings.hiragana import hiragana_only, strip_subword_marks
from engine.language.readings.variants import usual_kanji
from engine.version import library_version

# A reading depends on pykakasi's dictionary and on the rules of this folder: both belong into a signature.
ENGINE_VERSION = f"pykakasi {library_version('pykakasi')}, rules 6"
CACHED_READINGS = 200_000
UNPACKED_TABLES = 500

# Characters that pykakasi can read. Any other ends a run: an emoji inside one made it return the word before it twice.
_READABLE = re.compile("[ぁ-ゖゝゞァ-ヺーヽヾ々〆\u3400-\u4dbf\u4e00-\u9fff]+")
# ヶ between kanji is the particle が, which pykakasi knows as ヶ, ケ or が in one name each: 霞ヶ関, 関ケ原, 霞が関.
_KE = re.compile("(?<=[々\u3400-\u9fff])[ヶケヵ](?=[々\u3400-\u9fff])")
# 〆 is しめ, written 締 in the words that pykakasi knows so; it leaves out 〆 itself.
_SHIME = re.compile("〆(?=[切日])")
_lock = threading.Lock()


@lru_cache(maxsize=CACHED_READINGS)
def reading(text: str) -> str:
    """The reading of a token, word or name in hiragana, "" when it has none.

    Leading "##" and "▁" (the marks of WordPiece and SentencePiece) are removed; then NFKC, so
    that half-width kana read as kana, with variants such as 髙 and 﨑 read as 高 and 崎; then pykakasi.
    Katakana become hiragana; ー stays ー, also in hiragana words, so コーヒー and こーひー agree, and
    こうひい differs from them by two; ゝ and ゞ become the kana they repeat (すゝ is すす, すゞ is すず). ヶ between
    kanji is read as a part of the name where pykakasi knows it (関ヶ原 is せきがはら), else as が. 〆 is しめ (〆切).
    Digits, Latin letters, symbols, other scripts and kanji unknown to pykakasi have no reading and are
    dropped (`is_read_whole` tells). pykakasi reads this string only: 日 is にち here, though ついたち in 一日.

    Safe to call from several threads. The first call of a process loads the dictionary (a second).

    >>> [reading(name) for name in ("斉藤", "斎藤", "##サイトウ", "ｻｲﾄｳ", "尾崎", "A4")]
    ['さいとう', 'さいとう', 'さいとう', 'さいとう', 'おざき', '']
    """
    plain = _SHIME.sub("締", usual_kanji(strip_subword_marks(text))).replace("〆", "しめ")
    converted = _converted(plain)
    if _KE.search(plain) and re.search("[ゕゖ]", converted):
        spelt = (_converted(_KE.sub(kana, plain)) for kana in ("ケ", "が"))
        converted = next((kana for kana in spelt if not re.search("[けゖ]", kana)), converted)
    return hiragana_only(converted)


def _converted(text: str) -> str:
    with _lock:
        return hiragana_only(
            "".join(part["hira"] for run in _READABLE.findall(text) for part in _kakasi().convert(run))
        )


def dictionary_readings(word: str) -> tuple[str, ...]:
    """The readings in hiragana that pykakasi's dictionary lists for a word in kanji; () for a word that it lacks.

    >>> dictionary_readings("株式会社"), dictionary_readings("株式会社員")
    (('かぶしきがいしゃ', 'かぶしきかいしゃ'), ())
    """
    with _lock:
        _kakasi()
        listed = _dictionary().get(ord(word[0]), {}).get(word, ())
    return tuple(dict.fromkeys(kana for kana, context in listed if not context))


@lru_cache(maxsize=1)
def _kakasi() -> Any:
    import pykakasi  # loads its dictionary, which only alignment needs

    _dictionary()
    return pykakasi.kakasi()


@lru_cache(maxsize=1)
def _dictionary() -> PackedTables:
    from pykakasi.kanji import Kanwa

    dictionary = Kanwa()  # one for all of pykakasi
    packed = dictionary._jisyo_table = PackedTables(dictionary._jisyo_table)
    return packed


class PackedTables:
    """pykakasi's dictionary, the table of each first character packed until a word begins with it.

    270,000 words in 6,800 tables are 110 MB of Python objects, packed 12 MB. tables: by the code of the character, each
    word -> its readings.
    """

    def __init__(self, tables: Mapping[int, Any]) -> None:
        # Nothing of the tables may stay, not even a key: memory is given back in blocks in which no object is left.
        self._packed = {chr(code): marshal.dumps(table) for code, table in tables.items()}
        self._unpacked = lru_cache(maxsize=UNPACKED_TABLES)(self._table)

    def get(self, code: int, default: Any = None) -> Any:
        """The table of a first character; `default` where there is none."""
        return self._unpacked(code) if chr(code) in self._packed else default

    def _table(self, code: int) -> Any:
        return marshal.loads(self._packed[chr(code)])
