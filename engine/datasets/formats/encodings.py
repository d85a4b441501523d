"""Decoding of the bytes of a file, in the encodings that are in use for Japanese."""

from __future__ import annotations

import codecs
import re

from engine.errors import InputError

# utf-8-sig also reads plain UTF-8. CP932 comes last: it accepts most byte strings.
ENCODINGS_TRIED = ("utf-8-sig", "cp932")
BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# Python's characters for the bytes 80, a0, fd, fe and ff, which are undefined in CP932.
UNDEFINED_IN_CP932 = re.compile("[\x80\uf8f0-\uf8f3]")
LINES_IN_MESSAGE = 5

# One kana or Japanese full stop, or two characters of three bytes, do not occur by chance. A single other one may:
# 箒の神 in CP932 is also valid UTF-8, for a Georgian letter and an accent.
_CERTAINLY_UTF8 = re.compile(rb"\xe3[\x80-\x83][\x80-\xbf]|([\xe1-\xef][\x80-\xbf]{2}).*([\xe1-\xef][\x80-\xbf]{2})")


def decode(raw: bytes, name: str) -> str:
    """The text of `raw`, from UTF-8 (with or without BOM), UTF-16 (with BOM) or CP932.

    Raises InputError when none of them fits throughout, or when some lines are UTF-8 and others
    CP932: both kinds of lines are named. CP932 would often decode such a mixture, to wrong characters.
    """
    return decode_as(raw, name)[0]


def decode_as(raw: bytes, name: str) -> tuple[str, str]:
    """Like `decode`, with the name of the encoding."""
    for bom, encoding in BOMS.items():
        if raw.startswith(bom):
            return _decode_strictly(raw, encoding, name), encoding
    try:
        return raw.decode("utf-8-sig"), "utf-8-sig" if raw.startswith(codecs.BOM_UTF8) else "utf-8"
    except UnicodeDecodeError:
        _refuse_mixture(raw, name)
    text = _decode_strictly(raw, "cp932", name)
    undefined = UNDEFINED_IN_CP932.search(text)
    if undefined:
        raise _undecodable(raw, len(text[: undefined.start()].encode("cp932")), name)
    return text, "cp932"


def _refuse_mixture(raw: bytes, name: str) -> None:
    """Raise InputError when some lines of a file that is not UTF-8 throughout are certainly UTF-8."""
    utf8_lines, other_lines = [], []
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if not _decodes(line, "utf-8"):
            other_lines.append(number)
        elif _CERTAINLY_UTF8.search(line):
            utf8_lines.append(number)
    if utf8_lines:
        raise InputError(f"{name} mixes encodings: line {_listed(utf8_lines)} is UTF-8, line {_listed(other_lines)} is "
                         "not. Save the whole file as UTF-8 and try again.")


def _decode_strictly(raw: bytes, encoding: str, name: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(raw, error.start, name) from error


def _undecodable(raw: bytes, position: int, name: str) -> InputError:
    line = raw[:position].count(b"\n") + 1
    return InputError(f"{name} is neither UTF-8, UTF-16 nor CP932 throughout: line {line}, byte {position} "
                      f"(0x{raw[position]:02x}) fits none of them. Save the whole file as UTF-8 and try again.")


def _decodes(line: bytes, encoding: str) -> bool:
    try:
        line.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:LINES_IN_MESSAGE])) + (" …" if len(numbers) > LINES_IN_MESSAGE else "")
