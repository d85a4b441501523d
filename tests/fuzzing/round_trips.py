"""Any table, written as CSV, TSV, JSON lines or Excel in any encoding, and read again, is the same table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass

import openpyxl
import pandas as pd
from hypothesis import strategies as st

from dashboard.shared.exports.signing import csv_bytes
from engine.datasets.formats import encodings
from engine.datasets.formats.files import Table

# Of each: what users write, what readers turn into something else, and any other character.
_ODD = [
    "NA",
    "null",
    "1.50",
    "001",
    "1e5",
    "TRUE",
    "=1+1",
    "'=1",
    "'-ness",
    "''",
    "@x",
    "\t",
    '"',
    '""',
    "a,b;c",
    " a ",
    "\r",
    "\n",
    "\r\n",
    "髙橋",
    "①",
    "ﾊﾝｶｸ",
    "～",
    "𠮷",
    "🐼",
    "\ufeff",
    "\u2028",
    "\x1b$B",
    "\\",
    "\\n",
    "{}",
    "[1]",
    "NaN",
]
_CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0")
_TEXTS = st.one_of(
    st.sampled_from(_ODD),
    st.text(_CHARACTERS, max_size=8),
    st.text("あ猫が1aé,\"'=\t\n ", max_size=8),
    st.lists(st.sampled_from(_ODD), max_size=3).map("".join),
)
# Control characters that XML, and so a workbook, cannot hold; a carriage return becomes a line feed in it.
_NOT_IN_XML = {*map(chr, range(32)), "\ufffe", "\uffff"} - {"\t", "\n"}


@dataclass(frozen=True)
class Cells:
    """Names of columns and rows of texts."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def of_encoding(self, codec: str) -> Cells:
        """The same without the characters that an encoding lacks, or changes on its way there and back."""
        return self._kept(lambda text: "".join(letter for letter in text if _comes_back(letter, codec)))

    def of_xml(self) -> Cells:
        """The same without the characters that a workbook cannot hold."""
        return self._kept(lambda text: "".join(letter for letter in text if letter not in _NOT_IN_XML))

    def _kept(self, keep: Callable[[str], str]) -> Cells:
        return Cells(self.header, tuple(tuple(map(keep, row)) for row in self.rows))


def _rows(width: int) -> st.SearchStrategy[tuple[tuple[str, ...], ...]]:
    return st.lists(st.tuples(*[_TEXTS] * width), min_size=1, max_size=5).map(tuple)


# The last row is never empty: empty ones at the end are left out, with a notice.
TABLES = st.integers(2, 4).flatmap(
    lambda width: st.builds(
        lambda rows: Cells(tuple(f"column{index}" for index in range(width)), (*rows, ("end",) * width)), _rows(width)
    )
)
CODECS = st.sampled_from([*encodings.ENCODINGS, "utf-8-sig"])


def as_delimited(cells: Cells, separator: str, codec: str) -> bytes:
    """The table as text of an encoding; between tabs all fields in quotation marks, as a few alone are text there."""
    file = io.StringIO()
    csv.writer(
        file,
        delimiter=separator,
        lineterminator="\r\n",
        quoting=csv.QUOTE_ALL if separator == "\t" else csv.QUOTE_MINIMAL,
    ).writerows([cells.header, *cells.rows])
    return file.getvalue().encode(codec)


def as_json_lines(cells: Cells, codec: str, *, ascii_only: bool) -> bytes:
    """The table as JSON lines."""
    lines = [json.dumps(dict(zip(cells.header, row, strict=True)), ensure_ascii=ascii_only) for row in cells.rows]
    return "\n".join(lines).encode(codec)


def as_workbook(cells: Cells) -> bytes:
    """The table as a workbook of texts."""
    book = openpyxl.Workbook()
    for number, row in enumerate([cells.header, *cells.rows], start=1):
        for column, text in enumerate(row, start=1):
            if text:
                cell = book.active.cell(number, column)
                cell.value = text
                cell.data_type = "s"  # also what begins as a formula does
    book.save(file := io.BytesIO())
    return file.getvalue()


def as_export(cells: Cells) -> bytes:
    """The table as a page writes it: with apostrophes before what begins as a formula does, and a signature."""
    return csv_bytes(pd.DataFrame(list(cells.rows), columns=list(cells.header), dtype="str"), {"versions": {}})


def expect_same(cells: Cells, table: Table, *, blank_rows: bool = True) -> None:
    """The table that was read has the cells that were written; blank_rows: False where a format has no blank rows."""
    columns = [name for name in table.frame.columns if name != "signature"]
    assert tuple(columns) == cells.header
    rows = tuple(tuple(row) for row in table.frame[columns].to_numpy().tolist())
    assert rows == (cells.rows if blank_rows else tuple(row for row in cells.rows if any(row)))


def _comes_back(letter: str, codec: str) -> bool:
    if letter == "\x1b" and codec == "iso2022_jp":  # it begins another character set
        return False
    if codec == "cp932" and encodings.UNDEFINED_IN_CP932.match(letter):  # Python's codec has it, Windows' has not
        return False
    try:
        return letter.encode(codec).decode(codec) == letter
    except UnicodeError:
        return False
