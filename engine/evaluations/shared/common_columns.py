"""Columns that the tables of several evaluations have."""

from __future__ import annotations

import pandas as pd

from engine.evaluations.shared.declared_tables import MESSAGE, Column, Emphasis
from engine.messages.message import Message

MODEL = Column("model", "text", "the model")
LEFT_OUT_BY = Column("model", "text", 'the model that left it out, "" where no model was given it')
OTHER = Column("other", "text", "the model that it is compared with")
ROW = Column("row", "integer", "number of the row in the file")
CLASS = Column("class", "text", "the label of the class")
REASON = Column("reason", "text", "why it was left out", dtype=MESSAGE)
WHY_UNDEFINED = Column("reason", "text", 'why a number of this row is undefined, "" where none is', dtype=MESSAGE)
SEPARABLE = Column("separable", "boolean", "whether the interval leaves out 0")
RANK_GROUP = Column(
    "rank_group", "integer", "models not separable from the best of their group share its number", better="lower"
)
RANK_FIRST = Column(
    "rank_first",
    "integer",
    "first place of its range: 1 + the number of models that are significantly better",
    better="lower",
    since="0.3.0",
)
RANK_LAST = Column(
    "rank_last",
    "integer",
    "last place of its range: the number of models less those that are significantly worse",
    better="lower",
    since="0.3.0",
)


def interval(method: str = "", names: str = "ci", of: str = "") -> tuple[Column, Column]:
    """The two ends of a 95% interval: `names`_low and `names`_high; `method` says how it is found.

    of: the column that it is the interval of, where that is neither `names` nor the number before it.
    """
    low = (
        Message("lower end of the 95% interval, {method}", method=method)
        if method
        else Message("lower end of the 95% interval")
    )
    high = (
        Message("upper end of the 95% interval, {method}", method=method)
        if method
        else Message("upper end of the 95% interval")
    )
    return (
        Column(f"{names}_low", "number", low, end="low", of=of),
        Column(f"{names}_high", "number", high, end="high", of=of),
    )


def best_in_bold(column: str, method: str, ranked_by: str = "") -> Emphasis:
    """Bold for the models whose range of ranks begins at 1, where there are others; `method` says how they are compared.

    A table of an earlier version has groups alone. ranked_by: the column whose values are ranked apart from each other.
    """

    def rows(frame: pd.DataFrame) -> pd.Series:
        groups = frame[RANK_GROUP.name]
        firsts = frame[RANK_FIRST.name].fillna(groups) if RANK_FIRST.name in frame else groups
        firsts = firsts.fillna(0).astype(int)  # 0: without a score
        last = firsts.groupby(frame[ranked_by]).transform("max") if ranked_by else firsts.max()
        return (firsts == 1) & (last > 1)

    return Emphasis(
        column,
        rows,
        Message("Bold: no model is significantly better ({method}, 95%).", method=method),
    )


def separable_in_bold(column: str, method: str) -> Emphasis:
    """Bold for the differences that are separable from 0; `method` says by what."""

    def rows(frame: pd.DataFrame) -> pd.Series:
        return frame[SEPARABLE.name].fillna(False).astype(bool)

    return Emphasis(column, rows, Message("Bold: a significant difference ({method}).", method=method))
