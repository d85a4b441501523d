"""Figures of the effect of length on a minimal-pairs result: slopes, correlations, and score against |S|. Pure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.minimal_pairs.charts import UNDER_CAMERA, interval_texts
from dashboard.minimal_pairs.tokens.charts import SIDE_COLORS, SIDE_NAMES
from dashboard.shared.theme import (
    GREY,
    ending,
    laid_out,
    measure_name,
    plain,
    short_names,
    symbol,
    template_safe,
    with_legend_below,
)
from engine.messages.languages import mark, tr
from engine.models.sources.names import shown_name

ROW_HEIGHT = 40
FIRTH = mark("Firth's penalised estimate, as the slope is infinite")
JITTER = 0.3  # numbers of tokens are integers: without it thousands of points would be on one line


def slope_figure(slopes: pd.DataFrame) -> go.Figure:
    """The slope of being right on the token difference with its 95% interval, a row for each score.

    `slopes` is `length_effects.slopes`. Where one difference parts right from wrong, a ring is Firth's penalised
    estimate; other undefined slopes are left out.
    """
    is_firth = slopes["slope"].isna() & slopes["firth_slope"].notna()
    shown = slopes.assign(
        estimate=np.where(is_firth, tr(FIRTH), ""),
        slope=slopes["slope"].fillna(slopes["firth_slope"]),
        ci_low=slopes["ci_low"].fillna(slopes["firth_low"]),
        ci_high=slopes["ci_high"].fillna(slopes["firth_high"]),
    )
    hover = tr("{slope} log-odds per token", slope="%{x:+.3f}")
    figure = _rows(shown, "slope", "ci_low", "ci_high", hover, tr("Slope, log-odds per token"))
    if is_firth.any():
        figure.add_annotation(
            x=1,  # a text as wide as the figure also has the place above the names of the scores
            y=1,
            xref="paper",
            yref="paper",
            yshift=2,
            showarrow=False,
            xanchor="right",
            yanchor="bottom",
            font={"color": GREY, "size": 12},
            text=tr("ring: {estimate}", estimate=tr(FIRTH)),
        )
        figure.update_layout(margin={"t": UNDER_CAMERA})
    for x, anchor, text in ((0, "left", tr("favours shorter")), (1, "right", tr("favours longer"))):
        figure.add_annotation(
            x=x,
            y=0,
            xref="paper",
            yref="paper",
            yshift=-26,
            text=text,
            showarrow=False,
            xanchor=anchor,
            yanchor="top",
            font={"color": GREY, "size": 12},
        )
    return figure


def correlation_figure(correlations: pd.DataFrame, measure: str = "spearman") -> go.Figure:
    """The correlation of sentences' scores with |S| and its 95% interval, a row for each score.

    `correlations` is `length_effects.length_correlations`; `measure` "pearson" or "spearman".
    """
    ends = f"{measure}_low", f"{measure}_high"
    figure = _rows(correlations.assign(estimate=""), measure, *ends, "%{x:+.2f}", measure_name(measure))
    figure.update_xaxes(range=[-1.05, 1.05])
    return figure


def points_figure(points: pd.DataFrame, measure: str, model: str) -> go.Figure:
    """A model's scores of sentences against |S|; `points` is `length_effects.length_points`, `measure` the score's card.

    A point's custom data are its row and |S|; the first trace is of acceptable sentences, the second of the others.
    """
    shift = np.random.default_rng(0).uniform(-JITTER, JITTER, len(points))
    figure = go.Figure()
    for side, color in SIDE_COLORS.items():
        chosen = (points["side"] == side).to_numpy()
        shown = points[chosen]
        name = tr(SIDE_NAMES[side])
        figure.add_trace(
            go.Scattergl(
                x=shown["tokens"] + shift[chosen],
                y=shown["score"],
                mode="markers",
                name=name,
                marker={"size": 5, "color": color, "opacity": 0.55},
                customdata=shown[["row", "tokens"]].to_numpy().tolist(),
                hovertemplate=tr(
                    "row {row}, |S| = {tokens}: {score}",
                    row="%{customdata[0]}",
                    tokens="%{customdata[1]}",
                    score="%{y:.3f}",
                )
                + f"<extra>{name}</extra>",
            )
        )
    figure.update_xaxes(title=tr("|S|, scored tokens"), zeroline=False, showgrid=False, fixedrange=True)
    # Of several models it is one, which a file of the figure must name.
    title = f"{measure_name(measure)}<br>{plain(ending(shown_name(model)))}"
    figure.update_yaxes(title=title, zeroline=False, fixedrange=True)
    figure = laid_out(figure, height=330, legend=True)
    return with_legend_below(figure.update_layout(margin={"t": 12}))


def _rows(table: pd.DataFrame, value: str, low: str, high: str, hover: str, across: str) -> go.Figure:
    """A value with its interval in a row for each normalisation, a marker for each model; 0 is dotted.

    A row with a text in `estimate` has a ring. across: the name of the axis of values.
    """
    shown = table[table[value].notna()]
    names = list(dict.fromkeys(table["normalization"]))
    models = list(dict.fromkeys(table["model"]))
    short, figure = short_names(models), go.Figure()
    for index, model in enumerate(models):
        of_model = shown[shown["model"] == model]
        figure.add_trace(
            go.Scatter(
                x=of_model[value],
                y=of_model["normalization"],
                mode="markers",
                name=plain(short[model]),
                orientation="h",
                offsetgroup=str(index),
                marker={
                    "size": 9,
                    "symbol": [
                        f"{symbol(index)}-open" if estimate else symbol(index) for estimate in of_model["estimate"]
                    ],
                },
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": of_model[high] - of_model[value],
                    "arrayminus": of_model[value] - of_model[low],
                    "thickness": 1.4,
                    "width": 0,
                },
                customdata=of_model[["n", "estimate"]]
                .assign(
                    interval=interval_texts(of_model[low], of_model[high], "+.3f"),
                    score=[tr(name) for name in of_model["normalization"]],
                )
                .to_numpy(dtype=object),
                hovertemplate="<br>".join(
                    ["%{customdata[3]}: " + hover, "%{customdata[2]}", "n = %{customdata[0]:,}", "%{customdata[1]}"]
                )
                + f"<extra>{template_safe(model)}</extra>",
            )
        )
    figure.add_vline(x=0, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_xaxes(zeroline=False, fixedrange=True)
    figure.update_yaxes(
        type="category",  # also where no score has a value
        categoryorder="array",
        categoryarray=names,
        tickvals=names,
        ticktext=[tr(name) for name in names],
        autorange="reversed",
        fixedrange=True,
        showgrid=False,
        ticksuffix="  ",
        automargin=True,
    )
    height = (ROW_HEIGHT + 8 * (len(models) - 1)) * len(names) + 110
    figure = laid_out(figure, height=height, legend=len(models) > 1, across=across, up=tr("Score"))
    return with_legend_below(figure.update_layout(scattermode="group", margin={"t": 12}))
