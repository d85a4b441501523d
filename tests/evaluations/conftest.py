"""What holds for every evaluation: no table takes the values from a message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd
import pytest

from engine.evaluations.shared.declared_tables import MESSAGE, Table
from engine.messages.message import Message


@pytest.fixture(autouse=True, scope="session")
def _tables_keep_messages() -> Iterator[None]:
    """A column of plain texts would keep the English of a message alone: such a column is declared as MESSAGE."""
    frame = Table.frame

    def checked(self: Table, rows: Sequence[Sequence[object]] = ()) -> pd.DataFrame:
        plain = [
            (place, column.name)
            for place, column in enumerate(column for column in self.columns if not column.is_family)
            if column.dtype != MESSAGE and column.type == "text"
        ]
        for row in rows:
            for place, name in plain:
                value = row[place]
                assert not isinstance(value, Message) or not value.values, f"{self.name}.{name}: {value}"
        return frame(self, rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Table, "frame", checked)
        yield
