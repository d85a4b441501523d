"""Addresses that can be taken for one another: characters that fold onto others, mixed scripts, similar letters.

Sources: Unicode Technical Standard 39 (the profile "Highly Restrictive" of mixed scripts; confusables.txt, of which the
letters that look like those of the Latin alphabet are here).
"""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress

# Written together, and with Latin letters, in Japanese, Chinese and Korean; by the first word of a character's name.
EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC", "BOPOMOFO", "HANGUL"})
LATIN = "LATIN"
LOOKS_LIKE = str.maketrans(
    {
        **dict(zip("аеорсухіјѕһԁԛԝүѵкгӏ", "aeopcyxijshdqwyvkrl", strict=True)),  # Cyrillic
        **dict(zip("αονρικυχγητσϲϳ", "aovpikuxyntocj", strict=True)),  # Greek
        **dict(zip("օոսհցզ", "onuhgq", strict=True)),  # Armenian
        **dict(zip("ıɑɡ", "iag", strict=True)),
    }
)


def normalized_address(text: str) -> str:
    """An address or a domain for comparison: NFKC, case folded, and the domain in its ASCII form.

    >>> normalized_address("Ann@LAB.example"), normalized_address("ann@bücher.example")
    ('ann@lab.example', 'ann@xn--bcher-kva.example')
    """
    local_part, at, domain = _folded(text).rpartition("@")
    if not domain.isascii():
        with suppress(UnicodeError):  # no name of a domain: it equals no other
            domain = domain.encode("idna").decode("ascii")
    return f"{local_part}{at}{domain}"


def is_ambiguous(text: str) -> bool:
    """Whether an address can be taken for another.

    That is when two different ones become one by the comparison (a Kelvin sign for k, full-width letters, ß for ss), or
    when one of its parts mixes scripts that are not written together (a Cyrillic а among Latin letters).

    >>> is_ambiguous("\u212aen@lab.example"), is_ambiguous("\u0430nn@lab.example")
    (True, True)
    >>> is_ambiguous("Ken@lab.example"), is_ambiguous("斉藤k@lab.example"), is_ambiguous("олег@lab.example")
    (False, False, False)
    """
    if text.isascii():
        return False
    folds = unicodedata.normalize("NFKC", text) != text or text.casefold() != text.lower()
    return folds or any(map(_mixes_scripts, re.split(r"[@.]", text)))


def skeleton(address: str) -> str:
    """An address with each letter replaced by the Latin one that it looks like; equal for addresses that look alike.

    >>> skeleton("Сосо@lab.example") == skeleton("coco@lab.example")
    True
    """
    return _folded(address).translate(LOOKS_LIKE)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _mixes_scripts(part: str) -> bool:
    scripts = {unicodedata.name(letter, "?").split()[0] for letter in part if letter.isalpha()}
    return len(scripts) > 1 and bool(scripts - EAST_ASIAN - {LATIN})
