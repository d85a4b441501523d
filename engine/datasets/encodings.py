"""Bytes of a file to text: the encodings Japanese users really have."""

from __future__ import annotations

import codecs

from engine.errors import InputError

# utf-8-sig also reads plain UTF-8. CP932 comes last: it accepts most byte strings.
TRIED = ("utf-8-sig", "cp932")
BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def decode(raw: bytes, name: str) -> str:
    """The text of `raw`, from UTF-8 (with or without BOM), UTF-16 (with BOM) or CP932.

    Raises InputError naming the first undecodable byte and its line when none of them fits, as in
    a file whose parts have different encodings.
    """
    for bom, encoding in BOMS.items():
        if raw.startswith(bom):
            return _strictly(raw, encoding, name)
    for encoding in TRIED:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return _strictly(raw, "utf-8", name)


def _strictly(raw: bytes, encoding: str, name: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError(
            f"{name} is neither UTF-8, UTF-16 nor CP932 throughout: line {line}, byte {error.start} "
            f"(0x{raw[error.start]:02x}) fits none of them. Save the whole file as UTF-8 and try again."
        ) from error
