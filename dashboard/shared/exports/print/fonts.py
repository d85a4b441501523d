"""The fonts of printed figures: IPAexGothic, for what it lacks DejaVu Sans, then any font of the machine."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from matplotlib import ft2font
from matplotlib.font_manager import FontEntry, FontProperties, fontManager

# The first comes with matplotlib-fontja, the second with matplotlib.
JAPANESE, LATIN = "IPAexGothic", "DejaVu Sans"  # untranslated
# Fonts that have a picture for every character without showing it, or that are not encoded by Unicode.
UNUSABLE = (
    "Last Resort",  # untranslated
    "cm",
    "STIXNonUnicode",
    "STIXSize",  # untranslated
    "DejaVu Sans Display",  # untranslated
    "DejaVu Serif Display",  # untranslated
)
FIRST_AMONG_OTHERS = ("Noto Sans", "Noto", "")  # untranslated
INVISIBLE = frozenset("\n\t\r\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f")


@cache
def register() -> None:
    """Make IPAexGothic known to matplotlib."""
    # The import of matplotlib_fontja would change matplotlib's settings for the whole process: only its file is used.
    package = find_spec("matplotlib_fontja")
    assert package is not None and package.origin is not None
    fontManager.addfont(Path(package.origin).parent / "fonts" / "ipaexg.ttf")


def families(text: str) -> list[str]:
    """The fonts that `text` needs, in the order in which matplotlib looks for each of its characters."""
    register()
    missing = set(text) - _characters(JAPANESE) - _characters(LATIN) - INVISIBLE
    return [JAPANESE, LATIN, *(_others(frozenset(missing))[0] if missing else ())]


def missing(texts: Iterable[str]) -> str:
    """The characters that no font of the machine has, each once, in the order of their first occurrence."""
    register()
    characters = dict.fromkeys("".join(texts))
    lacking = set(characters) - _characters(JAPANESE) - _characters(LATIN) - INVISIBLE
    without_font = _others(frozenset(lacking))[1] if lacking else frozenset()
    return "".join(character for character in characters if character in without_font)


def needs_other_fonts(text: str) -> bool:
    """Whether `text` has characters of neither of the two fonts that can be embedded in a PDF."""
    register()
    return bool(set(text) - _characters(JAPANESE) - _characters(LATIN) - INVISIBLE)


@cache
def _characters(family: str) -> frozenset[str]:
    return _characters_of_file(fontManager.findfont(FontProperties(family=[family]), fallback_to_default=False))


@lru_cache(maxsize=256)
def _characters_of_file(path: str) -> frozenset[str]:
    return frozenset(map(chr, ft2font.FT2Font(path).get_charmap()))


@lru_cache(maxsize=4096)
def _others(characters: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The further fonts for some characters, and those of the characters that no font has."""
    needed, left = [], set(characters)
    for entry in _candidates():
        if not left:
            break
        covered = left & _characters_of_file(str(entry.fname))
        if covered:
            needed.append(entry.name)
            left -= covered
    return tuple(needed), frozenset(left)


@cache
def _candidates() -> list[FontEntry]:
    usable = {
        entry.name: entry
        for entry in sorted(fontManager.ttflist, key=lambda entry: str(entry.fname))
        if entry.style == "normal"
        and entry.weight in (400, "normal", "regular", "book")
        and not entry.name.startswith(UNUSABLE)
    }
    return sorted(
        usable.values(),
        key=lambda entry: (
            next(place for place, start in enumerate(FIRST_AMONG_OTHERS) if entry.name.startswith(start)),
            "JP" not in entry.name,
            entry.name,
        ),
    )
