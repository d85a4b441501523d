"""Aozora Bunko's files: recognised by their notation, and stripped to the text of the work."""

from __future__ import annotations

import re

# The block that explains the notation is between two lines of hyphens; the colophon starts at 底本：.
_HYPHEN_LINE = re.compile(r"^-{20,}\s*$", re.MULTILINE)
_NOTATION_BLOCK = "記号について"
_COLOPHON = re.compile(r"^底本[：:].*", re.MULTILINE | re.DOTALL)
_RUBY = re.compile(r"《[^》\n]*》")
_NOTE = re.compile(r"※?［＃[^］\n]*］")
_SIGN = re.compile(r"［＃|《[^》\n]+》|^底本：", re.MULTILINE)


def is_aozora(text: str) -> bool:
    """Whether a text has ruby, notes or a colophon in Aozora's notation.

    >>> is_aozora("傘《かさ》"), is_aozora("傘（かさ）")
    (True, False)
    """
    return _SIGN.search(text) is not None


def strip_aozora(text: str) -> str:
    """An Aozora Bunko file without header, notation block, ruby, notes and colophon.

    Ruby 《》 is removed and its base kept, without the bar ｜ that starts it; ［＃notes］ are removed, with the ※
    of a gaiji. Text without that notation is unchanged, except for outer blank lines.
    """
    text = re.sub(r"\r\n?", "\n", text)
    hyphens = [match.end() for match in _HYPHEN_LINE.finditer(text)]
    # Other lines of hyphens separate scenes and are kept.
    if len(hyphens) >= 2 and _NOTATION_BLOCK in text[hyphens[0]:hyphens[1]]:
        text = text[hyphens[1]:]
    text = _COLOPHON.sub("", text)
    text = _NOTE.sub("", _RUBY.sub("", text))
    return text.replace("｜", "").strip("\n")
