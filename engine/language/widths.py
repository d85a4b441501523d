"""Full-width forms, as some publishers of Japanese models prepared their corpora: ABC to ＡＢＣ, ｶﾞ to ガ."""

from __future__ import annotations

import re
import unicodedata

# Printable ASCII lies in the block of full-width forms in the same order, but for these. The backslash stays, and the
# yen sign is the one that becomes ￥.
_ASCII = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
_OTHERWISE = {'"': "”", "'": "’", "`": "‘", "\\": "\\", "¥": "￥", "ﾞ": "゛", "ﾟ": "゜"}
_TABLE = {**_ASCII, **{chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFF61, 0xFF9E)},
          **_OTHERWISE}
_UNIT = re.compile("[ｳｶ-ﾄﾊ-ﾎ]ﾞ|[ﾊ-ﾎ]ﾟ|.", re.DOTALL)


def full_width(text: str) -> str:
    """ASCII and half-width katakana in their full-width forms; a voiced kana and its mark become one character.

    Spaces stay as they are, and so does everything that has no half-width form. The table is mojimoji's `han_to_zen`
    (which NICT's and, after them, others' instructions for Japanese BERT models use), but for the space.

    >>> full_width('GPUで"ｶﾞｽ"')
    'ＧＰＵで”ガス”'
    """
    return "".join(character for character, _ in full_width_units(text))


def full_width_units(text: str) -> list[tuple[str, int]]:
    """The characters of `full_width`, each with the number of characters of `text` that it stems from.

    >>> full_width_units("aｶﾞ")
    [('ａ', 1), ('ガ', 2)]
    """
    return [(_TABLE.get(unit, unit) if len(unit) == 1 else unicodedata.normalize("NFKC", unit), len(unit))
            for unit in _UNIT.findall(text)]
