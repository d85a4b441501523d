"""CSV, TSV and semicolon-separated text to rows of strings; nothing is converted."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, dropwhile, islice, takewhile
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc

from engine.datasets.formats import headerless, sections
from engine.datasets.formats.bounds import refuse_bad_rows
from engine.datasets.formats.columns import above_header_notice, header_place
from engine.datasets.formats.formulas import SIGNATURE_COLUMN, is_digest_column, unescape_formula
from engine.datasets.formats.grid import ROW_NUMBERS, Grid, GridBuilder, quoted
from engine.datasets.formats.records import Record, records
from engine.datasets.formats.tabbed import TAB, TAKEN_OFF, Quoting, plain_records, tab_records
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.messages.message import Message

SEPARATORS = {",": Message("comma"), "\t": Message("tab"), ";": Message("semicolon")}
ONE_COLUMN, COLUMNS = Message("{n:,} column {names}"), Message("{n:,} columns {names}")
FIRST_TRIED = {".tsv": "\t"}
ROWS_AT_ONCE = 2**16  # of a table that is written
SAMPLED = 50  # records by which it is told whether a separator cuts a text evenly
# How fields are quoted: by what the file shows, not at all (each line is a row), or those in double quotes.
DETECT, NONE, QUOTED = "detect", "none", "quoted"
QUOTINGS: Mapping[str, str] = {
    DETECT: Message("between tabs as the file as a whole shows, else those in double quotes"),
    NONE: Message("a quotation mark is text, and each line is a row"),
    QUOTED: Message("those in double quotes"),
}
# A first line by which spreadsheets are told the separator.
_NAMED = re.compile(r'"?sep=(.)"?[\r\n]*', re.IGNORECASE)


def separated(
    lines: Callable[[], Iterable[str]], name: str, suffix: str = ".csv"
) -> tuple[str, Callable[[], Iterable[str]]]:
    """The separator of a text, and its lines as the other functions here take them.

    It is what the first line names (sep=;), which is read as a blank line then; else what splits the header line into
    the most fields, on a tie that of the suffix; where that cuts the lines after it into other numbers of fields, one
    that cuts them evenly. `lines` gives the lines anew at each call. Raises InputError for a separator that is not in
    SEPARATORS.
    """
    first = next((line for line in lines() if line.strip()), "")
    named = _NAMED.fullmatch(first)
    if named is None:
        order = sorted(SEPARATORS, key=lambda separator: separator != FIRST_TRIED.get(suffix, ","))
        n_fields = {separator: _n_header_fields(lines(), separator) for separator in order}
        by_fields = sorted(order, key=lambda separator: -n_fields[separator])
        possible = [separator for separator in by_fields if n_fields[separator] > 1]
        if len(possible) > 1:
            return next((separator for separator in possible if _is_even(lines, separator)), possible[0]), lines
        return by_fields[0], lines
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
    lines: Callable[[], Iterable[str]],
    name: str,
    separator: str,
    *,
    skip_bad_rows: bool = False,
    header: str = headerless.DETECT,
    quoting: str = DETECT,
) -> Grid:
    """The rows of lines under their header line; `lines` gives the lines anew at each call.

    A title above that line is left out with a notice. header: a key of `headerless.HEADERS`; quoting: one of QUOTINGS.
    Raises InputError listing every line that is wrongly quoted or whose number of fields differs from that of the
    header; with `skip_bad_rows` these are left out.
    """
    rows, found_quoting = cut(lines, separator, quoting)
    first = list(islice(rows, headerless.PEEKED))
    known = (
        headerless.layout_of(name, [row.fields for row in first if any(row.fields)])
        if header == headerless.DETECT
        else None
    )
    if first and (header == headerless.DATA or known is not None):
        return _without_header(name, first, rows, separator, known, skip_bad_rows, found_quoting)
    above = (
        header_place([row.fields for row in first[: headerless.MOST_ABOVE + 1]])
        if first and header == headerless.DETECT
        else 0
    )
    rows = chain(first[above:], rows)
    head = next(rows, None)
    if head is None:
        raise InputError(
            Message("{name} is empty. A header line with column names and rows under it are needed.", name=name)
        )
    if head.fault:
        raise InputError(
            Message(
                "{name}: the header in line {line} cannot be read: {fault}.",
                name=name,
                line=head.line,
                fault=head.fault,
            )
        )
    grid = grid_of_records(
        name, head.fields, rows, head.number, separator, skip_bad_rows=skip_bad_rows, quoting=found_quoting
    )
    if not above:
        return grid
    return replace(grid, notices=(above_header_notice(name, [row.fields for row in first[:above]]), *grid.notices))


def read_sections(lines: Callable[[], Iterable[str]], name: str) -> Grid:
    """The sentences under headings that `sections` reads, with a notice that they are."""
    grid = grid_of_records(name, sections.COLUMNS, sections.sentences(lines()), 0, TAB)
    return replace(grid, notices=(sections.READ_AS.format(name=name), *grid.notices))


def cut(lines: Callable[[], Iterable[str]], separator: str, quoting: str = DETECT) -> tuple[Iterator[Record], Quoting]:
    """The records of a text, faulty ones included, and how its fields are quoted; quoting: one of QUOTINGS.

    Those before the first that holds anything are left out, as blank lines are.
    """
    found: Quoting
    if quoting == NONE:
        every, found = plain_records(lines(), separator), "none"
    elif quoting == QUOTED or separator != TAB:
        every, found = records(lines(), separator), "throughout"
    else:
        every, found = tab_records(lines)
    return dropwhile(_is_empty, every), found


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

    The apostrophes that our own exports have before formulas are taken off, with a notice. Rows that are separators
    only, as spreadsheets write empty rows, are left out but counted, as blank lines are; of those at the end, which are
    leftovers, a notice tells. Raises InputError listing every row that has a fault or another number of fields than
    `header`; with `skip_bad_rows` these are left out as long as others remain.
    """
    n_fields = len(header)
    expected = Message(
        "Each needs {n_fields}, separated by a {separator}.",
        n_fields=count(n_fields, "field"),
        separator=SEPARATORS[separator],
    )
    builder = GridBuilder(name, header)
    bad: list[BadRow] = []
    n_doubled = 0
    n_empty = 0  # rows of separators only that no other row follows so far
    for row in rows:
        number = row.number - offset
        n_doubled += row.is_doubled
        if _is_empty(row):
            n_empty += 1
            continue
        n_empty = 0
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
        else:
            builder.add(number, row.fields)
    if bad and not (skip_bad_rows and builder.n_rows):
        columns = (ONE_COLUMN if n_fields == 1 else COLUMNS).format(n=n_fields, names=quoted(header))
        if quoting == "none":
            raise InputError(
                Message(
                    "{name}: {bad} of {bad_:,} cannot be cut into the {columns} at each {separator}. It is read "
                    "without quoting, each line a row: where texts are in double quotes, put all fields, also "
                    "those of the header, into them. {ROW_NUMBERS}",
                    name=name,
                    bad=count(len(bad), "line"),
                    bad_=builder.n_rows + len(bad),
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
                bad_=builder.n_rows + len(bad),
                columns=columns,
                separator=SEPARATORS[separator],
                ROW_NUMBERS=ROW_NUMBERS,
            ),
            bad,
        )
    notices = [TAKEN_OFF.format(name=name)] if quoting == "where-needed" else []
    notices += (
        [
            Message(
                'In {rows} of {name} the quotation marks around a text were doubled (""…""); one pair of them was read.',
                rows=count(n_doubled, "row"),
                name=name,
            )
        ]
        if n_doubled
        else []
    )
    notices += (
        [Message("{empty} without any text at the end of {name} left out.", empty=count(n_empty, "row"), name=name)]
        if n_empty
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


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write what `csv_text` returns as UTF-8, of which ROWS_AT_ONCE rows are in memory at a time."""
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC):
        with path.open("w", encoding="utf-8", newline="") as file:
            for start in range(0, len(frame) or 1, ROWS_AT_ONCE):
                rows = frame.iloc[start : start + ROWS_AT_ONCE]
                text = rows.to_csv(index=False, header=start == 0, quoting=quoting)
                if quoting == csv.QUOTE_MINIMAL and "\r" in text:
                    break  # from the beginning, with all texts in quotation marks
                file.write(text)
            else:
                return


def _without_header(
    name: str,
    first: Sequence[Record],
    rest: Iterable[Record],
    separator: str,
    known: headerless.Headerless | None,
    skip_bad_rows: bool,
    quoting: Quoting,
) -> Grid:
    """The rows of a file without a header, the first one included, in columns that are known or numbered."""
    rows: Iterable[Record]
    if known is None:
        columns = headerless.numbered_columns(max(len(row.fields) for row in first))
        rows, offset = chain(first, rest), first[0].number - 1
    else:
        columns, width = list(known.names), len(known.columns)
        n_skipped = bool(known.numbers)
        offset = first[0].number - 1 + n_skipped
        rows = (
            replace(row, fields=row.fields + [""] * len(known.further)) if len(row.fields) == width else row
            for row in chain(first[n_skipped:], rest)
        )
    grid = grid_of_records(name, columns, rows, offset, separator, skip_bad_rows=skip_bad_rows, quoting=quoting)
    if known is None:
        return grid
    said = headerless.READ_AS.format(name=name, layout=known.name, columns=quoted(columns))
    return replace(grid, notices=(said, *grid.notices))


def _is_even(lines: Callable[[], Iterable[str]], separator: str) -> bool:
    """Whether a separator cuts the first records of a text, header included, into equally many fields."""
    cut_records = plain_records(lines()) if separator == TAB else records(lines(), separator)
    return len({len(record.fields) for record in islice(cut_records, SAMPLED) if not _is_empty(record)}) == 1


def _is_empty(record: Record) -> bool:
    """Whether a record is separators only."""
    return not record.fault and not any(record.fields)


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
