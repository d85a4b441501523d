"""CSV, TSV and semicolon-separated text to rows of strings; nothing is converted."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile

import pandas as pd
import pyarrow.compute as pc

from engine.datasets.formats.bounds import refuse_bad_rows
from engine.datasets.formats.formulas import SIGNATURE_COLUMN, is_digest_column, unescape_formula
from engine.datasets.formats.grid import ROW_NUMBERS, Grid, GridBuilder, quoted
from engine.datasets.formats.records import Record, records
from engine.datasets.formats.tabbed import TAB, TAKEN_OFF, Quoting, tab_records
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.messages.message import Message

SEPARATORS = {",": Message("comma"), "\t": Message("tab"), ";": Message("semicolon")}
ONE_COLUMN, COLUMNS = Message("{n:,} column {names}"), Message("{n:,} columns {names}")
FIRST_TRIED = {".tsv": "\t"}
# A first line by which spreadsheets are told the separator.
_NAMED = re.compile(r'"?sep=(.)"?[\r\n]*', re.IGNORECASE)


def separated(
    lines: Callable[[], Iterable[str]], name: str, suffix: str = ".csv"
) -> tuple[str, Callable[[], Iterable[str]]]:
    """The separator of a text, and its lines as the other functions here take them.

    It is what the first line names (sep=;), which is read as a blank line then; else what splits the header line into
    the most fields, on a tie that of the suffix. `lines` gives the lines anew at each call. Raises InputError for a
    separator that is not in SEPARATORS.
    """
    first = next((line for line in lines() if line.strip()), "")
    named = _NAMED.fullmatch(first)
    if named is None:
        order = sorted(SEPARATORS, key=lambda separator: separator != FIRST_TRIED.get(suffix, ","))
        return max(order, key=lambda separator: _n_header_fields(lines(), separator)), lines
    if named[1] not in SEPARATORS:
        raise InputError(
            Message(
                "{name}: its first line names {named!r} as the separator. Fields can be separated by "
                "commas, tabs or semicolons; save it with one of them.",
                name=name,
                named=named[1],
            )
        )
    return named[1], lambda: _without_first(lines(), first)


def read_delimited(
    lines: Callable[[], Iterable[str]], name: str, separator: str, *, skip_bad_rows: bool = False
) -> Grid:
    """The rows of lines under their header line; `lines` gives the lines anew at each call.

    Raises InputError listing every line that is wrongly quoted or whose number of fields differs from
    that of the header; with `skip_bad_rows` these are left out.
    """
    rows, quoting = cut(lines, separator)
    header = next(rows, None)
    if header is None:
        raise InputError(
            Message("{name} is empty. A header line with column names and rows under it are needed.", name=name)
        )
    if header.fault:
        raise InputError(
            Message(
                "{name}: the header in line {line} cannot be read: {fault}.",
                name=name,
                line=header.line,
                fault=header.fault,
            )
        )
    return grid_of_records(
        name, header.fields, rows, header.number, separator, skip_bad_rows=skip_bad_rows, quoting=quoting
    )


def cut(lines: Callable[[], Iterable[str]], separator: str) -> tuple[Iterator[Record], Quoting]:
    """The records of a text, faulty ones included, and how its fields are quoted."""
    return tab_records(lines) if separator == TAB else (records(lines(), separator), "throughout")


def grid_of_records(
    name: str,
    header: Sequence[str],
    rows: Iterable[Record],
    offset: int,
    separator: str,
    *,
    skip_bad_rows: bool = False,
    quoting: Quoting = "throughout",
) -> Grid:
    """`rows` as a Grid; their numbers less `offset` are the numbers of the rows.

    The apostrophes that our own exports have before formulas are taken off, with a notice. Rows at the end that are
    separators only, as spreadsheets write them, are left out with a notice. Raises InputError listing every row that
    has a fault or another number of fields than `header`; with `skip_bad_rows` these are left out as long as others
    remain.
    """
    n_fields = len(header)
    expected = Message(
        "Each needs {n_fields}, separated by a {separator}.",
        n_fields=count(n_fields, "field"),
        separator=SEPARATORS[separator],
    )
    builder = GridBuilder(name, header)
    bad: list[BadRow] = []
    empty: list[int] = []  # the numbers of rows of separators only that no other row follows so far
    for row in rows:
        number = row.number - offset
        if row.fault or len(row.fields) != n_fields:
            bad.append(
                BadRow(
                    number,
                    Message("line {number}: {fault}", number=row.line, fault=row.fault)
                    if row.fault
                    else Message(
                        "line {number} has {fields} instead of {n_fields}",
                        number=row.line,
                        fields=count(len(row.fields), "field"),
                        n_fields=n_fields,
                    ),
                )
            )
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
        if quoting == "none":
            raise InputError(
                Message(
                    "{name}: {bad} of {bad_:,} cannot be cut into the {columns} at each {separator}. It is read "
                    "without quoting, each line a row: where texts are in double quotes, put all fields, also "
                    "those of the header, into them. {ROW_NUMBERS}",
                    name=name,
                    bad=count(len(bad), "line"),
                    bad_=n_cut + len(bad),
                    columns=columns,
                    separator=SEPARATORS[separator],
                    ROW_NUMBERS=ROW_NUMBERS,
                ),
                bad,
            )
        raise InputError(
            Message(
                "{name}: {bad} of {bad_:,} cannot be cut into the {columns} at each {separator}. A text that "
                "holds a {separator}, a quotation mark or a line break must be in double quotes. {ROW_NUMBERS}",
                name=name,
                bad=count(len(bad), "line"),
                bad_=n_cut + len(bad),
                columns=columns,
                separator=SEPARATORS[separator],
                ROW_NUMBERS=ROW_NUMBERS,
            ),
            bad,
        )
    notices = [TAKEN_OFF.format(name=name)] if quoting == "where-needed" else []
    notices += (
        [Message("{empty} without any text at the end of {name} left out.", empty=count(len(empty), "row"), name=name)]
        if empty
        else []
    )
    if SIGNATURE_COLUMN in header and is_digest_column(
        pc.unique(builder.column(list(header).index(SIGNATURE_COLUMN))).to_pylist()
    ):
        n_unescaped = builder.change_values(unescape_formula)
        notices += (
            [
                Message(
                    "{n_unescaped} that the export put before formulas taken off.",
                    n_unescaped=count(n_unescaped, "apostrophe"),
                )
            ]
            if n_unescaped
            else []
        )
    return builder.finished(notices, bad, skip_bad_rows=skip_bad_rows)


def csv_text(frame: pd.DataFrame, *, header: bool = True) -> str:
    """A table as CSV that `read_delimited` reads again.

    Texts are in quotation marks where they must; pandas leaves them off a carriage return, so all texts of a table
    that has one get them.

    >>> csv_text(pd.DataFrame({"text": ["a", "b,c"], "n": [1, 2]}))
    'text,n\\na,1\\n"b,c",2\\n'
    >>> csv_text(pd.DataFrame({"text": ["a\\r"], "n": [1]}))
    '"text","n"\\n"a\\r",1\\n'
    """
    text = frame.to_csv(index=False, header=header)
    return text if "\r" not in text else frame.to_csv(index=False, header=header, quoting=csv.QUOTE_NONNUMERIC)


def _without_first(lines: Iterable[str], line: str) -> Iterator[str]:
    """The lines with a blank one in the place of the first that is `line`."""
    rest = iter(lines)
    yield from takewhile(lambda other: other != line, rest)
    yield "\n"
    yield from rest


def _n_header_fields(lines: Iterable[str], separator: str) -> int:
    if separator == TAB:
        return next((line.count(TAB) + 1 for line in lines if line.strip("\r\n ")), 0)
    reader = csv.reader(lines, delimiter=separator)
    try:
        return next((len(fields) for fields in reader if len(fields) > 1 or any(map(str.strip, fields))), 0)
    except csv.Error:
        return 0
