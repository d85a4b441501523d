"""What a figure shows, read from the figure itself: its numbers as a table, and its finding in words. Pure.

Both come from what is drawn, so that a reader who does not see the figure gets the same numbers as one who does.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.messages.languages import sentences, tr, tr_n

SERIES, ACROSS, UP, VALUE, LOW, HIGH = "series", "across", "up", "value", "low", "high"
MOST_SERIES = 4  # of which a finding speaks; the table has all
LEAST_CORRELATED = 3  # points
MARKUP = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Series:
    """What one trace of a figure shows: "bars", "line", "points", "spread" (points along one axis) or "cells".

    `values`: of bars and cells. `across` and `up` are texts where the axis has names, else numbers.
    """

    kind: str
    name: str
    across: tuple[Any, ...]
    up: tuple[Any, ...]
    values: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


def figure_table(figure: go.Figure) -> pd.DataFrame:
    """A row for each mark of a figure; columns without any value are left out.

    Columns: series, across, up (the position on either axis), value (of a cell), low and high (of an interval).
    """
    rows = [
        {SERIES: part.name, ACROSS: across, UP: up, VALUE: value, LOW: low, HIGH: high}
        for part in series_of(figure)
        for across, up, value, low, high in zip(
            part.across,
            part.up,
            *(
                numbers or (math.nan,) * len(part.across)
                for numbers in (part.values if part.kind == "cells" else (), part.low, part.high)
            ),
            strict=True,
        )
    ]
    table = pd.DataFrame(rows, columns=[SERIES, ACROSS, UP, VALUE, LOW, HIGH])
    empty = [column for column in table if table[column].isna().all() or (column == SERIES and not table[column].any())]
    for column in (ACROSS, UP):
        if table[column].map(type).nunique() > 1:  # one column of a table has one type
            table[column] = table[column].map(str)
    return table.drop(columns=empty)


def finding(figure: go.Figure) -> str:
    """What a figure shows, in sentences, one for each of its first series; "" for a figure without marks."""
    parts = series_of(figure)
    said = [_sentence(part) for part in parts[:MOST_SERIES]]
    if len(parts) > MOST_SERIES:
        said.append(tr_n("{n} more series.", "{n:,} more series.", len(parts) - MOST_SERIES))
    return sentences(*said)


def series_of(figure: go.Figure) -> list[Series]:
    """The series of a figure; what is drawn without saying a number (outlines, areas, reference lines) is left out."""
    return list(_series(figure))


def _series(figure: go.Figure) -> Iterator[Series]:
    for trace in figure.data:
        if (
            trace.hoverinfo == "skip"
            or trace.visible is False
            or trace.type not in ("bar", "scatter", "scattergl", "heatmap")
        ):
            continue
        if trace.type == "heatmap":
            cells = np.asarray(trace.z, dtype=float)  # (n_rows, n_columns)
            names = [
                _names(figure, trace, axis, length) for axis, length in (("x", cells.shape[1]), ("y", cells.shape[0]))
            ]
            places = [
                (names[0][j], names[1][i], cells[i, j])
                for i in range(cells.shape[0])
                for j in range(cells.shape[1])
                if np.isfinite(cells[i, j])
            ]
            if places:
                across, up, values = zip(*places, strict=True)
                yield Series("cells", _text(trace.name), across, up, tuple(map(float, values)))
            continue
        n = len(trace.x) if trace.x is not None else 0
        if not n or trace.y is None or len(trace.y) != n:
            continue
        is_bar = trace.type == "bar"
        number_axis = "x" if is_bar and trace.orientation == "h" else "y"
        x, y = _names(figure, trace, "x", n), _names(figure, trace, "y", n)
        numbers = _numbers(getattr(trace, number_axis), n)
        error = getattr(trace, f"error_{number_axis}")
        low, high = _interval(numbers, error)
        kind = "bars" if is_bar else "line" if "lines" in (trace.mode or "lines") else "points"
        if kind == "points" and _is_nameless(figure, trace):
            kind, numbers, low, high = "spread", _numbers(trace.x, n), [], []
        kept = [index for index in range(n) if math.isfinite(numbers[index])]
        if kept:
            yield Series(
                kind,
                _text(trace.name),
                *(tuple(values[index] for index in kept) if values else () for values in (x, y, numbers, low, high)),
            )


def _names(figure: go.Figure, trace: Any, axis: str, n: int) -> list[Any]:
    """The positions on an axis: the names of its ticks, the name in a bar's data, or the numbers themselves."""
    values = getattr(trace, axis)
    values = list(range(n)) if values is None else list(values)
    number = (getattr(trace, f"{axis}axis", None) or axis)[1:]
    settings = figure.layout[f"{axis}axis{number}"]
    ticks = (
        dict(zip(settings.tickvals, settings.ticktext, strict=False))
        if (settings.tickvals is not None and settings.ticktext is not None)
        else {}
    )
    is_category_axis = trace.type == "bar" and axis == ("y" if trace.orientation == "h" else "x")
    if is_category_axis and not ticks and settings.visible is False and trace.customdata is not None:
        return [_text(custom[0]) for custom in trace.customdata]
    return [_text(ticks[value]) if value in ticks else _plain_value(value) for value in values]


