"""Figures of a metric study: the scores of one setting against human scores, and the correlation by layer. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.metric_study.labels import PENALTY_NAMES
from dashboard.shared.theme import (
    ACCENT,
    PALETTES,
    WARM,
    axis_title,
    laid_out,
    measure_name,
    plain,
    short_names,
    symbol,
    template_safe,
    with_legend_below,
    wrapped,
)
from engine.messages.languages import tr, tr_n

MAX_POINTS = 4000
FEW_POINTS = 500
TEXT_WIDTH, TEXT_LINES = 34, 3
MAX_TICKS = 16


def scatter_figure(
    pairs: pd.DataFrame, scores: np.ndarray, score_title: str, base: np.ndarray | None = None, seed: int = 0
) -> go.Figure:
    """The scores of one setting against the human scores: a point for each pair, with its sentences in the hover.

    `pairs` is `Result.pairs`, `scores` (n_pairs,). `base`: the scores without the penalty; where they differ the point
    is warm, with a line from its score without the penalty. Of more than 4,000 pairs as many are sampled with `seed`.
    """
    gold = pairs["gold"].to_numpy(dtype=np.float64)
    shown = np.flatnonzero(np.isfinite(gold) & np.isfinite(scores))
    if len(shown) > MAX_POINTS:
        shown = np.sort(np.random.default_rng(seed).choice(shown, MAX_POINTS, replace=False))
    changed = np.zeros(len(shown), dtype=bool) if base is None else scores[shown] != base[shown]
    texts = [
        [int(row), *(wrapped(text, TEXT_WIDTH, TEXT_LINES) for text in sentences)]
        for row, *sentences in pairs.iloc[shown][["row", "reference", "candidate"]].itertuples(index=False, name=None)
    ]
    figure = go.Figure()
    if base is not None and changed.any():
        stems = shown[changed]
        ends = np.stack([base[stems], scores[stems], np.full(len(stems), np.nan)], axis=1)  # (n_changed, 3)
        figure.add_trace(
            go.Scatter(
                x=np.repeat(gold[stems], 3),
                y=ends.ravel(),
                mode="lines",
                opacity=0.45,
                line={"color": WARM, "width": 1},
                hoverinfo="skip",
                showlegend=False,
            )
        )
    for name, chosen, color in (
        (tr("unchanged by the penalty"), ~changed, ACCENT),
        (tr("lowered by the penalty"), changed, WARM),
    ):
        indices = np.flatnonzero(chosen)
        if len(indices):
            figure.add_trace(
                go.Scatter(
                    x=gold[shown[indices]],
                    y=scores[shown[indices]],
                    mode="markers",
                    name=name,
                    marker={"size": 7 if len(shown) < FEW_POINTS else 5, "color": color, "opacity": 0.65},
                    customdata=[texts[index] for index in indices],
                    hovertemplate=tr(
                        "row {row}: human score {human}, score {score}",
                        row="%{customdata[0]}",
                        human="%{x:.2f}",
                        score="%{y:.3f}",
                    )
                    + "<br>%{customdata[1]}<br>%{customdata[2]}<extra></extra>",
                )
            )
    figure.update_xaxes(title=tr("Mean z-score of the annotators"), zeroline=False, fixedrange=True)
    figure.update_yaxes(title=score_title, zeroline=False, fixedrange=True)
    figure = laid_out(figure, height=380, legend=bool(changed.any()))
    return with_legend_below(figure.update_layout(margin={"t": 12}, hovermode="closest"))


def layer_figure(
    layers: pd.DataFrame, idf: str, used: Mapping[str, int] | None = None, ceiling: float | None = None
) -> go.Figure:
    """Pearson's r at every layer with one dictionary: a line for each model, dashed with the penalty.

    `layers` is `Result.layers`; `used`: the layer of each model that the grid uses, a larger point. `ceiling`: the
    human ceiling, a dotted line.
    """
    of_idf = layers[layers["idf"] == idf]
    short = short_names(of_idf["model"])
    figure = go.Figure()
    for index, (model, of_model) in enumerate(of_idf.groupby("model", sort=False)):
        for penalty, curve in of_model.groupby("penalty", sort=False):
            name = f"{short[str(model)]}, {tr(PENALTY_NAMES[str(penalty)])}"
            sizes = [11 if used and layer == used.get(str(model)) else 6 for layer in curve["layer"]]
            figure.add_trace(
                go.Scatter(
                    x=curve["layer"],
                    y=curve["pearson"],
                    mode="lines+markers",
                    name=plain(name),
                    legendgroup=str(index),
                    line={"width": 2, "dash": "solid" if penalty == "none" else "dash", "color": _color(index)},
                    marker={"size": sizes, "symbol": symbol(index)},
                    customdata=[
                        [tr_n("{n} pair", "{n:,} pairs", n), low, high]
                        for n, low, high in zip(curve["n"], curve["ci_low"], curve["ci_high"], strict=True)
                    ],
                    hovertemplate=tr(
                        "layer {layer}: r {value} [{low}, {high}]",
                        layer="%{x}",
                        value="%{y:.3f}",
                        low="%{customdata[1]:.3f}",
                        high="%{customdata[2]:.3f}",
                    )
                    + "<br>%{customdata[0]}<extra>"
                    + template_safe(name)
                    + "</extra>",
                )
            )
    if ceiling is not None:
        figure.add_hline(
            ceiling,
            line={"color": WARM, "width": 1.5, "dash": "dot"},
            annotation={"text": plain(f"{measure_name('human_ceiling')}: {ceiling:z.3f}"), "font": {"color": WARM}},
        )
    figure.update_xaxes(
        title=tr("Layer (0 = embeddings)"),
        dtick=1 if of_idf["layer"].nunique() < MAX_TICKS else None,
        zeroline=False,
        fixedrange=True,
        showgrid=False,
    )
    figure.update_yaxes(title=axis_title("pearson"), zeroline=False, fixedrange=True)
    figure = laid_out(figure, height=340, legend=True)
    return with_legend_below(figure.update_layout(margin={"t": 12}))


def _color(index: int) -> str:
    """The colour of both lines of a model; the template would give each line another one."""
    return ACCENT if index == 0 else PALETTES["light"][index % len(PALETTES["light"])]
