"""The text of a file or of bytes, decoded block by block, so that it need not be in memory as a whole."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from engine.datasets.formats import bounds

BLOCK_BYTES = 2**20
# A byte order mark is taken off by these decoders, and by that of utf-16.
_WITHOUT_MARK = {"utf-8": "utf-8-sig"}


def opened(source: Path | bytes) -> IO[bytes]:
    """The bytes of a file, or bytes, from their start."""
    return io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def n_bytes(source: Path | bytes) -> int:
    """The size of a file, or of bytes."""
    return len(source) if isinstance(source, bytes) else source.stat().st_size


@dataclass(frozen=True)
class TextSource:
    """Bytes of a known encoding. Raises UnicodeDecodeError, during iteration, where they are not of it."""

    source: Path | bytes = field(repr=False)
    encoding: str

    def blocks(self) -> Iterator[str]:
        """The text in blocks of about a mebibyte."""
        total = n_bytes(self.source)
        raw = opened(self.source)
        with self._decoded(raw, "") as file:
            while text := file.read(BLOCK_BYTES):
                yield text
                bounds.report(min(raw.tell(), total), total)

    def lines(self, *, end: str = "\n") -> Iterator[str]:
        """The lines with their ends; `end`: "\\n" where only line feeds end them, "" where carriage returns do."""
        total = n_bytes(self.source)
        raw = opened(self.source)
        with self._decoded(raw, end) as file:
            for number, line in enumerate(file):
                yield line
                if not number % 1000:
                    bounds.report(min(raw.tell(), total), total)

    def text(self) -> str:
        """All of the text."""
        return "".join(self.blocks())

    def _decoded(self, raw: IO[bytes], newline: str) -> io.TextIOWrapper:
        return io.TextIOWrapper(raw, _WITHOUT_MARK.get(self.encoding, self.encoding), newline=newline)
