"""An Excel workbook (.xlsx) to rows of strings: the first sheet that holds data, or the one that was chosen."""

from __future__ import annotations

import datetime
import re
import shlex
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from engine.datasets.formats import bounds
from engine.datasets.formats.columns import SHEET_CHOSEN, SHEETS, above_header_notice, header_place, n_known
from engine.datasets.formats.grid import Grid, GridBuilder, quoted
from engine.datasets.formats.headerless import DATA, DETECT, MOST_ABOVE, numbered_columns
from engine.datasets.formats.text_source import opened
from engine.errors import InputError
from engine.language.quantities import count
from engine.messages.message import Message

ZIP_SIGN = b"PK\x03\x04"
# Old .xls files, and .xlsx files with a password.
OLE_SIGN = b"\xd0\xcf\x11\xe0"
MAX_ROWS = 1_048_576  # Excel's own limit; bounds the loop for a forged row number
MAX_UNPACKED_BYTES = 2 * 2**30

# Characters that XML cannot hold, and what looks like them: _x000D_ is a carriage return, _x005F_x000D_ these letters.
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")

_SAVE_AS = Message(
    "Open it in a spreadsheet program and save it as Excel workbook (.xlsx, without password) or as CSV UTF-8."
)

WITHOUT_RESULTS = Message(
    "{name} has {values} of formulas without a stored result: the text of the formula was read. Where the result is meant, "
    "open the file in a spreadsheet program and save it."
)

Row = tuple[int, list[str]]  # number in the sheet, values up to the last filled cell
Position = tuple[int, int]  # number of the row, column from 0


def read_workbook(
    source: Path | bytes, name: str, *, skip_bad_rows: bool = False, sheet: str = "", header: str = DETECT
) -> Grid:
    """The rows under the first filled row of a sheet, or under a later one that names its columns below a title.

    Of several sheets it is `sheet`, else the first with two columns of known names, else the first that is not empty,
    hidden ones after those that are shown; a notice names all. Values are those of the cells: texts unchanged but for
    `unescaped`, whole numbers without ".0", dates in ISO format. A formula is read as its stored result, or as its own
    text in a workbook that stores no results at all (one written by a program). Blank rows are left out but counted.
    `header` is a key of `headerless.HEADERS`: where the first filled row is one of data, the columns are numbered.
    Raises InputError for any other file, for a `sheet` that is not there or empty, and as GridBuilder does.
    """
    with opened(source) as file:
        start = file.read(len(ZIP_SIGN))
    if start.startswith(OLE_SIGN):
        raise InputError(
            Message("{name} is an old Excel file (.xls) or has a password. {_SAVE_AS}", name=name, _SAVE_AS=_SAVE_AS)
        )
    if not start.startswith(ZIP_SIGN):
        raise InputError(
            Message(
                "{name} is not an Excel workbook although it is named like one. If it is text, give "
                "it the ending .csv, .tsv or .jsonl; otherwise: {_SAVE_AS}",
                name=name,
                _SAVE_AS=_SAVE_AS,
            )
        )
    try:
        _refuse_other_archives(source, name)
        headers = _headers(source, name)
        chosen = _chosen(headers, name, sheet)
        above = headers[chosen][:-1] if header == DETECT else []
        builder, n_unread = _sheet(source, name, chosen, None if header == DATA else len(above))
    except (InputError, MemoryError):
        raise
    except Exception as error:
        # openpyxl raises errors of many classes for a damaged file: KeyError, TypeError, ParseError, BadZipFile …
        raise InputError(
            Message(
                "{name} cannot be read as an Excel workbook ({class_name}). {_SAVE_AS}",
                name=name,
                class_name=type(error).__name__,
                _SAVE_AS=_SAVE_AS,
            )
        ) from error
    titles = list(headers)
    notices: list[str] = [above_header_notice(name, above)] if above else []
    if len(titles) > 1 and not sheet:
        notices.append(
            Message(
                "{name} has {n} filled sheets ({titles}); only '{chosen}' was read. Choose another where it is the "
                "wrong one.",
                name=name,
                n=len(titles),
                titles=quoted(titles),
                chosen=chosen,
            )
        )
    notices += [WITHOUT_RESULTS.format(values=count(n_unread, "value"), name=name)] if n_unread else []
    notices += [f"{SHEET_CHOSEN}{shlex.join(['--sheet', sheet])}"] if sheet else []
    grid = builder.finished(notices, skip_bad_rows=skip_bad_rows)
    if len(titles) > 1:
        grid.frame.attrs[SHEETS] = quoted(titles)
    return replace(grid, sheets=tuple(titles), sheet=chosen)


def sheet_titles(source: Path | bytes, name: str) -> tuple[str, ...]:
    """The titles of the sheets that hold anything; () of a file that is no workbook."""
    try:
        _refuse_other_archives(source, name)
        return tuple(_headers(source, name))
    except MemoryError:
        raise
    except Exception:  # as in `read_workbook`
        return ()


