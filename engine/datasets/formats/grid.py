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
    """Columns of strings; `numbers[i]` is the number of row i in the file (1 = first row of data)."""

    columns: tuple[str, ...]
    numbers: tuple[int, ...]
    values: tuple[tuple[str, ...], ...]  # (n_columns, n_rows)
    notices: tuple[str, ...] = ()


def grid(name: str, header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]],
         notices: Sequence[str] = ()) -> Grid:
    """A checked Grid of `rows` (number, values as many as `header`) of the file `name`.

    Column names are stripped; a column without name is called "column 3" by its position, and left
    out when it is empty as well. Raises InputError for no rows, two columns of one name, too many
    columns, and characters that no text can hold (NUL, half a surrogate pair): every such row.
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
    _refuse_broken_characters(name, columns, numbers, values)
    return Grid(tuple(columns), numbers, tuple(values), tuple(notices))


def quoted(names: Sequence[str], limit: int = 20) -> str:
    """Names for a message: 'a', 'b' and so on; long names and long lists are truncated with …"""
    shown = [f"'{name if len(name) <= 40 else name[:40] + '…'}'" for name in names[:limit]]
    return ", ".join(shown) + (f", … ({len(names)} in all)" if len(names) > limit else "")


def _refuse_broken_characters(name: str, columns: Sequence[str], numbers: Sequence[int],
                              values: Sequence[Sequence[str]]) -> None:
    broken_titles = [title for title in columns if not _is_encodable(title)]
    if broken_titles:
        raise InputError(f"{name}: the column name {broken_titles[0]!a} holds a NUL or half of a surrogate pair.")
    bad: list[BadRow] = []
    for title, column in zip(columns, values, strict=True):
        # The whole column is checked at once, because checking 100,000 values one by one is slow.
        if not _is_encodable("".join(column)):
            bad += [BadRow(number, f"'{title}' holds a NUL or half of a surrogate pair")
                    for number, value in zip(numbers, column, strict=True) if not _is_encodable(value)]
    if bad:
        raise InputError(f"{name}: {count(len(bad), 'value')} cannot be a text. Write these characters again, or "
                         f"remove them. {ROW_NUMBERS}", sorted(bad, key=lambda row: row.row))


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in text
