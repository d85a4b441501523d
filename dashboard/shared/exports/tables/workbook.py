"""A table as an Excel workbook: a sheet of the table, and one of the signature. Pure."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from engine.datasets.formats.workbook import escaped
from engine.errors import InputError
from engine.messages.message import Message

# A workbook takes so many rows in a sheet and characters in a cell; more cells than these take minutes to write.
MOST_ROWS, MOST_CHARACTERS, MOST_CELLS = 1_048_575, 32_767, 1_500_000
SHEET, SIGNATURE = "table", "signature"


def workbook(frame: pd.DataFrame, signature: Mapping[str, Any]) -> bytes:
    """The workbook; a text that begins with = + - @ is text in it; undefined numbers are empty, infinite ones ∞ or -∞.

    A text that is longer than a cell can hold ends in "…". Raises InputError for a table that is too large.
    """
    from openpyxl import Workbook

    if refusal := too_large(len(frame), len(frame.columns)):
        raise InputError(refusal)
    book = Workbook(write_only=True)
    sheet = book.create_sheet(SHEET)
    sheet.freeze_panes = "A2"
    sheet.append(_cells(sheet, map(str, frame.columns)))
    for row in frame.itertuples(index=False, name=None):
        sheet.append(_cells(sheet, row))
    signed = book.create_sheet(SIGNATURE)
    for line in json.dumps(dict(signature), indent=1, ensure_ascii=False, default=str).splitlines():
        signed.append(_cells(signed, [line]))
    book.save(sink := io.BytesIO())
    return sink.getvalue()


def too_large(n_rows: int, n_columns: int) -> Message | None:
    """Why a table of that size is no workbook, None for one that is."""
    if n_rows <= MOST_ROWS and n_rows * n_columns <= MOST_CELLS:
        return None
    return Message(
        "{n_rows:,} rows of {n_columns} columns are too many for a workbook; CSV and Parquet take them.",
        n_rows=n_rows,
        n_columns=n_columns,
    )


def _cells(sheet: Any, values: Iterable[Any]) -> list[Any]:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    cells = []
    for value in values:
        if isinstance(value, float) and math.isinf(value):  # a workbook has no such number
            value = "∞" if value > 0 else "-∞"
        if isinstance(value, str):
            text = escaped(ILLEGAL_CHARACTERS_RE.sub("\ufffd", value))
            cell = WriteOnlyCell(sheet, text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…")
            cell.data_type = "s"  # "=1+1" is a text here, not a formula
            cells.append(cell)
        elif value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
            cells.append(None)
        else:
            cells.append(value.item() if hasattr(value, "item") else value)
    return cells
