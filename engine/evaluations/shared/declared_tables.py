"""A table declared once: its columns with type, unit, direction, meaning, and since which version.

Docstrings, the headers of CSV files, the documents and the loader of stored runs read the declaration; no
columns are typed twice. `engine.evaluations.<evaluation>.records` declares the tables of a result, the module that
computes a derived table declares that one.
"""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import cleandoc
from typing import Any, Literal, NamedTuple, TypeVar

import pandas as pd
from pandas.api import types as dtypes

from engine.measures.cards.card import Better
from engine.measures.cards.catalog import CARDS
from engine.messages.message import Message
from engine.version import FIRST_VERSION

Type = Literal["text", "integer", "integer or none", "number", "boolean"]

# The key of a field's metadata under which its declaration stands.
TABLE = "table"
# In memory: what a column of each type is made of unless its declaration says otherwise.
_DTYPES: Mapping[Type, str] = {
    "text": "str",
    "integer": "int64",
    "integer or none": "Int64",
    "number": "float64",
    "boolean": "bool",
}
# In memory: a column of messages, each with what it is made of; a column of texts keeps the texts alone.
MESSAGE = "object"
# A column that a stored table lacks: the type that has a missing value.
_MISSING_DTYPES: Mapping[Type, str] = {**_DTYPES, "integer": "Int64", "boolean": "boolean"}
_DOCUMENT_WIDTH = 116
_PLACEHOLDER = re.compile(r"<(\w+)>")

Declared = TypeVar("Declared")


@dataclass(frozen=True)
class Column:
    """One column, or a family of columns whose names differ in a part: "human:<name>", "reference <n>".

    type: "number" may be NaN (undefined), "integer or none" NA. dtype: what it is in memory where that is not the usual
    one of the type ("float32", "category"). unit: "" for a pure number. better: which end is, "neither" for what is no
    measure. card: the key of the measure card that unit and direction are from. since: the version that brought it.
    digits: the decimals that mean something in print; None where the size of the values decides. end: of a 95%
    interval, that of the column `of`; where that is "", of the column whose name it has, or else of the number before
    it. words: of a column whose values are choices and names of ours, what a page calls one, for `translated`; None
    where they are data.
    """

    name: str
    type: Type
    meaning: str
    unit: str = ""
    better: Better = "neither"
    card: str = ""
    since: str = FIRST_VERSION
    dtype: str = ""
    digits: int | None = None
    end: Literal["", "low", "high"] = ""
    of: str = ""
    words: Callable[[str], str] | None = None

    @property
    def is_family(self) -> bool:
        """Whether it stands for any number of columns, none included."""
        return _PLACEHOLDER.search(self.name) is not None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = _PLACEHOLDER.split(self.name)
        # Every other part is the word of a placeholder: <n> is a number, any other a text.
        return re.compile(
            "".join(
                re.escape(part) if index % 2 == 0 else r"\d+" if part == "n" else ".+"
                for index, part in enumerate(parts)
            ),
            re.DOTALL,
        )

    def names(self, header: str) -> bool:
        """Whether a column of that name is this one, or of this family.

        >>> Column("human:<name>", "number", "the score of an annotator").names("human:b")
        True
        """
        return self._pattern.fullmatch(header) is not None

    def fits(self, values: pd.Series) -> bool:
        """Whether values are of the type; where all are missing, or there is none, they are of any."""
        if values.isna().all():
            return True
        if self.type == "boolean":
            return bool(dtypes.is_bool_dtype(values.dtype))
        if self.type == "number":
            return bool(dtypes.is_float_dtype(values.dtype))
        if self.type in ("integer", "integer or none"):
            return bool(dtypes.is_integer_dtype(values.dtype))
        return isinstance(values.dtype, pd.CategoricalDtype) or bool(dtypes.is_string_dtype(values.dtype))

    def missing(self, index: pd.Index) -> pd.Series:
        """Missing values of its type: NaN, and NA where the type has no NaN."""
        return pd.Series(None, index=index, dtype=_MISSING_DTYPES[self.type])


