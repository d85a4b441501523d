"""Encodings of single bytes, for alphabets: chardet's word for them, and how their bytes appear in a text.

chardet takes a few Japanese characters for Western letters, too, so its word counts only where the bytes stand so.
"""

from __future__ import annotations

import re

# Alphabets of single bytes by chardet's word, and the names of ENCODINGS that read them.
_ALPHABETS = {"windows-1252": "cp1252", "iso-8859-1": "cp1252", "iso-8859-15": "cp1252", "windows-1251": "cp1251"}
_ALPHABET = re.compile(r"windows-125\d|iso-8859-\d+|koi8-[rtu]|mac.+")
# Bytes beyond ASCII side by side. Western text has letters (from c0) and signs, one or two together; characters of two
# bytes are longer runs, or have a first byte below a1. Words of other alphabets are runs of odd length, too.
_RUNS = re.compile(rb"[\x80-\xff]+")
_WESTERN_RUN = re.compile(rb"[\xc0-\xff]|[\x80\x85\x91-\x97\xa0-\xbf]|[\xc0-\xff\x91-\x97\xa0-\xbf]{2}")
_MANY_RUNS = 5


def is_alphabet(word: str) -> bool:
    """Whether chardet's word, in small letters, is an encoding of single bytes."""
    return _ALPHABET.fullmatch(word) is not None


def codec(sample: bytes, word: str) -> str:
    """The name in `encodings.ENCODINGS` of what reads bytes that chardet calls `word`; "" where nothing there does."""
    return _ALPHABETS.get(word) or ("cp1252" if _is_same(sample, word, "cp1252") else "")


def is_written_in(sample: bytes, word: str) -> bool:
    """Whether bytes beyond ASCII stand as letters of the alphabet that chardet names, not as pairs."""
    if not is_alphabet(word):
        return False
    runs = _RUNS.findall(sample)
    if _ALPHABETS.get(word) == "cp1252":
        return sum(_WESTERN_RUN.fullmatch(run) is not None for run in runs) >= 0.8 * len(runs)
    if len(runs) < _MANY_RUNS:
        return False
    if sum(len(run) == 1 for run in runs) >= 0.9 * len(runs):
        return True
    n_odd, n_bytes = sum(len(run) % 2 for run in runs), sum(map(len, runs))
    return 4 * n_odd >= len(runs) and sum(byte >= 0xC0 for run in runs for byte in run) >= 0.95 * n_bytes


def _is_same(sample: bytes, encoding: str, other: str) -> bool:
    """Whether bytes are the same text in two encodings, as quotation marks are in all of Windows for Europe."""
    try:
        return sample.decode(encoding) == sample.decode(other)
    except (LookupError, UnicodeDecodeError):
        return False
