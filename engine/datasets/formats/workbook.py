"""An Excel workbook (.xlsx) to rows of strings: the first sheet that holds anything."""

from __future__ import annotations

import datetime
import io
import zipfile
from typing import Any

from engine.datasets.formats.grid import Grid, grid, quoted
from engine.errors import InputError

ZIP_SIGN = b"PK\x03\x04"
# Old .xls files, and .xlsx files with a password.
OLE_SIGN = b"\xd0\xcf\x11\xe0"
MAX_ROWS = 1_048_576  # Excel's own limit; bounds the loop for a forged row number
MAX_UNPACKED_BYTES = 2 * 2**30

_SAVE_AS = "Open it in a spreadsheet program and save it as Excel workbook (.xlsx, without password) or as CSV UTF-8."

Row = tuple[int, list[str]]  # number in the sheet, values up to the last filled cell


def read_workbook(raw: bytes, name: str, *, skip_bad_rows: bool = False) -> Grid:
    """The rows under the first filled row of the first sheet that is not empty.

    Values are those of the cells: texts unchanged, whole numbers without ".0", dates in ISO
    format. A formula is read as its stored result, or as its own text in a workbook that stores no
    results at all (one written by a program). Blank rows are left out but counted, other sheets
    are named in a notice. Raises InputError for any other file, and as `grid` does.
    """
    if raw.startswith(OLE_SIGN):
        raise InputError(f"{name} is an old Excel file (.xls) or has a password. {_SAVE_AS}")
    if not raw.startswith(ZIP_SIGN):
        raise InputError(f"{name} is not an Excel workbook although it is named like one. If it is text, give it "
                         f"the ending .csv, .tsv or .jsonl; otherwise: {_SAVE_AS}")
    try:
        _refuse_other_archives(raw, name)
        titles, rows = _first_filled_sheet(raw, name)
    except InputError:
        raise
    except Exception as error:
        # openpyxl raises errors of many classes for a damaged file: KeyError, TypeError, ParseError, BadZipFile …
        raise InputError(f"{name} cannot be read as an Excel workbook ({type(error).__name__}). {_SAVE_AS}") from error
    if not rows:
        raise InputError(f"{name} holds no data.")
    notices = [f"{name} has {len(titles)} filled sheets ({quoted(titles)}); only '{titles[0]}' was read."]
    width = max(len(values) for _, values in rows)
    (header_number, header), *body = [(number, values + [""] * (width - len(values))) for number, values in rows]
    return grid(name, header, [(number - header_number, values) for number, values in body],
                notices if len(titles) > 1 else (), skip_bad_rows=skip_bad_rows)


def _refuse_other_archives(raw: bytes, name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        if "[Content_Types].xml" not in archive.namelist():
            raise InputError(f"{name} is a zip archive but no Excel workbook. Unpack it and give its files one by one.")
    if unpacked > MAX_UNPACKED_BYTES:
        raise InputError(f"{name} unpacks to {unpacked / 2**20:,.0f} MiB; at most {MAX_UNPACKED_BYTES // 2**20:,} MiB "
                         "are read. Save it as CSV UTF-8, in several files.")


def _book(raw: bytes, *, data_only: bool) -> Any:
    # Imported here because importing it is slow, and few files are workbooks.
    import openpyxl

    return openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=data_only)


def _first_filled_sheet(raw: bytes, name: str) -> tuple[list[str], list[Row]]:
    """Titles of the filled sheets, and the filled rows of the first of them."""
    book = _book(raw, data_only=False)
    try:
        sheets = list(book.worksheets)
        titles: list[str] = []
        rows: list[Row] = []
        formulas: set[tuple[int, int]] = set()
        for sheet in sheets:
            if rows:
                if any(value is not None for row in sheet.iter_rows(values_only=True) for value in row):
                    titles.append(sheet.title)
                continue
            rows, formulas = _filled_rows(sheet, name)
            if rows:
                titles.append(sheet.title)
                sheet_index = sheets.index(sheet)
    finally:
        book.close()
    if formulas:
        _put_results(raw, sheet_index, rows, formulas)
    return titles, rows


def _filled_rows(sheet: Any, name: str) -> tuple[list[Row], set[tuple[int, int]]]:
    """The filled rows of a sheet, and the positions (row number, column) of formulas."""
    sheet.reset_dimensions()  # some programs store a wrong range
    rows: list[Row] = []
    formulas = set()
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        if number > MAX_ROWS:
            raise InputError(f"{name} has a row beyond number {MAX_ROWS:,}, the last a workbook can have. {_SAVE_AS}")
        values = [_text(cell.value) for cell in cells]
        formulas |= {(number, column) for column, cell in enumerate(cells) if cell.data_type == "f"}
        while values and not values[-1]:
            values.pop()
        if values:
            rows.append((number, values))
    return rows, formulas


def _put_results(raw: bytes, sheet_index: int, rows: list[Row], formulas: set[tuple[int, int]]) -> None:
    """Replace formulas in `rows` (this module's own lists) by their stored results, if any is stored."""
    book = _book(raw, data_only=True)
    try:
        sheet = book.worksheets[sheet_index]
        sheet.reset_dimensions()
        results = {(number, column): _text(value)
                   for number, values in enumerate(sheet.iter_rows(values_only=True), start=1)
                   for column, value in enumerate(values) if (number, column) in formulas}
    finally:
        book.close()
    if any(results.values()):
        for number, values in rows:
            values[:] = [results.get((number, column), value) for column, value in enumerate(values)]


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
