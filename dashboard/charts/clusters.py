"""Figures of a clusters result: bars of each measure, a map of the sentences for each model. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.theme import (
    ACCENT,
    GREY,
    decimals,
    laid_out,
    measure_name,
    measure_note,
    plain,
    shortened,
    symbol,
    wrapped,
)

BAR_HEIGHT, BAR_WIDTH = 46, 0.34  # pixels for a model with its name; share of them that the bar takes
TITLE_HEIGHT = 58
MAP_HEIGHT = 430
POINT_SIZE = 7
# Beyond this many points the browser draws them on a canvas, not one page element each.
SVG_POINTS = 2000
COLUMN_BY_MEASURE = {
    "dispersion_score": "score", "in_class_dispersion": "in_class_dispersion",
    "out_of_class_dispersion": "out_of_class_dispersion",
}


def bars(models: pd.DataFrame, measure: str) -> go.Figure:
    """One bar for each model, in the order of rank, with its number: figure 2 of the paper.

    `models` is `Result.models`; `measure` one of COLUMN_BY_MEASURE. A model whose value is undefined
    keeps its place and says so.
    """
    ranked = models.sort_values("rank", na_position="last", kind="stable")
    values = ranked[COLUMN_BY_MEASURE[measure]].astype(float)
    digits = decimals(values.tolist())
    texts = ["undefined" if value != value else f"{value:,.{digits}f}" for value in values]
    places = list(range(len(ranked)))
    figure = go.Figure(go.Bar(
        x=values.fillna(0), y=places, orientation="h", width=BAR_WIDTH, marker={"color": ACCENT, "cornerradius": 3},
        text=texts, textposition="outside", textfont={"size": 12}, constraintext="none", cliponaxis=False,
        customdata=[wrapped(name) for name in ranked["model"]], hovertemplate="%{customdata}: %{text}<extra></extra>",
    ))
    # The name stands above its bar and not beside it: long names leave no room for bars on a narrow screen.
    for place, name in zip(places, ranked["model"], strict=True):
        figure.add_annotation(x=0, y=place - BAR_WIDTH / 2, text=plain(shortened(name)), showarrow=False,
                              xanchor="left", yanchor="bottom", font={"size": 12})
    # Room on the right for the number of the longest bar.
    longest = float(values.max()) if values.notna().any() else 1.0
    figure.update_xaxes(range=[0, (longest or 1.0) * 1.5], visible=False, fixedrange=True)
    figure.update_yaxes(range=[len(ranked) - 0.5, -0.8], visible=False, fixedrange=True)
    figure = laid_out(figure, height=TITLE_HEIGHT + BAR_HEIGHT * len(ranked))
    figure.update_layout(
        title={"text": measure_name(measure), "subtitle": {"text": measure_note(measure)}, "x": 0,
               "font": {"size": 14}},
        margin={"t": TITLE_HEIGHT, "l": 2, "b": 0},
    )
    return figure


def class_map(points: pd.DataFrame, model: str, classes: Sequence[str], chosen: Collection[str] = ()) -> go.Figure:
    """The map of one model: a point for each sentence, in the colour of its class.

    `points` is `Result.points`; `classes` fixes the colours, the same on every map; with `chosen` classes
    the others stay visible in grey. Axes carry no numbers: only nearness means something.
    """
    here = points[points["model"] == model]
    trace = go.Scattergl if len(here) > SVG_POINTS else go.Scatter
    figure = go.Figure()
    for index, name in enumerate(classes):
        of_class = here[here["label"] == name]
        faded = bool(chosen) and name not in chosen
        marker = {"size": POINT_SIZE, "symbol": symbol(index), "opacity": 0.35 if faded else 0.85}
        if faded:
            marker["color"] = GREY
        figure.add_trace(trace(
            x=of_class["x"], y=of_class["y"], mode="markers", name=plain(name), marker=marker,
            customdata=[[wrapped(text), row] for text, row in zip(of_class["text"], of_class["row"], strict=True)],
            hovertemplate=f"%{{customdata[0]}}<br><b>{_template_safe(name)}</b>, row %{{customdata[1]}}<extra></extra>",
        ))
    # The two axes of a map have one scale: a distance is the same in every direction.
    figure.update_xaxes(showgrid=False, zeroline=False, showticklabels=False)
    figure.update_yaxes(showgrid=False, zeroline=False, showticklabels=False, scaleanchor="x", scaleratio=1)
    figure = laid_out(figure, height=MAP_HEIGHT, legend=True)
    figure.update_layout(title={"text": plain(shortened(model)), "font": {"size": 14}, "x": 0}, dragmode="pan")
    return figure


def has_map(points: pd.DataFrame, model: str) -> bool:
    """Whether there are coordinates to draw: with too few sentences there are none."""
    return bool(points.loc[points["model"] == model, "x"].notna().any())


def class_order(points: pd.DataFrame) -> list[str]:
    """The classes in the order of their first sentence: the order of colours."""
    return list(dict.fromkeys(points.sort_values("row", kind="stable")["label"]))


def _template_safe(text: str) -> str:
    # Within a template %{…} is a field; a label that holds one must not be read so.
    return plain(text).replace("%{", "%&#123;")
