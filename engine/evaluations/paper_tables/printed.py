"""A table as a paper printed it: its cells as strings, and as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

import pandas as pd


@dataclass(frozen=True)
class PaperTable:
    """One printed table.

    title: what it holds, in our words. place: where it stands in the paper ("table 2"). columns: heads, the first that
    of the rows' names. cells: as printed. measures: the card of each column that has one, by head. note: what a reader
    should know of the numbers. used_otherwise: rows whose model the paper ran in a way that its card here does not.
    """

    key: str
    title: str
    paper: str
    place: str
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    measures: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    used_otherwise: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Paper and table."""
        return f"{self.paper}, {self.place}"

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of its rows."""
        return tuple(row[0] for row in self.cells)

    def printed(self) -> pd.DataFrame:
        """The cells as they are printed, every one a string."""
        return pd.DataFrame(list(self.cells), columns=list(self.columns), dtype="str")

    def values(self, column: str) -> pd.Series:
        """A column as numbers by the name of the row; per cents as shares of 1, as the cards have them."""
        # In decimals: 12.54% is the number 0.1254, and not what 12.54 / 100 is in binary.
        return (
            self.printed()
            .set_index(self.columns[0])[column]
            .map(lambda cell: float(Decimal(cell.replace(",", "").rstrip("%")) / (100 if cell.endswith("%") else 1)))
        )

    def as_printed(self, column: str, value: float) -> str:
        """A number in the unit of `values`, written as the column writes its own: decimals, thousands, per cent."""
        example = self.printed()[column].iloc[0]
        decimals = len(example.rstrip("%").partition(".")[2])
        is_percent = example.endswith("%")
        shown = 100 * value if is_percent else value
        return f"{shown:{',' if ',' in example else ''}.{decimals}f}{'%' if is_percent else ''}"
