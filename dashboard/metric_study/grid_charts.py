"""The grid of a metric study as a heat map, every cell to click. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.metric_study.labels import (
    INTERVALS,
    PENALTY_NAMES,
    cell_key,
    idf_name,
    interval,
    mark_of,
    method_name,
    number,
    p_value,
    setting_name,
)
from dashboard.shared.theme import ACCENT, GREY, WARM, laid_out, measure_name, plain, short_names, wrapped
from engine.evaluations.metric_study.records import BERTSCORE, ENTITY, SURFACE, VECTORS
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import tr, translated

# Pixels of a dictionary's row, of a method's, whose text is one line, and of a model's name above its rows.
ROW, METHOD_ROW, HEAD = 46, 28, 26
# The highest correlation takes this share of the colour scale, so that its number is legible in either theme.
SCALE_USED = 0.55
LEAST_SPAN = 0.1  # smallest range of correlations that the colours cover
TARGETS = 7  # clickable points in a cell
LONGEST_IDF, LONGEST_METHOD = 16, 13  # characters of the name of a row
GREYS = [[0, "rgba(138, 147, 163, 0.10)"], [1, "rgba(138, 147, 163, 0.75)"]]


@dataclass(frozen=True)
class _Row:
    """A row of the heat map: a name above others (no cells), a dictionary with its cells by penalty, or a method.

    method: the one cell of a row that spans all penalties.
    """

    top: float
    bottom: float
    name: str
    cells: dict[str, dict[Any, Any]] = field(default_factory=dict)
    method: dict[Any, Any] | None = None


def grid_figure(
    table: pd.DataFrame,
    measure: str = "pearson",
    chosen: str = "",
    *,
    published: bool = False,
    ceiling: Mapping[Any, Any] | None = None,
) -> go.Figure:
    """A block for each model, a row for each dictionary, without the penalty and with it; below the other methods.

    `table` is `Result.correlations`, or a published table with model, idf, penalty and the measure alone, which is
    drawn in grey. The cosine of a model's sentence vectors is the last row of its block. `chosen` is the `cell_key` of
    the cell that is outlined; the customdata of every point begins with a `cell_key`. `ceiling`: a row with the
    correlations of the human ceiling, a line below.
    """
    table = table if "kind" in table else table.assign(kind=BERTSCORE)
    settings = table[table["kind"] == BERTSCORE]
    penalties = [name for name in PENALTY_NAMES if name in set(settings["penalty"])]
    rows = list(_rows(table))
    edges = [0.0, *(row.bottom for row in rows)]
    values = [[row.cells[name][measure] if name in row.cells else np.nan for name in penalties] for row in rows]
    looks: dict[str, Any] = {
        "hoverinfo": "skip",
        "texttemplate": "%{text}",
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
        **_shades(settings[measure], table[measure]),
        **({"colorscale": GREYS} if published else {}),
    }
    figure = go.Figure(
        go.Heatmap(
            x=list(range(len(penalties) + 1)),
            y=edges,
            z=values,
            textfont={"size": 13},
            **looks,
            text=[[_text(row.cells[name], measure) if name in row.cells else "" for name in penalties] for row in rows],
        )
    )
    figure.add_trace(_targets(rows, penalties, measure))
    if any(row.method for row in rows):
        figure.add_trace(
            go.Heatmap(
                x=[0, len(penalties)],
                y=edges,
                textfont={"size": 12},
                **looks,
                z=[[row.method[measure] if row.method else np.nan] for row in rows],
                text=[[_text(row.method, measure, " ") if row.method else ""] for row in rows],
            )
        )
    for row in rows:
        for start, end, line in _cells(row, penalties):
            if cell_key(line) == chosen:
                figure.add_shape(
                    type="rect",
                    x0=start + 0.01,
                    x1=end - 0.01,
                    y0=row.top + 1,
                    y1=row.bottom - 1,
                    line={"color": ACCENT, "width": 2.5},
                    fillcolor="rgba(0, 0, 0, 0)",
                )
        if not row.cells and row.method is None:
            figure.add_annotation(
                x=0,
                y=row.bottom,
                text=plain(row.name),
                xanchor="left",
                yshift=2,
                yanchor="bottom",
                showarrow=False,
                font={"size": 12},
            )
    bottom = rows[-1].bottom
    if ceiling is not None:
        figure.add_shape(
            type="line",
            x0=0,
            x1=len(penalties),
            y0=bottom + 4,
            y1=bottom + 4,
            line={"color": WARM, "width": 1.5, "dash": "dash"},
        )
        figure.add_annotation(
            x=0,
            y=bottom + HEAD,
            xanchor="left",
            yanchor="bottom",
            showarrow=False,
            text=plain(f"{measure_name('human_ceiling')}: {number(ceiling[measure])}"),
            font={"size": 12, "color": WARM},
        )
        bottom += HEAD
    named = [row for row in rows if row.cells or row.method]
    figure.update_xaxes(
        tickvals=[column + 0.5 for column in range(len(penalties))],
        side="top",
        showgrid=False,
        ticktext=[tr(PENALTY_NAMES[name]) for name in penalties],
        zeroline=False,
        fixedrange=True,
        range=[0, len(penalties)],
        title=None,
        ticks="",
    )
    figure.update_yaxes(
        tickvals=[(row.top + row.bottom) / 2 for row in named],
        ticktext=list(map(plain, _labels(named))),
        range=[bottom, 0],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        automargin=True,
        ticksuffix="  ",
        title=None,
        ticks="",
    )
    figure = laid_out(
        figure, height=int(bottom) + 44, across=tr("Penalty"), up=tr("Dictionary of idf weights, or method")
    )
    figure.update_layout(margin={"t": 36, "b": 4}, hovermode="closest", clickmode="event+select")
    return figure


def _rows(table: pd.DataFrame) -> Iterator[_Row]:
    settings, vectors = (table[table["kind"] == kind] for kind in (BERTSCORE, VECTORS))
    top = 0.0
    for model, name in short_names([*settings["model"], *vectors["model"]]).items():
        yield _Row(top, top + HEAD, name)
        top += HEAD
        for idf, of_idf in settings[settings["model"] == model].groupby("idf", sort=False):
            yield _Row(top, top + ROW, str(idf), {line["penalty"]: line for line in of_idf.to_dict("records")})
            top += ROW
        for line in vectors[vectors["model"] == model].to_dict("records"):
            yield _Row(top, top + METHOD_ROW, tr("cosine"), method=line)
            top += METHOD_ROW
    others = table[~table["kind"].isin((BERTSCORE, VECTORS))]
    if len(others):
        yield _Row(top, top + HEAD, tr("Other methods"))
        top += HEAD
    for line in others.to_dict("records"):
        yield _Row(top, top + METHOD_ROW, method_name(line["kind"], line["model"]), method=line)
        top += METHOD_ROW


def _cells(row: _Row, penalties: Sequence[str]) -> Iterator[tuple[int, int, dict[Any, Any]]]:
    """The cells of a row, each with the columns where it begins and ends."""
    if row.method is not None:
        yield 0, len(penalties), row.method
    for column, name in enumerate(penalties):
        if name in row.cells:
            yield column, column + 1, row.cells[name]


def _targets(rows: Sequence[_Row], penalties: Sequence[str], measure: str) -> go.Scatter:
    """Invisible points: a heat map reports no clicks, a point does."""
    points = [
        (start + (target + 0.5) / TARGETS, row, line)
        for row in rows
        for start, end, line in _cells(row, penalties)
        for target in range(TARGETS * (end - start))
    ]
    invisible = {"marker": {"opacity": 0}}
    return go.Scatter(
        x=[x for x, _, _ in points],
        y=[(row.top + row.bottom) / 2 for _, row, _ in points],
        mode="markers",
        showlegend=False,
        marker={
            "size": [row.bottom - row.top - 6 for _, row, _ in points],
            "symbol": "square",
            "opacity": 0,
            "color": GREY,
        },
        selected=invisible,
        unselected=invisible,
        customdata=[[cell_key(line), _hover(line, measure)] for _, _, line in points],
        hovertemplate="%{customdata[1]}<extra></extra>",
    )


def _text(line: Mapping[Any, Any], measure: str, between: str = "<br>") -> str:
    text = f"{number(line[measure])} {mark_of(line)}".rstrip()
    low, high = (line.get(name, np.nan) for name in INTERVALS[measure])
    # One font size and weight within the text: otherwise Plotly overlaps its lines.
    return text if pd.isna(low) else f"{text}{between}{interval(low, high, 2)}"


def _hover(line: Mapping[Any, Any], measure: str) -> str:
    parts = [wrapped(setting_name(line)), f"{measure_name(measure)}: {number(line[measure])}"]
    if p := p_value(line.get("williams_p", np.nan)):
        parts.append(tr("against the best: p {p}", p=p))
    return "<br>".join([*parts, *([wrapped(translated(line["reason"]))] if line.get("reason") else [])])


def _shades(settings: pd.Series, drawn: pd.Series) -> dict[str, float]:
    """Where the colours begin and end: at the least of the settings, so that a weak method beside, which is as pale,
    takes no contrast from them, and above the greatest of all.
    """
    defined = settings.dropna() if settings.notna().any() else drawn.dropna()
    if defined.empty:
        return {"zmin": 0.0, "zmax": 1.0}
    highest = drawn.max()
    low = min(defined.min(), highest - LEAST_SPAN)
    span = highest - low
    return {"zmin": low - 0.15 * span, "zmax": low + span / SCALE_USED}


def _labels(rows: Sequence[_Row]) -> list[str]:
    """The names of rows. Of a long one of a measure of ours its symbol, or all of it where that is another row's name;
    of any other long one both ends, because versions stand at the end.
    """
    others = [row.name.casefold() for row in rows]
    return [_label(row, others) for row in rows]


def _label(row: _Row, names: Sequence[str]) -> str:
    name = row.name if row.method else idf_name(row.name)
    if len(name) <= (LONGEST_METHOD if row.method else LONGEST_IDF):
        return name
    if row.method and row.method["kind"] in (SURFACE, ENTITY):
        symbol = CARDS[row.method["model"]].symbol
        return symbol if symbol and symbol.casefold() not in names else name
    return f"{name[: LONGEST_METHOD - 6]}…{name[-5:]}" if row.method else f"{name[: LONGEST_IDF - 1]}…"
