"""Columns of an input file that have no role: kept as texts, for the tables whose rows are rows of the input.

In the frame of a dataset, and in a file made of it, their names have a prefix, so that none is taken for one with a
role; reading such a file removes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats.columns import JOIN
from engine.datasets.formats.formulas import SIGNATURE, SIGNATURE_COLUMN
from engine.errors import InputError
from engine.messages.message import Message

PREFIX = "column:"

FurtherColumns = Mapping[str, tuple[str, ...]]


def further_columns(frame: pd.DataFrame, with_role: Collection[str | None]) -> dict[str, tuple[str, ...]]:
    """The columns of a file's table without a role, by their names in the file; the signature of an export is not one.

    with_role: the columns that have a role, also as joined columns ("a + b"); None for a role without a column. Raises
    InputError for a column that is there both with the prefix and without it.

    >>> further_columns(pd.DataFrame({"text": ["a"], "id": ["7"], "column:note": ["x"]}), ["text", None])
    {'id': ('7',), 'note': ('x',)}
    """
    taken = {part for name in with_role if name for part in (name, *name.split(JOIN))}
    without_role = [str(name) for name in frame.columns if name not in taken and not _is_signature(frame, str(name))]
    return {name: tuple(frame[column].tolist()) for column, name in names_without(PREFIX, without_role).items()}


def names_without(prefix: str, columns: Iterable[str]) -> dict[str, str]:
    """The name of each column without the prefix that it may have. Raises InputError when two have the same name then.

    >>> names_without("human:", ["human:ann", "ben"])
    {'human:ann': 'ann', 'ben': 'ben'}
    """
    names: dict[str, str] = {}
    column_by_name: dict[str, str] = {}
    for column in columns:
        name = names[column] = column.removeprefix(prefix)
        other = column_by_name.setdefault(name, column)
        if other != column:
            raise InputError(
                Message(
                    "The columns {other!r} and {column!r} would both be called {name!r}, as "
                    "{prefix!r} only marks a column of a file that Hakari wrote. Rename one of them.",
                    other=other,
                    column=column,
                    name=name,
                    prefix=prefix,
                )
            )
    return names


def with_prefix(further: FurtherColumns) -> dict[str, tuple[str, ...]]:
    """The columns as they are named in the frame of a dataset."""
    return {f"{PREFIX}{name}": values for name, values in further.items()}


def of_own_frame(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """The columns in the frame of a dataset; none in one stored before they were kept. Raises InputError."""
    return {
        str(name).removeprefix(PREFIX): tuple(rows.texts_of(frame, str(name)))
        for name in frame.columns
        if str(name).startswith(PREFIX)
    }


def _is_signature(frame: pd.DataFrame, name: str) -> bool:
    return name == SIGNATURE_COLUMN and bool(frame[name].str.fullmatch(SIGNATURE.pattern).all())
