"""A table in Markdown, as GitHub, Pandoc and notebooks read it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tabulate import tabulate

from dashboard.shared.exports.signing import digest, signature_line
from dashboard.shared.exports.tables.printed import Cell, PrintedTable
from engine.messages.languages import sentences, tr

_MARKUP = re.compile(r"([\\`*_\[\]<>|~$#]|&(?=#?\w+;))")  # an ampersand alone begins no entity


def markdown(table: PrintedTable, signature: Mapping[str, Any]) -> str:
    """The table, then its notes and the signature as lines under it."""
    heads = [escape(f"{column.head} {column.arrow}".strip()) for column in table.columns]
    rows = zip(*([_cell(cell) for cell in column.cells] for column in table.columns), strict=True)
    body = tabulate(
        list(rows),
        heads,
        tablefmt="pipe",
        disable_numparse=True,
        colalign=["right" if column.numeric else "left" for column in table.columns] if table.n_rows else None,
    )
    notes = sentences(*map(escape, table.notes))
    signed = tr("Signature {digest}: {line}", digest=digest(signature), line=escape(signature_line(signature)))
    return "\n\n".join(part for part in (escape(table.meaning), body, notes, signed) if part) + "\n"


def escape(text: str) -> str:
    r"""A text that Markdown shows literally, on one line.

    >>> escape("a|b *c*")
    'a\\|b \\*c\\*'
    """
    # Every character at which a program may begin a line, as the carriage return and U+2028 are.
    return _MARKUP.sub(r"\\\1", " ".join(text.splitlines()))


def _cell(cell: Cell) -> str:
    text = f"**{escape(cell.text)}**" if cell.bold else escape(cell.text)
    return f"{text} {escape(cell.interval)}" if cell.interval else text
