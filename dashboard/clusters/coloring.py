"""Colours of the points of a map: by class, or by another column of the data, of categories or of numbers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from plotly.colors import sample_colorscale

from dashboard.shared.theme import N_COLORS, PALETTES, SYMBOLS
from engine.messages.languages import tr

MOST_GROUPS = 20  # values of a column with a colour and shape of their own; the rest share one
N_STEPS = 8  # of a column of numbers
LEAST_NUMBERS = 6  # different numbers below which they are read as categories: 0 and 1, or grades
SCALE = "Cividis"  # of one brightness order for every kind of colour vision
GREY_INDEX = 7  # of the palette: the colour of sentences without a number
SCALE_PARTS = {"light": (0.0, 0.82), "dark": (0.3, 1.0)}  # what of it differs from the ground of a theme


@dataclass(frozen=True)
class Coloring:
    """The groups of sentences that have a colour each.

    group_by_row: the index of each sentence's group in `groups`. column: the column of the data, None for the classes.
    ramps: the colours of the groups by theme where they are steps of a number; None for the colours of categories.
    """

    groups: tuple[str, ...]
    group_by_row: Mapping[int, int]
    column: str | None = None
    ramps: Mapping[str, tuple[str, ...]] | None = None

    def color(self, index: int, theme: str = "light") -> str:
        """The colour of a group."""
        palette = self.ramps[theme] if self.ramps else PALETTES[theme]
        return palette[index % len(palette)]

    def symbol(self, index: int) -> str:
        """The shape of a group's points; all are circles where colours are steps of a number."""
        return SYMBOLS[0] if self.ramps else class_symbol(index)


def by_class(points: pd.DataFrame) -> Coloring:
    """Each class in its colour; `points` as in `Result.points`."""
    groups = class_order(points)
    sentences = points.drop_duplicates("row")
    return Coloring(
        tuple(groups),
        dict(
            zip(
                sentences["row"].tolist(),
                pd.Index(groups).get_indexer(pd.Index(sentences["label"])).tolist(),
                strict=True,
            )
        ),
    )


def by_column(points: pd.DataFrame, column: str, value_by_row: Mapping[int, str]) -> Coloring:
    """The sentences by what a column of the data says of them, as texts; "" is no value.

    Where all values are numbers, and of LEAST_NUMBERS kinds at least, they fall into N_STEPS steps of one width from
    the smallest to the largest. Of other values the MOST_GROUPS most frequent ones have a group each, the first of
    equally frequent ones first; the others share one, and so do sentences without a value.
    """
    rows = points.sort_values("row", kind="stable")["row"].drop_duplicates().tolist()
    values = [value_by_row.get(row, "").strip() for row in rows]
    numbers = pd.to_numeric(pd.Series([value for value in values if value], dtype="object"), errors="coerce")
    is_numeric = bool(len(numbers)) and bool(np.isfinite(numbers).all()) and numbers.nunique() >= LEAST_NUMBERS
    names, indices = _steps(values) if is_numeric else _categories(values)
    ramps = None
    if is_numeric:
        has_none = len(names) > N_STEPS
        ramps = {
            theme: (
                *sample_colorscale(SCALE, np.linspace(*ends, N_STEPS).tolist(), colortype="rgb"),
                *([PALETTES[theme][GREY_INDEX]] if has_none else []),
            )
            for theme, ends in SCALE_PARTS.items()
        }
    return Coloring(tuple(names), dict(zip(rows, indices, strict=True)), column, ramps)


def class_order(points: pd.DataFrame) -> list[str]:
    """The classes in the order of their first sentence: the order of colours."""
    return [str(label) for label in points.sort_values("row", kind="stable")["label"].unique()]


def class_symbol(index: int) -> str:
    """The shape of a class's points: neighbours in the legend differ in shape as they do in colour.

    Of 50 classes no two share both colour (the `index`-th of ten) and shape.

    >>> [class_symbol(k) for k in (0, 1, 10)]
    ['circle', 'diamond', 'diamond']
    """
    return SYMBOLS[(index + index // N_COLORS) % len(SYMBOLS)]


def _categories(values: Sequence[str]) -> tuple[list[str], list[int]]:
    counts = pd.Series([value for value in values if value], dtype="str").value_counts(sort=False)
    frequent = counts.sort_values(ascending=False, kind="stable").index[:MOST_GROUPS]
    names = [value for value in counts.index if value in set(frequent)]  # in the order of their first sentence
    index_by_value = {value: index for index, value in enumerate(names)}
    if len(counts) > len(names):
        for value in counts.index:
            index_by_value.setdefault(str(value), len(names))
        names.append(tr("{n:,} other values", n=len(counts) - len(names)))
    if "" in values:
        index_by_value[""] = len(names)
        names.append(tr("no value"))
    return names, [index_by_value[value] for value in values]


def _steps(values: Sequence[str]) -> tuple[list[str], list[int]]:
    numbers = np.array([float(value) if value else np.nan for value in values])
    ends = np.linspace(np.nanmin(numbers), np.nanmax(numbers), N_STEPS + 1)
    digits = max(0, 2 - int(np.floor(np.log10(ends[1] - ends[0]))) - 1)
    names = [f"{low:,.{digits}f}–{high:,.{digits}f}" for low, high in pairwise(ends)]
    indices = np.clip(np.searchsorted(ends, numbers, side="right") - 1, 0, N_STEPS - 1)
    if np.isnan(numbers).any():
        names.append(tr("no value"))
        indices[np.isnan(numbers)] = N_STEPS
    return names, indices.tolist()
