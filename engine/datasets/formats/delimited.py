"""CSV, TSV and semicolon-separated text to rows of strings; nothing is converted.

The standard library's csv module is used rather than pandas because it reports every invalid line
and leaves "NA", "001" and "1e5" unchanged.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
import pyarrow.compute as pc

from engine.datasets.formats.bounds import refuse_bad_rows
from engine.datasets.formats.formulas import SIGNATURE_COLUMN, is_digest_column, unescape_formula
from engine.datasets.formats.grid import ROW_NUMBERS, Grid, GridBuilder, quoted
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.translation import mark

SEPARATORS = {",": mark("comma"), "\t": mark("tab"), ";": mark("semicolon")}
ONE_COLUMN, COLUMNS = mark("{n:,} column {names}"), mark("{n:,} columns {names}")
FIRST_TRIED = {".tsv": "\t"}

# The csv module's messages -> explanations for users of a spreadsheet.
_REASONS = {
    "unexpected end of data": "the quotation mark that opens a field here is never closed",
    "expected after": 'text follows a closing quotation mark; inside quoted text write each " twice',
    "new-line character": "a field without quotation marks holds a carriage return",
    "field larger than": "a field is longer than 131,072 characters; is a quotation mark never closed?",
}


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the text: its number (blank lines counted), first line, and fields or a fault."""

    number: int
    line: int
    fields: list[str]
    fault: str = ""


def sniff(lines: Callable[[], Iterable[str]], suffix: str = ".csv") -> str:
    """The separator that splits the header line into the most fields; on a tie that of the suffix.

    `lines` gives the lines anew at each call.
    """
    order = sorted(SEPARATORS, key=lambda separator: separator != FIRST_TRIED.get(suffix, ","))
    return max(order, key=lambda separator: _n_header_fields(lines(), separator))


def records(lines: Iterable[str], separator: str) -> Iterator[Record]:
    """Every record that is not blank, faulty ones included.

    Quotes follow RFC 4180: a field in double quotes may hold separators, line breaks and doubled
    quotes. A record that violates this has a fault instead of fields; reading continues after it.
    """
    reader = csv.reader(lines, delimiter=separator, strict=True)
    number = 0
    while True:
        number += 1
        line = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Record(number, line, [], _reason(str(error)))
            continue
        if len(fields) > 1 or (fields and fields[0].strip()):
            yield Record(number, line, fields)


def lines_of(text: str) -> io.StringIO:
    """The lines of a text as `records` takes them."""
    return io.StringIO(text, newline=line_end("\n" in text))


def line_end(has_line_feed: bool) -> str:
    """What ends a line: carriage returns alone do only in files of old Macs, which have no line feeds.

    csv handles "\r\n" itself.
    """
    return "\n" if has_line_feed else ""


def read_delimited(lines: Iterable[str], name: str, separator: str, *, skip_bad_rows: bool = False) -> Grid:
    """The rows of lines under their header line.

    Raises InputError listing every line that is wrongly quoted or whose number of fields differs from
    that of the header; with `skip_bad_rows` these are left out.
    """
    rows = records(lines, separator)
    header = next(rows, None)
    if header is None:
        raise InputError(f"{name} is empty. A header line with column names and rows under it are needed.")
    if header.fault:
        raise InputError(f"{name}: the header in line {header.line} cannot be read: {header.fault}.")
    return grid_of_records(name, header.fields, rows, header.number, separator, skip_bad_rows=skip_bad_rows)


def grid_of_records(name: str, header: Sequence[str], rows: Iterable[Record], offset: int, separator: str, *,
                    skip_bad_rows: bool = False) -> Grid:
    """`rows` as a Grid; their numbers less `offset` are the numbers of the rows.

    The apostrophes that our own exports have before formulas are taken off, with a notice. Rows at the end that are
    separators only, as spreadsheets write them, are left out with a notice. Raises InputError listing every row that
    has a fault or another number of fields than `header`; with `skip_bad_rows` these are left out as long as others
    remain.
    """
    n_fields = len(header)
    expected = f"Each needs {count(n_fields, 'field')}, separated by a {SEPARATORS[separator]}."
    builder = GridBuilder(name, header)
    bad: list[BadRow] = []
    empty: list[int] = []  # the numbers of rows of separators only that no other row follows so far
    for row in rows:
        number = row.number - offset
        if row.fault or len(row.fields) != n_fields:
            bad.append(BadRow(number, f"line {row.line}: {row.fault}" if row.fault else
                              f"line {row.line} has {count(len(row.fields), 'field')} instead of {n_fields}"))
            refuse_bad_rows(name, bad, expected)
        elif not any(row.fields):
            empty.append(number)
        else:
            for empty_number in empty:
                builder.add(empty_number, ())
            empty.clear()
            builder.add(number, row.fields)
    n_cut = builder.n_rows + len(empty)
    if bad and not (skip_bad_rows and n_cut):
        columns = (ONE_COLUMN if n_fields == 1 else COLUMNS).format(n=n_fields, names=quoted(header))
        raise InputError(
            f"{name}: {count(len(bad), 'line')} of {n_cut + len(bad):,} cannot be cut into the {columns} at each "
            f"{SEPARATORS[separator]}. A text that holds a {SEPARATORS[separator]}, a quotation mark or a line break "
            f"must stand in double quotes. {ROW_NUMBERS}", bad)
    notices = [f"{count(len(empty), 'row')} without any text at the end of {name} left out."] if empty else []
    if SIGNATURE_COLUMN in header and is_digest_column(
            pc.unique(builder.column(list(header).index(SIGNATURE_COLUMN))).to_pylist()):
        n_unescaped = builder.change_values(unescape_formula)
        notices += [f"{count(n_unescaped, 'apostrophe')} that the export put before formulas taken off."
                    ] if n_unescaped else []
    return builder.finished(notices, bad, skip_bad_rows=skip_bad_rows)


def csv_text(frame: pd.DataFrame, *, header: bool = True) -> str:
    """A table as CSV that `read_delimited` reads again.

    Texts stand in quotation marks where they must; pandas leaves them off a carriage return, so all texts of a table
    that has one get them.

    >>> csv_text(pd.DataFrame({"text": ["a", "b,c"], "n": [1, 2]}))
    'text,n\\na,1\\n"b,c",2\\n'
    >>> csv_text(pd.DataFrame({"text": ["a\\r"], "n": [1]}))
    '"text","n"\\n"a\\r",1\\n'
    """
    text = frame.to_csv(index=False, header=header)
    return text if "\r" not in text else frame.to_csv(index=False, header=header, quoting=csv.QUOTE_NONNUMERIC)


def _n_header_fields(lines: Iterable[str], separator: str) -> int:
    reader = csv.reader(lines, delimiter=separator)
    try:
        return next((len(fields) for fields in reader if len(fields) > 1 or any(map(str.strip, fields))), 0)
    except csv.Error:
        return 0


def _reason(error: str) -> str:
    return next((reason for pattern, reason in _REASONS.items() if pattern in error), error)
