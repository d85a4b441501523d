"""Columns of an input file that have no role: kept as texts, for the tables whose rows are rows of the input.

In the frame of a dataset, and in a file made of it, their names have a prefix, so that none is taken for one with a
role; reading such a file removes it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats.columns import JOIN
from engine.datasets.formats.formulas import SIGNATURE, SIGNATURE_COLUMN

PREFIX = "column:"

FurtherColumns = Mapping[str, tuple[str, ...]]


def further_columns(frame: pd.DataFrame, with_role: Collection[str | None]) -> dict[str, tuple[str, ...]]:
    """The columns of a file's table without a role, by their names in the file; the signature of an export is none.

    with_role: the columns that have a role, also as joined columns ("a + b"); None for a role without a column.

    >>> further_columns(pd.DataFrame({"text": ["a"], "id": ["7"], "column:note": ["x"]}), ["text", None])
    {'id': ('7',), 'note': ('x',)}
    """
    taken = {part for name in with_role if name for part in (name, *name.split(JOIN))}
    return {str(name).removeprefix(PREFIX): tuple(frame[name].tolist()) for name in frame.columns
            if name not in taken and not _is_signature(frame, str(name))}


def with_prefix(further: FurtherColumns) -> dict[str, tuple[str, ...]]:
    """The columns as they are named in the frame of a dataset."""
    return {f"{PREFIX}{name}": values for name, values in further.items()}


def of_own_frame(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """The columns in the frame of a dataset; none in one stored before they were kept. Raises InputError."""
    return {str(name).removeprefix(PREFIX): rows.texts_of(frame, str(name))
            for name in frame.columns if str(name).startswith(PREFIX)}


def _is_signature(frame: pd.DataFrame, name: str) -> bool:
    return name == SIGNATURE_COLUMN and bool(frame[name].str.fullmatch(SIGNATURE.pattern).all())
