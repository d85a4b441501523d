"""A text file of any size in blocks: a small one as a whole, a large one in blocks that end with a line."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from engine.datasets.formats.encodings import UNDEFINED_IN_CP932, certain_source, decode
from engine.errors import InputError, reason_of
from engine.messages.message import Message

# A file up to this size is read at once.
WHOLE_BYTES = 16 * 2**20
BLOCK_BYTES = 2**20
# A longer line is split anywhere.
LONGEST_LINE = 4 * 2**20


class Block(NamedTuple):
    """Some text of a file; `is_last`: whether it is the last block; `n_read`: the number of bytes read so far."""

    text: str
    is_last: bool
    n_read: int


def blocks(source: Path | bytes, name: str) -> Iterator[Block]:
    """The text of a file, or of bytes, called `name`: all of it in a block of WHOLE_BYTES or fewer, else in several.

    Encodings are those of `encodings.decode`; that of a large file is determined by its start. Raises InputError,
    during iteration, when the file cannot be read or decoded.
    """
    try:
        if isinstance(source, Path):
            size = source.stat().st_size
            if size <= WHOLE_BYTES:
                raw = source.read_bytes()
                yield Block(decode(raw, name), True, len(raw))
                return
            with source.open("rb") as file:
                yield from _streamed(file, name)
        elif len(source) <= WHOLE_BYTES:
            yield Block(decode(source, name), True, len(source))
        else:
            yield from _streamed(io.BytesIO(source), name)
    except OSError as error:
        raise InputError(Message("{name} cannot be read: {error}.", name=name, error=reason_of(error))) from error


def _streamed(file: IO[bytes], name: str) -> Iterator[Block]:
    rest, n_read = "", 0
    encoding = ""
    decoder: codecs.IncrementalDecoder | None = None
    while raw := file.read(BLOCK_BYTES):
        if decoder is None or (encoding == "ascii" and not raw.isascii()):
            # ASCII text does not distinguish UTF-8 from CP932.
            encoding = _encoding_of(raw, name)
            decoder = codecs.getincrementaldecoder(encoding)()
        try:
            text = decoder.decode(raw)
        except UnicodeDecodeError as error:
            raise _undecodable(name, encoding, n_read + error.start) from error
        if encoding == "cp932" and UNDEFINED_IN_CP932.search(text):
            raise _undecodable(name, encoding, n_read)
        rest += text
        n_read += len(raw)
        cut = rest.rfind("\n") + 1 or (len(rest) if len(rest) > LONGEST_LINE else 0)
        if cut:
            yield Block(rest[:cut], False, n_read)
            rest = rest[cut:]
    try:
        yield Block(rest + (decoder.decode(b"", True) if decoder else ""), True, n_read)
    except UnicodeDecodeError as error:
        raise _undecodable(name, encoding, n_read) from error


def _encoding_of(raw: bytes, name: str) -> str:
    if raw.isascii():
        return "ascii"
    encoding = certain_source(raw, name, is_cut=True).encoding
    return "utf-8-sig" if encoding == "utf-8" else encoding  # a mark may stand before it


def _undecodable(name: str, encoding: str, position: int) -> InputError:
    return InputError(
        Message(
            "{name} begins as {encoding}, but near byte {position:,} it is something else. Save the "
            "whole file as UTF-8 and try again.",
            name=name,
            encoding=encoding.upper(),
            position=position,
        )
    )
