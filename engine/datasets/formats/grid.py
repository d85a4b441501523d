"""The rows of a file before they become a dataset: named columns, numbered rows, every value a str.

Each reader (`delimited`, `json_rows`, `workbook`) adds header and rows to a GridBuilder, which keeps them column by
column in blocks of Arrow (8 bytes a cell and its text, a tenth of what Python's objects take) and checks them in the
same way, with the same messages for every format.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from engine.datasets.formats.bounds import current_meter, refuse_bad_rows
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.messages.message import Message, list_of

MAX_COLUMNS = 1000
MAX_HEADER = 20_000  # with columns that have neither name nor text; Excel has 16,384
BLOCK_CELLS, BLOCK_ROWS = 2**16, 512
# Part of every message that lists rows.
LONG_LIST = Message("{listed}, … ({n:,} in all)")
LONGEST_NAME = 40
# The word for a part of a file -> where it stands.
PLACES = {"line": Message("line {number}"), "element": Message("element {number}")}
ROW_NUMBERS = Message("Rows are numbered from 1, without the header line.")
GAPS = Message("Blank rows and those that were left out have numbers, too.")

_BROKEN = Message("'{title}' holds a NUL or half of a surrogate pair")
_TEXT = pa.large_string()


@dataclass(frozen=True)
class Grid:
    """Columns of strings, and as index the number of each row in the file (1 = first row of data).

    left_out: rows that could not be read and were left out where that was asked for. sheets: of a workbook, the titles
    of those that hold anything; sheet: of the one that was read.
    """

    frame: pd.DataFrame
    notices: tuple[str, ...] = ()
    left_out: tuple[BadRow, ...] = ()
    sheets: tuple[str, ...] = ()
    sheet: str = ""


class GridBuilder:
    """The rows of the file `name`, added one after the other. Raises InputError for more cells than are read."""

    def __init__(self, name: str, header: Sequence[str] = ()) -> None:
        self._name = name
        self._meter = current_meter()
        self.header: list[str] = []
        self._numbers = array("q")
        self._pending: list[Sequence[str]] = []
        self._blocks: list[list[pa.Array]] = []  # of each column
        self._n_stored = 0  # rows in the blocks
        self._broken: list[BadRow] = []  # values that are no text
        for column in header:
            self.add_column(column)

    @property
    def n_rows(self) -> int:
        """The number of rows so far."""
        return len(self._numbers)

    def add_column(self, column: str = "") -> None:
        """Add a column, empty in the rows so far. Raises InputError for too many columns."""
        self.header.append(column)
        if len(self.header) > MAX_HEADER:
            raise InputError(
                Message(
                    "{name} has more than {MAX_HEADER:,} columns; at most {MAX_COLUMNS:,} are read.",
                    name=self._name,
                    MAX_HEADER=MAX_HEADER,
                    MAX_COLUMNS=MAX_COLUMNS,
                )
            )
        self._meter.count_cells(self.n_rows, self._name)
        self._blocks.append([_texts([""] * self._n_stored)] if self._n_stored else [])

    def add(self, number: int, values: Sequence[str]) -> None:
        """Add a row; columns after its values are empty in it."""
        self._meter.count_cells(len(self.header), self._name)
        self._numbers.append(number)
        self._pending.append(values)
        if len(self._pending) >= max(BLOCK_ROWS, BLOCK_CELLS // (len(self.header) + 1)):
            self._store()

    def column(self, index: int) -> pa.ChunkedArray:
        """The values of a column so far."""
        self._store()
        return pa.chunked_array(self._blocks[index], _TEXT)

    def change_values(self, change: Callable[[str], str]) -> int:
        """Replace column names and values by what `change` makes of them; the number of those that differ."""
        self._store()
        n_changed = 0
        for index, blocks in enumerate(self._blocks):
            for position, block in enumerate(blocks):
                before = block.to_pylist()
                after = [change(value) for value in before]
                n_changed += sum(old != new for old, new in zip(before, after, strict=True))
                blocks[position] = _texts(after)
            name = change(self.header[index])
            n_changed += name != self.header[index]
            self.header[index] = name
        return n_changed

    def finished(
        self, notices: Iterable[str] = (), left_out: Iterable[BadRow] = (), *, skip_bad_rows: bool = False
    ) -> Grid:
        """The checked Grid; the builder is of no use afterwards.

        Column names are stripped; a column without name is called "column 3" by its position, and left out when it is
        empty as well. Raises InputError for no rows, two columns of one name, too many columns, and characters that no
        text can hold (NUL, half a surrogate pair): every such row. With `skip_bad_rows` such rows are left out as long
        as others remain; `left_out` are the rows that were before.
        """
        self._store()
        columns: dict[int, str] = {}
        for index, name in enumerate(self.header):
            title = name.strip().strip("\ufeff")
            if title or pc.any(pc.not_equal(self.column(index), "")).as_py():
                columns[index] = title or Message("column {index}", index=index + 1)
        titles = list(columns.values())
        self._refuse_columns(titles)
        numbers = np.frombuffer(self._numbers, dtype=np.int64) if self.n_rows else np.zeros(0, np.int64)
        frame = pd.DataFrame(
            {title: pd.array(self.column(index), dtype="str") for index, title in columns.items()},
            index=pd.Index(numbers.copy(), name="row"),
        )
        broken = {bad.row: bad for bad in self._broken}
        if broken:
            if not skip_bad_rows or len(broken) == len(frame):
                raise InputError(
                    Message(
                        "{name}: {broken} cannot be a text. Write these characters again, or "
                        "remove them. {ROW_NUMBERS}",
                        name=self._name,
                        broken=count(len(self._broken), "value"),
                        ROW_NUMBERS=ROW_NUMBERS,
                    ),
                    sorted(self._broken, key=lambda bad: bad.row),
                )
            frame = frame[~frame.index.isin(list(broken))]
        return Grid(frame, tuple(notices), tuple(sorted(chain(left_out, broken.values()), key=lambda bad: bad.row)))

    def _refuse_columns(self, titles: Sequence[str]) -> None:
        repeated = [title for title, n in Counter(titles).items() if n > 1]
        if repeated:
            raise InputError(
                Message(
                    "{name} has more than one column called {repeated}. Give each column its own name.",
                    name=self._name,
                    repeated=quoted(repeated),
                )
            )
        if not titles:
            raise InputError(Message("{name} holds no data.", name=self._name))
        if not self.n_rows:
            raise InputError(
                Message(
                    "{name} has a header ({titles}) but no rows of data under it.",
                    name=self._name,
                    titles=quoted(titles),
                )
            )
        if len(titles) > MAX_COLUMNS:
            raise InputError(
                Message(
                    "{name} has {titles:,} columns; at most {MAX_COLUMNS:,} are read.",
                    name=self._name,
                    titles=len(titles),
                    MAX_COLUMNS=MAX_COLUMNS,
                )
            )
        broken_titles = [title for title in titles if not _is_text(title)]
        if broken_titles:
            raise InputError(
                Message(
                    "{name}: the column name {title!a} holds a NUL or half of a surrogate pair.",
                    name=self._name,
                    title=broken_titles[0],
                )
            )

    def _store(self) -> None:
        """Move the pending rows to the blocks of the columns."""
        rows, self._pending = self._pending, []
        if not rows:
            return
        columns = list(zip_longest(*rows, fillvalue=""))
        for index, blocks in enumerate(self._blocks):
            values: Sequence[str] = columns[index] if index < len(columns) else [""] * len(rows)
            # The values are checked together, because checking them one by one is slow.
            if not _is_text("".join(values)):
                values = self._without_broken(index, values)
            blocks.append(_texts(values))
        self._n_stored += len(rows)

    def _without_broken(self, index: int, values: Sequence[str]) -> list[str]:
        kept = []
        for number, value in zip(self._numbers[self._n_stored :], values, strict=True):
            if not _is_text(value):
                title = self.header[index].strip() or Message("column {index}", index=index + 1)
                self._broken.append(BadRow(number, _BROKEN.format(title=title)))
                refuse_bad_rows(self._name, self._broken, Message("Write these characters again, or remove them."))
                value = ""
            kept.append(value)
        return kept


def quoted(names: Sequence[str], limit: int = 20) -> str:
    """Names for a message: 'a', 'b' and so on; long names and long lists are truncated with …"""
    return _in_all([f"'{_cut(name)}'" for name in names[:limit]], len(names))


def unquoted(names: Iterable[object], limit: int = 20) -> str:
    """Names for a message without marks around them; long names and long lists are truncated with …

    >>> unquoted(["a", "b"]), str(unquoted(range(500), limit=3))
    ('a, b', '0, 1, 2, … (500 in all)')
    """
    every = [str(name) for name in names]
    return _in_all([_cut(name) for name in every[:limit]], len(every))


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"


def _in_all(shown: Sequence[str], n: int) -> str:
    listed = list_of(shown)
    return listed if n <= len(shown) else LONG_LIST.format(listed=listed, n=n)


def _texts(values: Sequence[str]) -> pa.Array:
    return pa.array(values, _TEXT)


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in text