# The columns of the input that have no role, in the tables of files.
FURTHER = Column(
    "<column>",
    "text",
    'each further column of the input, by its name there; "column:<column>" where a column of this table has that name',
    since="0.3.0",
)


def measured(card: str, name: str = "", meaning: str = "", since: str = FIRST_VERSION) -> Column:
    """The column of a measure: unit and direction are its card's, and so are the name and the meaning if not given."""
    measure = CARDS[card]
    return Column(
        name or card,
        "number",
        meaning or f"{measure.name}, {measure.symbol}",
        measure.unit,
        measure.better,
        card,
        since,
        digits=measure.digits,
    )


@dataclass(frozen=True)
class Emphasis:
    """The numbers that are printed bold because a test says so: those of `column` in the rows that `rows` marks.

    rows: the frame -> a boolean for each of its rows, none of them true where the test separates nothing. meaning: what
    bold says, a sentence.
    """

    column: str
    rows: Callable[[pd.DataFrame], pd.Series]
    meaning: str


class ColumnRow(NamedTuple):
    """A column as a row of a document's table; "" where there is no unit or no better end."""

    column: str
    type: str
    unit: str
    better: str
    meaning: str
    since: str


@dataclass(frozen=True)
class Table:
    """A table: its name (of the file, or of the field that holds it), what a row is, and its columns in order.

    promised: so many of the first columns are the command line's public contract. only_with_rows: no file is written
    of it where it has none. since: the version that brought the table. of_input: each of its rows is one of the input,
    named by the column `row`, and files have the columns of the input appended. bold: what is printed bold. is_large:
    whether it may have millions of rows, so that it stays in its file (`shared.stored_table`).
    """

    name: str
    meaning: Message
    columns: tuple[Column, ...]
    promised: int = 0
    only_with_rows: bool = False
    since: str = FIRST_VERSION
    of_input: bool = False
    bold: Emphasis | None = None
    is_large: bool = False

    @property
    def headers(self) -> list[str]:
        """The names of its columns, families left out."""
        return [column.name for column in self.columns if not column.is_family]

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def frame(self, rows: Sequence[Sequence[object]] = ()) -> pd.DataFrame:
        """The table of these rows, which have a value for each of `headers`; typed also where there are none."""
        has_messages = any(column.dtype == MESSAGE for column in self.columns)
        frame = pd.DataFrame(list(rows), columns=self.headers, dtype=object if has_messages else None)
        return frame.astype(
            {column.name: column.dtype or _DTYPES[column.type] for column in self.columns if not column.is_family}
        )

    def frame_of_records(self, records: Sequence[Mapping[str, object]]) -> pd.DataFrame:
        """The table of these rows, each a value by header. Raises KeyError for a row that lacks one."""
        return self.frame([[record[header] for header in self.headers] for record in records])

    def with_input(self, *columns: Column) -> Table:
        """The table as files have it: with these columns of the input appended, then every other of the input."""
        return self.extended(*columns, FURTHER, of_input=True)

    def column_of(self, header: str) -> Column | None:
        """The declaration of a column by that name, None where there is none."""
        return next(
            (column for column in self.columns if column.name == header),
            next((column for column in self.columns if column.is_family and column.names(header)), None),
        )

    def arranged(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with its columns in the declared order, those of a family as they come.

        Raises TypeError when a declared column is missing, one is not declared, or one is of another type.
        """
        headers, missing = self._matched(frame)
        strange = [str(header) for header in frame.columns if str(header) not in headers]
        wrong = [
            f"{column.name} ({column.type}, not {frame[header].dtype})"
            for header in headers
            if (column := self.column_of(header)) is not None and not column.fits(frame[header])
        ]
        for what, columns in (
            ("lacks the columns", [column.name for column in missing]),
            ("has columns that are not declared", strange),
            ("has columns of another type", wrong),
        ):
            if columns:
                raise TypeError(f"The table {self.name!r} {what}: {', '.join(columns)}.")
        return frame if headers == list(frame.columns) else frame[headers]

    def selected(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The declared columns of a frame that may have others, in the declared order. Raises TypeError as `arranged`."""
        return self.arranged(frame[self._matched(frame)[0]])

    def completed(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[Column, ...]]:
        """A stored table with the columns that it lacks as missing values, and those columns.

        Columns are in the declared order; those that are not declared (of a later version) stay, after the others.
        """
        _, missing = self._matched(frame)
        if not missing:
            return frame, ()
        filled = frame.assign(**{column.name: column.missing(frame.index) for column in missing})
        headers, _ = self._matched(filled)
        return filled[[*headers, *(header for header in filled.columns if header not in headers)]], missing

    def extended(self, *columns: Column, **changes: Any) -> Table:
        """The same table with further columns at the end, and other fields changed."""
        return replace(self, columns=(*self.columns, *columns), **changes)

    def reduced(self, headers: Sequence[str], **changes: Any) -> Table:
        """A table of some of the columns, in the order given."""
        return replace(self, columns=tuple(self[header] for header in headers), **changes)

    def rows(self) -> list[ColumnRow]:
        """The columns as rows of a document's table."""
        return [
            ColumnRow(
                column.name,
                column.type,
                column.unit,
                "" if column.better == "neither" else column.better,
                column.meaning,
                column.since,
            )
            for column in self.columns
        ]

    def document(self) -> str:
        """The declaration as a part of a docstring."""
        lines = []
        for name, type_, unit, better, meaning, since in self.rows():
            facts = [
                type_,
                *([unit] if unit else []),
                *([f"{better} is better"] if better else []),
                *([f"since {since}"] if since != FIRST_VERSION else []),
            ]
            lines += textwrap.wrap(
                f"{name} ({', '.join(facts)}): {meaning}",
                _DOCUMENT_WIDTH,
                initial_indent="    ",
                subsequent_indent="        ",
            )
        return "\n".join([f"{self.name}: {self.meaning}", *lines])

    def _matched(self, frame: pd.DataFrame) -> tuple[list[str], tuple[Column, ...]]:
        """The frame's declared columns in the declared order, and the declared columns that it lacks."""
        headers: list[str] = []
        missing = []
        plain = set(self.headers)
        for column in self.columns:
            if column.is_family:
                headers += [
                    str(header)
                    for header in frame.columns
                    if header not in plain and header not in headers and column.names(str(header))
                ]
            elif column.name in frame.columns:
                headers.append(column.name)
            else:
                missing.append(column)
        return headers, tuple(missing)


def declared(table: Table) -> dict[str, Table]:
    """The metadata of the field of a result that holds `table`."""
    return {TABLE: table}


def tables_of(result_type: type[Any]) -> dict[str, Table]:
    """The declared tables of a result's type by the field that holds them."""
    return {field.name: field.metadata[TABLE] for field in dataclasses.fields(result_type) if TABLE in field.metadata}


def frames_of(result: Any, tables: Sequence[Table]) -> dict[str, pd.DataFrame]:
    """The tables of a result by name, where the name of each is that of its field."""
    return {table.name: getattr(result, table.name) for table in tables}


def documented(result_type: type[Declared]) -> type[Declared]:
    """Class decorator, above @dataclass: the declarations of the tables are appended to the docstring."""
    tables = tables_of(result_type).values()
    result_type.__doc__ = "\n\n".join([cleandoc(result_type.__doc__ or ""), *(table.document() for table in tables)])
    return result_type


def returns(table: Table) -> Callable[[Declared], Declared]:
    """Decorator of a function that returns `table`: the declaration is appended to its docstring."""

    def decorate(function: Declared) -> Declared:
        document = f"Returns the table {table.document()}"
        function.__doc__ = "\n\n".join([cleandoc(function.__doc__ or ""), document])
        return function

    return decorate
