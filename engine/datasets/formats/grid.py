"""The rows of a file before they become a dataset: named columns, numbered rows, every value a str.

Each reader (`delimited`, `json_rows`, `workbook`) yields header and rows; `grid` cleans and checks
them in the same way, with the same messages for every format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import BadRow, InputError
from engine.language.quantities import count

MAX_COLUMNS = 1000
# Part of every message that lists rows.
ROW_NUMBERS = "Rows are numbered from 1, without the header line."


@dataclass(frozen=True)
class Grid:
    """Columns of strings; `numbers[i]` is the number of row i in the file (1 = first row of data).

    left_out: rows that could not be read and were left out where that was asked for.
    """

    columns: tuple[str, ...]
    numbers: tuple[int, ...]
    values: tuple[tuple[str, ...], ...]  # (n_columns, n_rows)
    notices: tuple[str, ...] = ()
    left_out: tuple[BadRow, ...] = ()


def grid(name: str, header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]],
         notices: Sequence[str] = (), left_out: Sequence[BadRow] = (), *, skip_bad_rows: bool = False) -> Grid:
    """A checked Grid of `rows` (number, values as many as `header`) of the file `name`.

    Column names are stripped; a column without name is called "column 3" by its position, and left
    out when it is empty as well. Raises InputError for no rows, two columns of one name, too many
    columns, and characters that no text can hold (NUL, half a surrogate pair): every such row. With `skip_bad_rows`
    such rows are left out as long as others remain; `left_out` are the rows that were before.
    """
    columns, values = [], []
    for index, column_name in enumerate(header):
        column = tuple(row[index] for _, row in rows)
        title = column_name.strip().strip("\ufeff")
        if title or any(column):
            columns.append(title or f"column {index + 1}")
            values.append(column)
    repeated = [title for title, count in Counter(columns).items() if count > 1]
    if repeated:
        raise InputError(f"{name} has more than one column called {quoted(repeated)}. Give each column its own name.")
    if not columns:
        raise InputError(f"{name} holds no data.")
    if not rows:
        raise InputError(f"{name} has a header ({quoted(columns)}) but no rows of data under it.")
    if len(columns) > MAX_COLUMNS:
        raise InputError(f"{name} has {len(columns):,} columns; at most {MAX_COLUMNS:,} are read.")
    numbers = tuple(number for number, _ in rows)
    broken = _rows_with_broken_characters(name, columns, numbers, values)
    if broken:
        reason_by_row = {bad.row: bad for bad in broken}
        kept = [i for i, number in enumerate(numbers) if number not in reason_by_row]
        if not skip_bad_rows or not kept:
            raise InputError(f"{name}: {count(len(broken), 'value')} cannot be a text. Write these characters again, "
                             f"or remove them. {ROW_NUMBERS}", broken)
        numbers = tuple(numbers[i] for i in kept)
        values = [tuple(column[i] for i in kept) for column in values]
        left_out = [*left_out, *reason_by_row.values()]
    return Grid(tuple(columns), numbers, tuple(values), tuple(notices), tuple(sorted(left_out, key=_row_number)))


def quoted(names: Sequence[str], limit: int = 20) -> str:
    """Names for a message: 'a', 'b' and so on; long names and long lists are truncated with …"""
    shown = [f"'{name if len(name) <= 40 else name[:40] + '…'}'" for name in names[:limit]]
    return ", ".join(shown) + (f", … ({len(names)} in all)" if len(names) > limit else "")


def _row_number(bad: BadRow) -> int:
    return bad.row


def _rows_with_broken_characters(name: str, columns: Sequence[str], numbers: Sequence[int],
                                 values: Sequence[Sequence[str]]) -> list[BadRow]:
    """The values that are no text, by their rows. Raises InputError for such a column name."""
    broken_titles = [title for title in columns if not _is_encodable(title)]
    if broken_titles:
        raise InputError(f"{name}: the column name {broken_titles[0]!a} holds a NUL or half of a surrogate pair.")
    bad: list[BadRow] = []
    for title, column in zip(columns, values, strict=True):
        # The whole column is checked at once, because checking 100,000 values one by one is slow.
        if not _is_encodable("".join(column)):
            bad += [BadRow(number, f"'{title}' holds a NUL or half of a surrogate pair")
                    for number, value in zip(numbers, column, strict=True) if not _is_encodable(value)]
    return sorted(bad, key=_row_number)


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in text
