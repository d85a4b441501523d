"""The records of a comparison: the two sides (Side), and what it finds (Comparison)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from engine.evaluations.alignment.records import Scoring
from engine.evaluations.minimal_pairs.records import PairView
from engine.evaluations.shared.common_columns import WHY_UNDEFINED, interval, separable_in_bold
from engine.evaluations.shared.declared_tables import Column, Table, declared, documented
from engine.messages.message import Message, named
from engine.options import option

# The kinds whose results can be compared.
KINDS = ("clusters", "classification", "fill-mask", "alignment", "metric-study", "minimal-pairs")
BOTH_SIDES = Message("first is the first side, second the other")

NUMBERS = Table(
    "numbers",
    Message("A row for each number that both sides have: {BOTH_SIDES}.", BOTH_SIDES=BOTH_SIDES),
    (
        Column("measure", "text", "key of the measure's card"),
        Column("items", "text", "the items that it is over"),
        Column("n", "integer", "items that both sides have", "items"),
        Column("first", "number", "the number of the first side over these items"),
        Column("second", "number", "the same of the second side"),
        Column("difference", "number", "first less second"),
        *interval(Message("of the difference")),
        Column("test", "text", "the test of the difference, paired by items", words=named),
        Column("p_value", "number", "its two-sided p-value"),
        Column("p_holm", "number", "the same, corrected for the rows of this table by Holm's method"),
        Column("separable", "boolean", "whether p_holm is below 0.05, or without a p-value the interval leaves out 0"),
        WHY_UNDEFINED,
    ),
    bold=separable_in_bold(
        "difference", Message("Holm-corrected, 5%, where there is a p-value, else the 95% interval leaves out 0")
    ),
)
ITEMS = Table(
    "items",
    Message("A row for each item that both sides have, what changed most first: {BOTH_SIDES}.", BOTH_SIDES=BOTH_SIDES),
    (
        Column("row", "integer", "number of its row in the file of the first side"),
        Column("other_row", "integer", "number of its row in the file of the second side"),
        Column("text", "text", "the sentence; the reference; the acceptable sentence"),
        Column("other_text", "text", 'the candidate; the unacceptable sentence; "" for single sentences'),
        Column("category", "text", 'category, class or domain; "" where there is none'),
        Column("first", "number", "number of the first side"),
        Column("second", "number", "number of the second side"),
        Column("first_outcome", "text", 'what the first side decided; "" for mere numbers'),
        Column("second_outcome", "text", "the same of the second side"),
        Column("difference", "number", "first less second, each in the unit in which they can be compared (`scale`)"),
        Column("changed", "boolean", "whether the two sides decided differently"),
    ),
)
FILES = (NUMBERS, ITEMS)


@dataclass(frozen=True)
class AlignmentView:
    """How a side of alignment is shown: its layer (None: that of the settings) and its scoring."""

    layer: int | None = option(None, "Hidden state that is compared.", least=0, unset="that of the run")
    scoring: Scoring = field(default_factory=Scoring)


@dataclass(frozen=True)
class GridView:
    """The setting of a metric study that stands for a side; "" for the best of the model."""

    idf: str = option("", "The idf dictionary of the setting.", unset="that of the model's best setting")
    penalty: str = option("", "The penalty of the setting.", unset="that of the model's best setting")


SideView = PairView | AlignmentView | GridView


@dataclass(frozen=True)
class Side:
    """One of the two things compared: a result, one of its models, and how it is shown (None: as the run asks).

    name: what tells the side apart in words, such as the model.
    """

    name: str
    result: Any
    model: str
    shown: SideView | None = None


@documented
@dataclass(frozen=True)
class Comparison:
    """Two sides of one kind, compared.

    scale: the unit in which the differences of `items` are compared. n_only_first, n_only_second: items that only one
    side has, which count nowhere. notices: what a reader must know.
    """

    numbers: pd.DataFrame = field(metadata=declared(NUMBERS))
    items: pd.DataFrame = field(metadata=declared(ITEMS))
    scale: str
    n_only_first: int
    n_only_second: int
    notices: tuple[str, ...] = ()


def scored_models(result: Any) -> tuple[str, ...]:
    """What can be a side of a result: its models, and the conditions under which one was scored again."""
    models: tuple[str, ...] = getattr(result, "scored_models", result.settings.models)
    return models