def unescaped(text: str) -> str:
    r"""A text of a cell as it is meant: _xHHHH_ is the character of that number, a carriage return a line break.

    >>> unescaped("a_x000D_\nb"), unescaped("_x005F_x000D_"), unescaped("snow_xmas_")
    ('a\nb', '_x000D_', 'snow_xmas_')
    """
    if "_x" not in text:
        return text
    text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    # Two halves of a surrogate pair are one character; a half alone is no text, as the grid says.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _is_paired(text) else text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def escaped(text: str) -> str:
    """A text for a cell, which `unescaped` reads again.

    >>> escaped("_x000D_")
    '_x005F_x000D_'
    """
    return _ESCAPED.sub(r"_x005F_x\1_", text)


def _refuse_other_archives(source: Path | bytes, name: str) -> None:
    with opened(source) as file, zipfile.ZipFile(file) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        if "[Content_Types].xml" not in archive.namelist():
            raise InputError(
                Message(
                    "{name} is a zip archive but no Excel workbook. Unpack it and give its files one by one.", name=name
                )
            )
    if unpacked > MAX_UNPACKED_BYTES:
        raise InputError(
            Message(
                "{name} unpacks to {unpacked:,.0f} MiB; at most {MAX_UNPACKED_BYTES:,} MiB are read. "
                "Save it as CSV UTF-8, in several files.",
                name=name,
                unpacked=unpacked / 2**20,
                MAX_UNPACKED_BYTES=MAX_UNPACKED_BYTES // 2**20,
            )
        )


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


def _headers(source: Path | bytes, name: str) -> dict[str, list[list[str]]]:
    """The filled rows of each sheet that has some down to the one that names the columns, by title.

    Hidden sheets come last: they are not what is seen in a spreadsheet program.
    """
    headers: dict[str, list[list[str]]] = {}
    with _book(source, data_only=False) as book:
        for sheet in sorted(book.worksheets, key=lambda sheet: bool(sheet.sheet_state != "visible")):
            if first := [values for _, values in islice(_filled_rows(sheet, name), MOST_ABOVE + 1)]:
                headers[sheet.title] = first[: header_place(first) + 1]
    return headers


def _chosen(headers: Mapping[str, list[list[str]]], name: str, sheet: str) -> str:
    """The title of the sheet to read. Raises InputError for none, and for a `sheet` that is not one of them."""
    if not headers:
        raise InputError(Message("{name} holds no data.", name=name))
    if sheet and sheet not in headers:
        raise InputError(
            Message(
                "{name} has no sheet {sheet!r} that holds anything. There are: {headers}.",
                name=name,
                sheet=sheet,
                headers=quoted(list(headers)),
            )
        )
    fitting = (title for title, rows in headers.items() if n_known(rows[-1]) > 1)
    return sheet or next(fitting, next(iter(headers)))


def _sheet(source: Path | bytes, name: str, title: str, n_above: int | None) -> tuple[GridBuilder, int]:
    """The rows of a sheet that has some, and how many formulas are read as their own text; n_above: as `_built` takes it."""
    formulas: set[Position] = set()
    with _book(source, data_only=False) as book:
        builder = _built(_filled_rows(book[title], name, formulas), name, n_above)
    if formulas:
        with _book(source, data_only=True) as book:
            results = {
                (number, column): value
                for number, values in _filled_rows(book[title], name)
                for column, value in enumerate(values)
                if value and (number, column) in formulas
            }
        if results:  # a formula without a stored result is empty then
            results = {position: results.get(position, "") for position in formulas}
            with _book(source, data_only=False) as book:
                return _built(_with_results(_filled_rows(book[title], name), results), name, n_above), 0
    return builder, len(formulas)


def _built(rows: Iterator[Row], name: str, n_above: int | None) -> GridBuilder:
    """The rows as a table: its header comes after `n_above` filled rows; where that is None all are data."""
    header_number, header = next(islice(rows, n_above or 0, None), (0, []))
    if n_above is None:
        rows, header_number = chain([(header_number, header)], rows), header_number - 1
        header = numbered_columns(len(header))
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
            raise InputError(
                Message(
                    "{name} has a row beyond number {MAX_ROWS:,}, the last a workbook can have. {_SAVE_AS}",
                    name=name,
                    MAX_ROWS=MAX_ROWS,
                    _SAVE_AS=_SAVE_AS,
                )
            )
        values = [_cell_text(cell) for cell in cells]
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


def _cell_text(cell: Any) -> str:
    text = _text(cell.value)
    return unescaped(text) if cell.data_type == "s" else text


def _is_paired(text: str) -> bool:
    """Whether there are halves of surrogate pairs, each with its other half."""
    return (
        re.search("[\ud800-\udbff][\udc00-\udfff]", text) is not None
        and re.search("[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]", text) is None
    )


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
