"""Pasted text as bytes, for the process that reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engine.datasets.formats.files import Table, paste_table


def read_pasted(
    source: Path | bytes,
    name: str = "",
    *,
    columns: Sequence[str],
    skip_bad_rows: bool = False,
    judge: Callable[[Table], object] | None = None,
) -> Table:
    """`paste_table` of a text as bytes of UTF-8, or a file of them. name: not used."""
    content = source if isinstance(source, bytes) else source.read_bytes()
    return paste_table(content.decode("utf-8", "surrogatepass"), columns, skip_bad_rows=skip_bad_rows, judge=judge)
