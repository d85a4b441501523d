"""The columns of the input, such as sentences and human scores, appended to a table of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from engine.datasets.further_columns import PREFIX
from engine.evaluations.shared.declared_tables import FURTHER, Table

# The last column of a downloaded CSV file: the digest of the result's signature.
SIGNATURE = "signature"


def with_input(table: Table, frame: pd.DataFrame, dataset: Any) -> pd.DataFrame:
    """A table with the columns of the input appended, each value beside the row it is from; others stay as they are.

    Columns with a role come where the declaration has them and the frame has not, then every other column of the input
    under its name there, or with the prefix "column:" where a column of the table or of its file has that name. A
    row that the dataset lacks has "" and NaN there. A frame without rows of the input (`Table.of_input`) is returned
    unchanged.

    frame: has the column `row`. dataset: with `to_frame()` and `further`, the texts of each further column by name.
    """
    if not table.of_input or "row" not in frame.columns:
        return frame
    own = dataset.to_frame()
    declared = [column for column in table.columns if column != FURTHER]
    roles = {
        name: own[name]
        for name in map(str, own.columns)
        if name not in frame.columns and any(column.names(name) for column in declared)
    }
    taken = {*map(str, frame.columns), *roles, *table.headers, SIGNATURE}
    # A column with a role may be among the others too, as the category of minimal pairs is: it comes once.
    further = {
        (f"{PREFIX}{name}" if name in taken else name): pd.Series(values, dtype="str")
        for name, values in dataset.further.items()
        if name not in taken or name not in own.columns or tuple(own[name]) != values
    }
    columns = roles | further
    if not columns:
        return frame
    places = pd.Index(own["row"]).get_indexer(frame["row"])  # (n_rows,), -1 where the dataset has no such row
    beside = pd.DataFrame(columns).take(places.clip(0)).set_index(frame.index)
    if (places < 0).any():
        beside[places < 0] = [float("nan") if dtype.kind == "f" else "" for dtype in beside.dtypes]
    return pd.concat([frame, beside], axis=1)


def all_with_input(
    tables: Sequence[Table], frames: Mapping[str, pd.DataFrame], dataset: Any
) -> dict[str, pd.DataFrame]:
    """Frames by the tables' names, each with the columns of the input where it has rows of it."""
    by_name = {table.name: table for table in tables}
    return {
        name: with_input(by_name[name], frame, dataset) if name in by_name else frame for name, frame in frames.items()
    }
