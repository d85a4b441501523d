"""The tables that a page offers: each with its declaration, and with the columns of the input where it has its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import pandas as pd

from engine.errors import EngineError
from engine.evaluations.shared.declared_tables import Column, Table, Type
from engine.evaluations.shared.input_columns import with_input
from engine.messages.message import Message


class LazyTables(Mapping[str, pd.DataFrame]):
    """Tables by name, each made when it is asked for: a download that is not requested costs nothing."""

    def __init__(self, makers: Mapping[str, Callable[[], pd.DataFrame]]) -> None:
        self._makers = makers

    def __getitem__(self, name: str) -> pd.DataFrame:
        """The table, made anew."""
        return self._makers[name]()

    def __contains__(self, name: object) -> bool:
        """Whether there is one of this name; none is made for it."""
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._makers)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._makers)


class OfferedTables(Mapping[str, pd.DataFrame]):
    """Tables by name. One whose rows are rows of the input gets the columns of the input when it is asked for.

    declared: the declarations of the tables, found by name; a table without one is declared by its types. dataset:
    reads the input; called once, when a table needs it. A table whose input is gone comes without its columns.
    """

    def __init__(
        self,
        frames: Mapping[str, pd.DataFrame],
        declared: Sequence[Table] = (),
        dataset: Callable[[], Any] | None = None,
    ) -> None:
        self._frames, self._read = frames, dataset
        self._declared = {table.name: table for table in declared}

    def __getitem__(self, name: str) -> pd.DataFrame:
        """The table as it is downloaded."""
        frame, table = self._frames[name], self.declaration(name)
        return with_input(table, frame, self.dataset) if table.of_input and self.dataset is not None else frame

    def __contains__(self, name: object) -> bool:
        """Whether there is one of this name; nothing is made or read for it."""
        return name in self._frames

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._frames)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._frames)

    def n_rows(self, name: str) -> int:
        """The number of rows of a table; nothing is read for it."""
        return len(self._frames[name])

    def declaration(self, name: str) -> Table:
        """The declaration of a table."""
        return self._declared.get(name) or _by_types(name, self._frames[name])

    @cached_property
    def dataset(self) -> Any | None:
        """The input, None where there is none or it is gone."""
        try:
            return self._read() if self._read is not None else None
        except EngineError:  # deleted from the disk
            return None


def _by_types(name: str, frame: pd.DataFrame) -> Table:
    def kind(dtype: Any) -> Type:
        if pd.api.types.is_bool_dtype(dtype):
            return "boolean"
        return (
            "integer"
            if pd.api.types.is_integer_dtype(dtype)
            else ("number" if pd.api.types.is_numeric_dtype(dtype) else "text")
        )

    columns = tuple(Column(str(header), kind(frame[header].dtype), "") for header in frame.columns)
    return Table(name, Message(""), columns)
