"""Files of two encodings: some lines are UTF-8, others are not."""

from __future__ import annotations

import re
from pathlib import Path

from engine.datasets.formats.text_source import opened
from engine.errors import InputError
from engine.messages.message import Message

LINES_IN_MESSAGE = 5

# One kana or Japanese full stop, or two characters of three bytes, do not occur by chance. A single other one may:
# 箒の神 in CP932 is also valid UTF-8, for a Georgian letter and an accent.
CERTAINLY_UTF8 = re.compile(rb"\xe3[\x80-\x83][\x80-\xbf]|([\xe1-\xef][\x80-\xbf]{2}).*([\xe1-\xef][\x80-\xbf]{2})")


def refuse_mixture(source: Path | bytes, name: str) -> None:
    """Raise InputError when some lines of a file that is not UTF-8 throughout are certainly UTF-8."""
    utf8_lines, other_lines = _Numbers(), _Numbers()
    with opened(source) as file:
        for number, line in enumerate(file, start=1):
            line = line.removesuffix(b"\n")
            if not _is_utf8(line):
                other_lines.add(number)
            elif CERTAINLY_UTF8.search(line):
                utf8_lines.add(number)
    if utf8_lines.first:
        raise InputError(
            Message(
                "{name} mixes encodings: line {utf8_lines} is UTF-8, line {other_lines} is not. Save "
                "the whole file as UTF-8 and try again.",
                name=name,
                utf8_lines=utf8_lines,
                other_lines=other_lines,
            )
        )


class _Numbers:
    """The first line numbers of many."""

    def __init__(self) -> None:
        self.first: list[int] = []
        self._has_more = False

    def add(self, number: int) -> None:
        if len(self.first) < LINES_IN_MESSAGE:
            self.first.append(number)
        else:
            self._has_more = True

    def __str__(self) -> str:
        return ", ".join(map(str, self.first)) + (" …" if self._has_more else "")


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