def _is_nameless(figure: go.Figure, trace: Any) -> bool:
    """Whether the vertical position of points is no number: that axis has names or nothing beside it."""
    axis = figure.layout[f"yaxis{(trace.yaxis or 'y')[1:]}"]
    return axis.visible is False or axis.showticklabels is False or axis.ticktext is not None


def _plain_value(value: Any) -> Any:
    return (
        _text(value)
        if isinstance(value, str)
        else float(value)
        if isinstance(value, np.floating | float)
        else (int(value) if isinstance(value, np.integer | int) else str(value))
    )


def _numbers(values: Sequence[Any], n: int) -> list[float]:
    numbers = pd.to_numeric(pd.Series(list(values), dtype="object"), errors="coerce").astype(float).tolist()
    return numbers if len(numbers) == n else [math.nan] * n


def _interval(numbers: Sequence[float], error: Any) -> tuple[list[float], list[float]]:
    if error is None or error.array is None:
        return [], []
    above = [float(value) if value is not None else math.nan for value in error.array]
    below = above if error.arrayminus is None else [float(value) for value in error.arrayminus]
    return (
        [number - part for number, part in zip(numbers, below, strict=True)],
        [number + part for number, part in zip(numbers, above, strict=True)],
    )


def _sentence(part: Series) -> str:
    text = {"cells": _of_cells, "bars": _of_bars, "line": _of_line, "points": _of_points, "spread": _of_spread}[
        part.kind
    ](part)
    return tr("{series}: {text}", series=part.name, text=text) if part.name and text else text


def _of_cells(part: Series) -> str:
    most, least = int(np.argmax(part.values)), int(np.argmin(part.values))
    return tr(
        "highest {high} ({high_across}, {high_up}), lowest {low} ({low_across}, {low_up}), {n:,} cells.",
        high=_shown(part.values[most]),
        high_across=part.across[most],
        high_up=part.up[most],
        low=_shown(part.values[least]),
        low_across=part.across[least],
        low_up=part.up[least],
        n=len(part.values),
    )


def _of_bars(part: Series) -> str:
    names = part.across if part.values == _floats(part.up) else part.up
    most, least = int(np.argmax(part.values)), int(np.argmin(part.values))
    if len(part.values) == 1:
        return tr("{name} {value}.", name=_shown(names[0]), value=_shown(part.values[0]))
    return tr(
        "highest {high} ({high_name}), lowest {low} ({low_name}), {n:,} bars.",
        n=len(part.values),
        high=_shown(part.values[most]),
        high_name=_shown(names[most]),
        low=_shown(part.values[least]),
        low_name=_shown(names[least]),
    )


def _of_line(part: Series) -> str:
    first, last = part.values[0], part.values[-1]
    values = {
        "first": _shown(first),
        "start": _shown(part.across[0]),
        "last": _shown(last),
        "n": len(part.values),
        "end": _shown(part.across[-1]),
    }
    if len(part.values) == 1:
        return tr("{first} at {start}.", **values)
    sentence = (
        tr("rises from {first} at {start} to {last} at {end}", **values)
        if last > first
        else tr("falls from {first} at {start} to {last} at {end}", **values)
        if last < first
        else tr("{first} at {start} and at {end}", **values)
    )
    most, least = int(np.argmax(part.values)), int(np.argmin(part.values))
    if {most, least} <= {0, len(part.values) - 1}:
        return tr("{trend} (n = {n:,}).", trend=sentence, n=len(part.values))
    return tr(
        "{trend}; highest {high} at {high_at}, lowest {low} at {low_at} (n = {n:,}).",
        trend=sentence,
        high=_shown(part.values[most]),
        high_at=_shown(part.across[most]),
        low=_shown(part.values[least]),
        low_at=_shown(part.across[least]),
        n=len(part.values),
    )


def _of_points(part: Series) -> str:
    across, up = _floats(part.across), part.values
    if any(value != value for value in across):
        return _of_bars(part)
    ends = {"left": _shown(min(across)), "right": _shown(max(across)), "low": _shown(min(up)), "high": _shown(max(up))}
    if len(up) >= LEAST_CORRELATED and len(set(across)) > 1 and len(set(up)) > 1:
        return tr(
            "{n:,} points, across {left} to {right}, up {low} to {high}; Pearson's r = {r:.2f}.",
            n=len(up),
            r=float(np.corrcoef(across, up)[0, 1]),
            **ends,
        )
    return tr_n(
        "{n} point, across {left} to {right}, up {low} to {high}.",
        "{n:,} points, across {left} to {right}, up {low} to {high}.",
        len(up),
        **ends,
    )


def _of_spread(part: Series) -> str:
    return tr_n(
        "{n} point, from {low} to {high}, mean {mean}.",
        "{n:,} points, from {low} to {high}, mean {mean}.",
        len(part.values),
        low=_shown(min(part.values)),
        high=_shown(max(part.values)),
        mean=_shown(float(np.mean(part.values))),
    )


def _floats(values: Sequence[Any]) -> tuple[float, ...]:
    return tuple(float(value) if isinstance(value, int | float) else math.nan for value in values)


def _shown(value: Any) -> str:
    """A position or number as a text: at most four digits."""
    if not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def _text(value: Any) -> str:
    """A text of a figure without its markup."""
    return html.unescape(MARKUP.sub(" ", str(value or ""))).strip()
