"""An Excel workbook (.xlsx) to rows of strings: the first sheet that holds anything."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.datasets.formats import bounds
from engine.datasets.formats.grid import Grid, GridBuilder, quoted
from engine.datasets.formats.text_source import opened
from engine.errors import InputError

ZIP_SIGN = b"PK\x03\x04"
# Old .xls files, and .xlsx files with a password.
OLE_SIGN = b"\xd0\xcf\x11\xe0"
MAX_ROWS = 1_048_576  # Excel's own limit; bounds the loop for a forged row number
MAX_UNPACKED_BYTES = 2 * 2**30

_SAVE_AS = "Open it in a spreadsheet program and save it as Excel workbook (.xlsx, without password) or as CSV UTF-8."

Row = tuple[int, list[str]]  # number in the sheet, values up to the last filled cell
Position = tuple[int, int]  # number of the row, column from 0


def read_workbook(source: Path | bytes, name: str, *, skip_bad_rows: bool = False) -> Grid:
    """The rows under the first filled row of the first sheet that is not empty.

    Values are those of the cells: texts unchanged, whole numbers without ".0", dates in ISO
    format. A formula is read as its stored result, or as its own text in a workbook that stores no
    results at all (one written by a program). Blank rows are left out but counted, other sheets
    are named in a notice. Raises InputError for any other file, and as GridBuilder does.
    """
    with opened(source) as file:
        start = file.read(len(ZIP_SIGN))
    if start.startswith(OLE_SIGN):
        raise InputError(f"{name} is an old Excel file (.xls) or has a password. {_SAVE_AS}")
    if not start.startswith(ZIP_SIGN):
        raise InputError(f"{name} is not an Excel workbook although it is named like one. If it is text, give it "
                         f"the ending .csv, .tsv or .jsonl; otherwise: {_SAVE_AS}")
    try:
        _refuse_other_archives(source, name)
        titles, builder = _first_filled_sheet(source, name)
    except (InputError, MemoryError):
        raise
    except Exception as error:
        # openpyxl raises errors of many classes for a damaged file: KeyError, TypeError, ParseError, BadZipFile …
        raise InputError(f"{name} cannot be read as an Excel workbook ({type(error).__name__}). {_SAVE_AS}") from error
    if builder is None:
        raise InputError(f"{name} holds no data.")
    notices = [f"{name} has {len(titles)} filled sheets ({quoted(titles)}); only '{titles[0]}' was read."]
    return builder.finished(notices if len(titles) > 1 else (), skip_bad_rows=skip_bad_rows)


def _refuse_other_archives(source: Path | bytes, name: str) -> None:
    with opened(source) as file, zipfile.ZipFile(file) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        if "[Content_Types].xml" not in archive.namelist():
            raise InputError(f"{name} is a zip archive but no Excel workbook. Unpack it and give its files one by one.")
    if unpacked > MAX_UNPACKED_BYTES:
        raise InputError(f"{name} unpacks to {unpacked / 2**20:,.0f} MiB; at most {MAX_UNPACKED_BYTES // 2**20:,} MiB "
                         "are read. Save it as CSV UTF-8, in several files.")


@contextmanager
def _book(source: Path | bytes, *, data_only: bool) -> Iterator[Any]:
    # Imported here because importing it is slow, and few files are workbooks.
    import openpyxl

    with opened(source) as file:
        book = openpyxl.load_workbook(file, read_only=True, data_only=data_only)
        try:
            yield book
        finally:
            book.close()


def _first_filled_sheet(source: Path | bytes, name: str) -> tuple[list[str], GridBuilder | None]:
    """Titles of the filled sheets, and the rows of the first of them."""
    titles: list[str] = []
    builder: GridBuilder | None = None
    formulas: set[Position] = set()
    sheet_index = 0
    with _book(source, data_only=False) as book:
        for index, sheet in enumerate(book.worksheets):
            if builder is not None:
                if next(_filled_rows(sheet, name), None) is not None:
                    titles.append(sheet.title)
                continue
            builder = _built(_filled_rows(sheet, name, formulas), name)
            if builder is not None:
                titles.append(sheet.title)
                sheet_index = index
    if formulas:
        with _book(source, data_only=True) as book:
            results = {(number, column): value for number, values in _filled_rows(book.worksheets[sheet_index], name)
                       for column, value in enumerate(values) if value and (number, column) in formulas}
        if results:  # a formula without a stored result is empty then
            results = {position: results.get(position, "") for position in formulas}
            with _book(source, data_only=False) as book:
                builder = _built(_with_results(_filled_rows(book.worksheets[sheet_index], name), results), name)
    return titles, builder


def _built(rows: Iterator[Row], name: str) -> GridBuilder | None:
    """The rows as a table, the first one as its header; None without any."""
    first = next(rows, None)
    if first is None:
        return None
    header_number, header = first
    builder = GridBuilder(name, header)
    for number, values in rows:
        while len(builder.header) < len(values):
            builder.add_column()
        builder.add(number - header_number, values)
    return builder


def _filled_rows(sheet: Any, name: str, formulas: set[Position] | None = None) -> Iterator[Row]:
    """The filled rows of a sheet; the positions of formulas are added to `formulas`."""
    sheet.reset_dimensions()  # some programs store a wrong range
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        if number > MAX_ROWS:
            raise InputError(f"{name} has a row beyond number {MAX_ROWS:,}, the last a workbook can have. {_SAVE_AS}")
        values = [_text(cell.value) for cell in cells]
        while values and not values[-1]:
            values.pop()
        if formulas is not None:
            formulas.update((number, column) for column, cell in enumerate(cells) if cell.data_type == "f")
        bounds.report(number)
        if values:
            yield number, values


def _with_results(rows: Iterator[Row], results: Mapping[Position, str]) -> Iterator[Row]:
    """The rows with the stored results of formulas in their places."""
    for number, values in rows:
        yield number, [results.get((number, column), value) for column, value in enumerate(values)]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    # A formula over several cells is an object with an attribute text.
    return str(getattr(value, "text", value))
