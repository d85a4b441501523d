"""Figures of scores: bars of each measure with intervals, the score at every layer. Pure: no streamlit."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.theme import (
    ACCENT,
    laid_out,
    measure_name,
    measure_note,
    plain,
    short_names,
    symbol,
    template_safe,
    with_legend_below,
    wrapped,
)
from engine.language.quantities import decimals
from engine.messages.languages import tr

BAR_HEIGHT, BAR_WIDTH = 48, 0.34  # pixels for a model with its name; share of them that the bar takes
BAR_OPACITY = 0.45  # paler than the line of the interval, whose lower half lies on the bar
TITLE_HEIGHT = 58
LEGEND_LINE = 14  # on a narrow screen the legend has a line for each model
ROOM = 2.05  # how far the axis goes beyond the longest bar, for the numbers
UNBOUNDED = 1.15  # how far beyond the longest bar an interval without an upper end is drawn
COLUMN_BY_MEASURE = {
    "dispersion_score": "score",
    "in_class_dispersion": "in_class_dispersion",
    "out_of_class_dispersion": "out_of_class_dispersion",
}


def bars(models: pd.DataFrame, intervals: pd.DataFrame, measure: str) -> go.Figure:
    """One bar for each model in the order of rank, with its value and 95% interval: figure 2 of the paper.

    `models` and `intervals` are those of `clusters.Result`; `measure` one of COLUMN_BY_MEASURE. A model whose value
    is undefined keeps its row with that word; one without an interval has no line.
    """
    ranked = models.sort_values("rank", na_position="last", kind="stable")
    of_measure = intervals[intervals["measure"] == measure].set_index("model")
    ends = of_measure.reindex(ranked["model"])[["ci_low", "ci_high"]].astype(float).to_numpy()  # (n_models, 2)
    values = ranked[COLUMN_BY_MEASURE[measure]].astype(float).tolist()
    digits = decimals([end for end in (*values, *ends.ravel()) if not math.isinf(end)])
    texts = [value_text(value, low, high, digits) for value, (low, high) in zip(values, ends.tolist(), strict=True)]
    # B_m's interval may include 0, and M_m's then has no upper end: it is drawn to the end of the axis.
    longest = max([0.0, *(end for end in (*values, *ends.ravel()) if math.isfinite(end))])
    ends = np.where(np.isinf(ends), longest * UNBOUNDED, ends)
    heights = list(range(len(ranked)))
    figure = go.Figure(
        go.Bar(
            x=pd.Series(values).fillna(0),
            y=heights,
            orientation="h",
            width=BAR_WIDTH,
            marker={"color": ACCENT, "cornerradius": 3, "opacity": BAR_OPACITY},
            customdata=[[wrapped(name), text] for name, text in zip(ranked["model"], texts, strict=True)],
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
        )
    )
    # An interval is drawn from end to end, because a bootstrap interval need not contain the value itself.
    figure.add_trace(
        go.Scatter(
            x=ends.mean(axis=1),
            y=heights,
            mode="markers",
            marker={"opacity": 0},
            hoverinfo="skip",
            error_x={
                "type": "data",
                "array": (ends[:, 1] - ends[:, 0]) / 2,
                "thickness": 1.6,
                "width": 4,
                "color": ACCENT,
            },
        )
    )
    short = short_names(ranked["model"])
    # The name is above its bar and not beside it: long names leave no room for bars on a narrow screen.
    for height, name, text, value, (_, high) in zip(heights, ranked["model"], texts, values, ends, strict=True):
        figure.add_annotation(
            x=0,
            y=height - BAR_WIDTH / 2,
            text=plain(short[name]),
            showarrow=False,
            xanchor="left",
            yanchor="bottom",
            font={"size": 12},
        )
        figure.add_annotation(
            x=max([0.0, *(end for end in (value, high) if end == end)]),
            y=height,
            text=text,
            showarrow=False,
            xanchor="left",
            xshift=5,
            font={"size": 13},
        )
    longest = max([longest, *(end for end in ends.ravel() if end == end)])
    figure.update_xaxes(range=[0, (longest or 1.0) * ROOM], visible=False, fixedrange=True)
    figure.update_yaxes(range=[len(ranked) - 0.5, -0.8], visible=False, fixedrange=True)
    figure = laid_out(figure, height=TITLE_HEIGHT + BAR_HEIGHT * len(ranked))
    figure.update_layout(
        title={
            "text": measure_name(measure),
            "subtitle": {"text": measure_note(measure)},
            "x": 0,
            "font": {"size": 14},
        },
        margin={"t": TITLE_HEIGHT, "l": 2, "b": 0},
    )
    return figure


def layer_curve(layers: pd.DataFrame, chosen: dict[str, int] | None = None) -> go.Figure:
    """The score at every layer, a line for each model; `layers` is `Result.layers`, 0 the embeddings.

    `chosen`: the layer of each model that the rest of the page shows; its point is larger. An undefined score
    leaves a gap.
    """
    figure = go.Figure()
    short = short_names(layers["model"])
    digits = decimals(layers["score"].dropna().tolist())
    for index, (model, of_model) in enumerate(layers.groupby("model", sort=False)):
        of_model = of_model.sort_values("layer")
        is_chosen = of_model["layer"] == (chosen or {}).get(str(model), -1)
        figure.add_trace(
            go.Scatter(
                x=of_model["layer"],
                y=of_model["score"],
                mode="lines+markers",
                name=plain(short[str(model)]),
                line={"width": 2},
                marker={"symbol": symbol(index), "size": is_chosen.map({True: 13, False: 7}).tolist(), "opacity": 1},
                customdata=of_model[["in_class_dispersion", "out_of_class_dispersion"]].to_numpy(),
                hovertemplate=tr("Layer {layer}: {scores}", layer="%{x}", scores=f"M_m %{{y:,.{digits}f}}")
                + f"<br>A_m %{{customdata[0]:,.4~g}}, B_m %{{customdata[1]:,.4~g}}<extra>{template_safe(str(model))}"
                "</extra>",
            )
        )
    figure.update_xaxes(
        title=None,
        dtick=1 if layers["layer"].nunique() <= 16 else None,
        fixedrange=True,
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(title=None, fixedrange=True, zeroline=False, rangemode="tozero")
    score_note = measure_note("dispersion_score")
    # At layer 0 the first token is the same in every sentence, and so is its vector: the score is undefined.
    note = (
        tr("{measure}; layer 0 holds the embeddings; a gap where it is undefined", measure=score_note)
        if layers["score"].isna().any()
        else tr("{measure}; layer 0 holds the embeddings", measure=score_note)
    )
    n_models = layers["model"].nunique()
    figure = laid_out(
        figure,
        height=270 + LEGEND_LINE * n_models,
        legend=n_models > 1,
        across=tr("Layer"),
        up=measure_name("dispersion_score"),
    )
    figure.update_layout(
        title={
            "text": tr("{measure} at every layer", measure=measure_name("dispersion_score")),
            "x": 0,
            "font": {"size": 14},
            "subtitle": {"text": note},
        },
        margin={"t": TITLE_HEIGHT},
    )
    return with_legend_below(figure)


def interval_text(low: float, high: float) -> str:
    """The ends of an interval with four digits each, as many decimals in both.

    >>> interval_text(11242.67, 12403.76), interval_text(37.3204, 44.7274), interval_text(0.5576, math.inf)
    ('11,243–12,404', '37.32–44.73', '0.5576–∞')
    """
    size = max([0.0, *(abs(end) for end in (low, high) if math.isfinite(end))])
    digits = 2 if size == 0 else min(6, max(0, 3 - math.floor(math.log10(size))))
    return "–".join(score_text(end, digits) for end in (low, high))


def score_text(score: float, digits: int) -> str:
    """A score with so many decimals.

    >>> score_text(11242.67, 1), score_text(math.inf, 2)
    ('11,242.7', '∞')
    """
    return f"{score:,.{digits}f}".replace("inf", "∞")


def value_text(value: float, low: float, high: float, digits: int) -> str:
    """A number with its interval in small type beside it, for Plotly.

    >>> value_text(560.126, 548.0, 573.04, 2)
    '560.13 <span style="font-size:10px">548.0–573.0</span>'
    >>> value_text(float("nan"), 0.0, 0.0, 2)
    'undefined'
    """
    if value != value:
        return tr("undefined")
    shown = f"{value:,.{digits}f}"
    if low != low or high != high:
        return shown
    return f'{shown} <span style="font-size:10px">{interval_text(low, high)}</span>'
