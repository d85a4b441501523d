"""The grid of a metric study as a heat map, every cell to click. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.metric_study.labels import (
    INTERVALS,
    PENALTY_NAMES,
    SAME_MARK,
    cell_key,
    idf_name,
    interval,
    is_marked,
    number,
    p_value,
    setting_name,
)
from dashboard.shared.theme import ACCENT, GREY, WARM, laid_out, measure_name, plain, shortened, wrapped
from engine.evaluations.metric_study.records import BERTSCORE
from engine.translation import tr, translated

ROW, HEAD = 46, 26  # pixels of a dictionary's row, and of a model's name above its rows
# The highest correlation takes this share of the colour scale, so that its number is legible in either theme.
SCALE_USED = 0.55
LEAST_SPAN = 0.1  # smallest range of correlations that the colours cover
TARGETS = 7  # clickable points in a cell
LONGEST_IDF = 16
GREYS = [[0, "rgba(138, 147, 163, 0.10)"], [1, "rgba(138, 147, 163, 0.75)"]]


@dataclass(frozen=True)
class _Row:
    """A row of the heat map: the name of a model (no cells), or a dictionary with its cells by penalty."""

    top: float
    bottom: float
    name: str
    cells: dict[str, dict[Any, Any]]


def grid_figure(table: pd.DataFrame, measure: str = "pearson", chosen: str = "", *, published: bool = False,
                ceiling: Mapping[Any, Any] | None = None) -> go.Figure:
    """A block for each model, a row for each dictionary, without the penalty and with it.

    `table` are the BERTScore rows of `Result.correlations`, or a published table with model, idf, penalty and the
    measure alone, which is drawn in grey. `chosen` is the `cell_key` of the cell that is outlined; the customdata of
    every point begins with a `cell_key`. `ceiling`: a row with the correlations of the human ceiling, a line below.
    """
    penalties = [name for name in PENALTY_NAMES if name in set(table["penalty"])]
    rows = list(_rows(table))
    values = [[row.cells[name][measure] if name in row.cells else np.nan for name in penalties] for row in rows]
    figure = go.Figure(go.Heatmap(
        x=list(range(len(penalties) + 1)), y=[0.0, *(row.bottom for row in rows)], z=values, hoverinfo="skip",
        text=[[_text(row.cells[name], measure) if name in row.cells else "" for name in penalties] for row in rows],
        texttemplate="%{text}", textfont={"size": 13}, showscale=False, xgap=3, ygap=3, **_shades(values),
        **({"colorscale": GREYS} if published else {}),
    ))
    figure.add_trace(_targets(rows, penalties, measure))
    for row in rows:
        for column, name in enumerate(penalties):
            if name in row.cells and cell_key(row.cells[name]) == chosen:
                figure.add_shape(type="rect", x0=column + 0.01, x1=column + 0.99, y0=row.top + 1, y1=row.bottom - 1,
                                 line={"color": ACCENT, "width": 2.5}, fillcolor="rgba(0, 0, 0, 0)")
        if not row.cells:
            figure.add_annotation(x=0, y=row.bottom, text=plain(shortened(row.name)), xanchor="left", yshift=2,
                                  yanchor="bottom", showarrow=False, font={"size": 12})
    bottom = rows[-1].bottom
    if ceiling is not None:
        figure.add_shape(type="line", x0=0, x1=len(penalties), y0=bottom + 4, y1=bottom + 4,
                         line={"color": WARM, "width": 1.5, "dash": "dash"})
        figure.add_annotation(x=0, y=bottom + HEAD, xanchor="left", yanchor="bottom", showarrow=False,
                              text=plain(f"{measure_name('human_ceiling')}: {number(ceiling[measure])}"),
                              font={"size": 12, "color": WARM})
        bottom += HEAD
    named = [row for row in rows if row.cells]
    figure.update_xaxes(tickvals=[column + 0.5 for column in range(len(penalties))], side="top", showgrid=False,
                        ticktext=[tr(PENALTY_NAMES[name]) for name in penalties], zeroline=False, fixedrange=True,
                        range=[0, len(penalties)], title=None, ticks="")
    figure.update_yaxes(tickvals=[(row.top + row.bottom) / 2 for row in named],
                        ticktext=[plain(_idf_label(row.name)) for row in named], range=[bottom, 0],
                        showgrid=False, zeroline=False, fixedrange=True, automargin=True, ticksuffix="  ", title=None,
                        ticks="")
    figure = laid_out(figure, height=int(bottom) + 44)
    figure.update_layout(margin={"t": 36, "b": 4}, hovermode="closest", clickmode="event+select")
    return figure


def _rows(table: pd.DataFrame) -> Iterator[_Row]:
    top = 0.0
    for model, of_model in table.groupby("model", sort=False):
        yield _Row(top, top + HEAD, str(model), {})
        top += HEAD
        for idf, of_idf in of_model.groupby("idf", sort=False):
            yield _Row(top, top + ROW, str(idf), {line["penalty"]: {"kind": BERTSCORE, **line}
                                                  for line in of_idf.to_dict("records")})
            top += ROW


def _targets(rows: Sequence[_Row], penalties: Sequence[str], measure: str) -> go.Scatter:
    """Invisible points: a heat map reports no clicks, a point does."""
    points = [(column + (target + 0.5) / TARGETS, (row.top + row.bottom) / 2, row.cells[name])
              for row in rows for column, name in enumerate(penalties) if name in row.cells
              for target in range(TARGETS)]
    invisible = {"marker": {"opacity": 0}}
    return go.Scatter(
        x=[x for x, _, _ in points], y=[y for _, y, _ in points], mode="markers", showlegend=False,
        marker={"size": ROW - 6, "symbol": "square", "opacity": 0, "color": GREY},
        selected=invisible, unselected=invisible,
        customdata=[[cell_key(line), _hover(line, measure)] for _, _, line in points],
        hovertemplate="%{customdata[1]}<extra></extra>",
    )


def _text(line: Mapping[Any, Any], measure: str) -> str:
    text = f"{number(line[measure])} {SAME_MARK}" if is_marked(line) else number(line[measure])
    low, high = (line.get(name, np.nan) for name in INTERVALS[measure])
    # One font size and weight within the text: otherwise Plotly overlaps its lines.
    return text if pd.isna(low) else f"{text}<br>{interval(low, high, 2)}"


def _hover(line: Mapping[Any, Any], measure: str) -> str:
    parts = [wrapped(setting_name(line)), f"{measure_name(measure)}: {number(line[measure])}"]
    if p := p_value(line.get("williams_p", np.nan)):
        parts.append(tr("against the best: p {p}", p=p))
    return "<br>".join([*parts, *([wrapped(translated(line["reason"]))] if line.get("reason") else [])])


def _shades(values: Sequence[Sequence[float]]) -> dict[str, float]:
    defined = [value for row in values for value in row if value == value]
    if not defined:
        return {"zmin": 0.0, "zmax": 1.0}
    low = min(min(defined), max(defined) - LEAST_SPAN)
    span = max(defined) - low
    return {"zmin": low - 0.15 * span, "zmax": low + span / SCALE_USED}


def _idf_label(idf: str) -> str:
    name = idf_name(idf)
    return name if len(name) <= LONGEST_IDF else name[:LONGEST_IDF - 1] + "…"
