"""Conversion to full-width forms, as in the corpora of some Japanese models: ABC to ＡＢＣ, ｶﾞ to ガ."""

from __future__ import annotations

import re
import unicodedata

# Printable ASCII has full-width forms in the same order, except for these. The backslash is unchanged, and the yen sign
# becomes ￥.
_ASCII = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
_EXCEPTIONS = {'"': "”", "'": "’", "`": "‘", "\\": "\\", "¥": "￥", "ﾞ": "゛", "ﾟ": "゜"}
_TABLE = {
    **_ASCII,
    **{chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFF61, 0xFF9E)},
    **_EXCEPTIONS,
}
_UNIT = re.compile("[ｳｶ-ﾄﾊ-ﾎ]ﾞ|[ﾊ-ﾎ]ﾟ|.", re.DOTALL)


def full_width(text: str) -> str:
    """ASCII and half-width katakana in their full-width forms; a voiced kana and its mark become one character.

    Spaces are unchanged, and so are all characters without a half-width form. The table is that of mojimoji's
    `han_to_zen` (used by NICT's and others' instructions for Japanese BERT models), except for the space.

    >>> full_width('GPUで"ｶﾞｽ"')
    'ＧＰＵで”ガス”'
    """
    return "".join(character for character, _ in full_width_units(text))


def full_width_units(text: str) -> list[tuple[str, int]]:
    """The characters of `full_width`, each with the number of characters of `text` that it stems from.

    >>> full_width_units("aｶﾞ")
    [('ａ', 1), ('ガ', 2)]
    """
    return [
        (_TABLE.get(unit, unit) if len(unit) == 1 else unicodedata.normalize("NFKC", unit), len(unit))
        for unit in _UNIT.findall(text)
    ]
