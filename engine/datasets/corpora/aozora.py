"""Aozora Bunko's files: recognised by their notation, and stripped to the text of the work."""

from __future__ import annotations

import re
from itertools import islice

# The block that explains the notation is between two lines of hyphens; the colophon starts at 底本：.
_HYPHEN_LINE = re.compile(r"^-{20,}\s*$", re.MULTILINE)
_NOTATION_BLOCK = "記号について"
_COLOPHON = re.compile(r"^底本[：:].*", re.MULTILINE | re.DOTALL)
_RUBY = re.compile(r"《[^》\n]*》")
# Where no block says that 《》 is ruby: kana directly after what it is the reading of. Titles are in 《》, too.
_READING = re.compile(r"(?<=[^\s\u3000「『（〈《、。，．！？])《[ぁ-ゖァ-ヺーゝゞヽヾｦ-ﾟ・\u3000]+》")
_NOTE = re.compile(r"※?［＃[^］\n]*］")
# A line up to its last closing bracket: behind it every opening one would be followed to the end of the line.
_CLOSED = {_RUBY: re.compile(r"^[^\n]*》", re.MULTILINE), _NOTE: re.compile(r"^[^\n]*］", re.MULTILINE)}
_SIGN = re.compile(r"［＃|^底本[：:]", re.MULTILINE)


def is_aozora(text: str) -> bool:
    """Whether a text is in Aozora's notation: it has the block that explains it, notes, or a colophon.

    >>> is_aozora("［＃３字下げ］一"), is_aozora("彼は《こころ》を読んだ。")
    (True, False)
    """
    text = _with_line_feeds(text)
    return _SIGN.search(text) is not None or _body(text) != text


def strip_aozora(text: str) -> str:
    """An Aozora Bunko file without header, notation block, ruby, notes and colophon.

    Ruby 《》 is removed and its base kept, without the bar ｜ that starts it; ［＃notes］ are removed, with the ※
    of a gaiji. In a file without notation block ruby is kana after its base, and any other 《》 is text. Text without
    that notation is unchanged, except for outer blank lines.
    """
    whole = _with_line_feeds(text)
    body = _body(whole)
    text = _COLOPHON.sub("", body)
    text = _READING.sub("", text) if body == whole else _without(_RUBY, text)
    text = _without(_NOTE, text)
    return text.replace("｜", "").strip("\n")


def _without(notation: re.Pattern[str], text: str) -> str:
    return _CLOSED[notation].sub(lambda line: notation.sub("", line[0]), text)


def _with_line_feeds(text: str) -> str:
    return re.sub(r"\r\n?", "\n", text)


def _body(text: str) -> str:
    """The text after the block that explains the notation; other lines of hyphens separate scenes and are kept."""
    hyphens = [match.end() for match in islice(_HYPHEN_LINE.finditer(text), 2)]
    return text[hyphens[1] :] if len(hyphens) > 1 and _NOTATION_BLOCK in text[hyphens[0] : hyphens[1]] else text
