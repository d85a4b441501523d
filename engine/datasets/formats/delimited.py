"""CSV, TSV and semicolon-separated text to rows of strings; nothing is converted.

The standard library's csv module is used rather than pandas because it reports every invalid line
and leaves "NA", "001" and "1e5" unchanged.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from engine.datasets.formats.formulas import is_export, unescape_formula
from engine.datasets.formats.grid import ROW_NUMBERS, Grid, grid, quoted
from engine.errors import BadRow, InputError
from engine.language.quantities import count

SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon"}
FIRST_TRIED = {".tsv": "\t"}

# The csv module's messages -> explanations for users of a spreadsheet.
_REASONS = {
    "unexpected end of data": "the quotation mark that opens a field here is never closed",
    "expected after": 'text follows a closing quotation mark; inside quoted text write each " twice',
    "new-line character": "a field without quotation marks holds a carriage return",
    "field larger than": "a field is longer than 131,072 characters; is a quotation mark never closed?",
}


@dataclass(frozen=True)
class Record:
    """One record of the text: its number (blank lines counted), first line, and fields or a fault."""

    number: int
    line: int
    fields: list[str]
    fault: str = ""


def sniff(text: str, suffix: str = ".csv") -> str:
    """The separator that splits the header line into the most fields; on a tie that of the suffix."""
    order = sorted(SEPARATORS, key=lambda separator: separator != FIRST_TRIED.get(suffix, ","))
    return max(order, key=lambda separator: _n_header_fields(text, separator))


def records(text: str, separator: str) -> list[Record]:
    """Every record that is not blank, faulty ones included.

    Quotes follow RFC 4180: a field in double quotes may hold separators, line breaks and doubled
    quotes. A record that violates this has a fault instead of fields; reading continues after it.
    """
    reader = csv.reader(_lines(text), delimiter=separator, strict=True)
    parsed: list[Record] = []
    number = 0
    while True:
        number += 1
        line = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return parsed
        except csv.Error as error:
            parsed.append(Record(number, line, [], _reason(str(error))))
            continue
        if len(fields) > 1 or (fields and fields[0].strip()):
            parsed.append(Record(number, line, fields))


def read_delimited(text: str, name: str, separator: str, *, skip_bad_rows: bool = False) -> Grid:
    """The text's rows under its header line.

    Raises InputError listing every line that is wrongly quoted or whose number of fields differs from
    that of the header; with `skip_bad_rows` these are left out.
    """
    parsed = records(text, separator)
    if not parsed:
        raise InputError(f"{name} is empty. A header line with column names and rows under it are needed.")
    header, *rows = parsed
    if header.fault:
        raise InputError(f"{name}: the header in line {header.line} cannot be read: {header.fault}.")
    return grid_of_records(name, header.fields, rows, header.number, separator, skip_bad_rows=skip_bad_rows)


def grid_of_records(name: str, header: Sequence[str], rows: Sequence[Record], offset: int, separator: str, *,
                    skip_bad_rows: bool = False) -> Grid:
    """`rows` as a Grid; their numbers less `offset` are the numbers of the rows.

    The apostrophes that our own exports have before formulas are taken off, with a notice. Rows at the end that are
    separators only, as spreadsheets write them, are left out with a notice. Raises InputError listing every row that
    has a fault or another number of fields than `header`; with `skip_bad_rows` these are left out as long as others
    remain.
    """
    n_fields = len(header)
    bad = [
        BadRow(row.number - offset, f"line {row.line}: {row.fault}" if row.fault else
               f"line {row.line} has {count(len(row.fields), 'field')} instead of {n_fields}")
        for row in rows if row.fault or len(row.fields) != n_fields
    ]
    if bad and not (skip_bad_rows and len(bad) < len(rows)):
        raise InputError(
            f"{name}: {count(len(bad), 'line')} of {len(rows):,} cannot be cut into the {count(n_fields, 'column')} "
            f"{quoted(header)} at each {SEPARATORS[separator]}. A text that holds a {SEPARATORS[separator]}, a "
            f"quotation mark or a line break must stand in double quotes. {ROW_NUMBERS}", bad)
    if bad:
        rows = [row for row in rows if not row.fault and len(row.fields) == n_fields]
    n_filled = len(rows)
    while n_filled and not any(rows[n_filled - 1].fields):
        n_filled -= 1
    n_empty = len(rows) - n_filled
    notices = [f"{count(n_empty, 'row')} without any text at the end of {name} left out."] if n_empty else []
    cells = [row.fields for row in rows[:n_filled]]
    if is_export(header, cells):
        header, cells, n_unescaped = _unescaped(header, cells)
        notices += [f"{count(n_unescaped, 'apostrophe')} that the export put before formulas taken off."
                    ] if n_unescaped else []
    numbers = [row.number - offset for row in rows[:n_filled]]
    return grid(name, header, list(zip(numbers, cells, strict=True)), notices, bad, skip_bad_rows=skip_bad_rows)


def _unescaped(header: Sequence[str], rows: Sequence[list[str]]) -> tuple[list[str], list[list[str]], int]:
    """Header and rows of an export as they were before it, and the number of cells that differ."""
    names = [unescape_formula(name) for name in header]
    cells = [[unescape_formula(field) for field in row] for row in rows]
    pairs = zip([header, *rows], [names, *cells], strict=True)
    return names, cells, sum(old != new for before, after in pairs for old, new in zip(before, after, strict=True))


def _lines(text: str) -> io.StringIO:
    # Carriage returns alone end lines only in files of old Macs, which have no line feeds. csv handles "\r\n" itself.
    return io.StringIO(text, newline="\n" if "\n" in text else "")


def _n_header_fields(text: str, separator: str) -> int:
    reader = csv.reader(_lines(text), delimiter=separator)
    try:
        return next((len(fields) for fields in reader if len(fields) > 1 or any(map(str.strip, fields))), 0)
    except csv.Error:
        return 0


def _reason(error: str) -> str:
    return next((reason for pattern, reason in _REASONS.items() if pattern in error), error)
