"""Columns that the tables of several evaluations have."""

from __future__ import annotations

from engine.evaluations.shared.declared_tables import Column

MODEL = Column("model", "text", "the model")
LEFT_OUT_BY = Column("model", "text", 'the model that left it out, "" where no model was given it')
OTHER = Column("other", "text", "the model that it is compared with")
ROW = Column("row", "integer", "number of the row in the file")
CLASS = Column("class", "text", "the label of the class")
REASON = Column("reason", "text", "why it was left out")
WHY_UNDEFINED = Column("reason", "text", 'why a number of this row is undefined, "" where none is')
SEPARABLE = Column("separable", "boolean", "whether the interval leaves out 0")
RANK_GROUP = Column("rank_group", "integer", "models not separable from the best of their group share its number",
                    better="lower")


def interval(method: str = "", names: str = "ci") -> tuple[Column, Column]:
    """The two ends of a 95 % interval: `names`_low and `names`_high; `method` says how it is found."""
    how = f", {method}" if method else ""
    return (Column(f"{names}_low", "number", f"lower end of the 95 % interval{how}"),
            Column(f"{names}_high", "number", f"upper end of the 95 % interval{how}"))
