"""Figures of a metric study: one setting's scores against the humans', and the correlation by layer. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.metric_study.words import PENALTY_WORDS
from dashboard.shared.theme import (
    ACCENT,
    PALETTES,
    WARM,
    axis_title,
    laid_out,
    plain,
    shortened,
    template_safe,
    wrapped,
)

MOST_POINTS = 4000
FEW_POINTS = 500
TEXT_WIDTH, TEXT_LINES = 34, 3
MOST_TICKS = 16


def scatter_figure(pairs: pd.DataFrame, scores: np.ndarray, score_title: str, base: np.ndarray | None = None,
                   seed: int = 0) -> go.Figure:
    """One setting's scores against the humans': a point for each pair, with its sentences to read.

    `pairs` is `Result.pairs`, `scores` (n_pairs,). `base`: the scores without the penalty; where they differ the point
    is warm, and a line leads from where it was. Beyond 4,000 pairs that many are drawn, by chance with `seed`.
    """
    gold = pairs["gold"].to_numpy(dtype=np.float64)
    shown = np.flatnonzero(np.isfinite(gold) & np.isfinite(scores))
    if len(shown) > MOST_POINTS:
        shown = np.sort(np.random.default_rng(seed).choice(shown, MOST_POINTS, replace=False))
    moved = np.zeros(len(shown), dtype=bool) if base is None else scores[shown] != base[shown]
    texts = [[int(row), *(wrapped(text, TEXT_WIDTH, TEXT_LINES) for text in sentences)] for row, *sentences
             in pairs.iloc[shown][["row", "reference", "candidate"]].itertuples(index=False, name=None)]
    figure = go.Figure()
    if base is not None and moved.any():
        stems = shown[moved]
        ends = np.stack([base[stems], scores[stems], np.full(len(stems), np.nan)], axis=1)  # (n_moved, 3)
        figure.add_trace(go.Scatter(x=np.repeat(gold[stems], 3), y=ends.ravel(), mode="lines", opacity=0.45,
                                    line={"color": WARM, "width": 1}, hoverinfo="skip", showlegend=False))
    for name, chosen, color in (("as without the penalty", ~moved, ACCENT), ("lowered by the penalty", moved, WARM)):
        places = np.flatnonzero(chosen)
        if len(places):
            figure.add_trace(go.Scatter(
                x=gold[shown[places]], y=scores[shown[places]], mode="markers", name=name,
                marker={"size": 7 if len(shown) < FEW_POINTS else 5, "color": color, "opacity": 0.65},
                customdata=[texts[place] for place in places],
                hovertemplate="row %{customdata[0]}: human %{x:.2f}, score %{y:.3f}<br>%{customdata[1]}<br>"
                              "%{customdata[2]}<extra></extra>"))
    figure.update_xaxes(title="mean z-score of the annotators", zeroline=False, fixedrange=True)
    figure.update_yaxes(title=score_title, zeroline=False, fixedrange=True)
    figure = laid_out(figure, height=380, legend=bool(moved.any()))
    figure.update_layout(margin={"t": 12, "b": 60}, legend={"y": -0.2}, hovermode="closest")
    return figure


def layer_figure(layers: pd.DataFrame, idf: str, used: Mapping[str, int] | None = None) -> go.Figure:
    """Pearson's r at every layer with one dictionary: a line for each model, dashed with the penalty.

    `layers` is `Result.layers`; `used`: the layer of each model that the grid is made with, a larger point.
    """
    of_idf = layers[layers["idf"] == idf]
    figure = go.Figure()
    for index, (model, of_model) in enumerate(of_idf.groupby("model", sort=False)):
        for penalty, line in of_model.groupby("penalty", sort=False):
            name = f"{shortened(str(model))}, {PENALTY_WORDS[str(penalty)]}"
            sizes = [11 if used and layer == used.get(str(model)) else 6 for layer in line["layer"]]
            figure.add_trace(go.Scatter(
                x=line["layer"], y=line["pearson"], mode="lines+markers", name=plain(name), legendgroup=str(index),
                line={"width": 2, "dash": "solid" if penalty == "none" else "dash", "color": _color(index)},
                marker={"size": sizes}, customdata=line[["n", "ci_low", "ci_high"]].to_numpy(),
                hovertemplate="layer %{x}: r %{y:.3f}<br>95 %: %{customdata[1]:.3f} to %{customdata[2]:.3f}<br>"
                              "%{customdata[0]:,} pairs<extra>" + template_safe(name) + "</extra>"))
    figure.update_xaxes(title="layer (0 = embeddings)", dtick=1 if of_idf["layer"].nunique() < MOST_TICKS else None,
                        zeroline=False, fixedrange=True, showgrid=False)
    figure.update_yaxes(title=axis_title("pearson"), zeroline=False, fixedrange=True)
    figure = laid_out(figure, height=340, legend=True)
    figure.update_layout(margin={"t": 12, "b": 60}, legend={"y": -0.24})
    return figure


def _color(index: int) -> str:
    """Two lines of a model have one colour, so the template, which has one for each line, cannot give it."""
    return ACCENT if index == 0 else PALETTES["light"][index % len(PALETTES["light"])]
