"""Accuracy over all pairs and over a fair subset, by category: the paper's table 3 as a figure. Pure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.minimal_pairs.charts import CHANCE, category_name
from dashboard.shared.theme import GREY, laid_out

LINE_HEIGHT = 30
OVERALL = "<b>all categories</b>"


def fair_figure(beside: pd.DataFrame, model: str) -> go.Figure:
    """A model's accuracy in all pairs (ring) and in the fair ones (disc with its 95 % interval), by category.

    `beside` is `fair_subsets.beside`; a category without pairs in the subset has a ring only. A point's custom data
    are the category and the number of pairs; the row over all categories has the category "" and is first.
    """
    shown = beside[beside["model"] == model].sort_values("overall", ascending=False, kind="stable")
    names = [OVERALL if row["overall"] else category_name(row["category"]) for row in shown.to_dict("records")]
    fair = shown["fair_accuracy"]
    figure = go.Figure([
        _points(shown, names, "fair_", "fair subset", {"size": 9}).update(error_x={
            "type": "data", "symmetric": False, "array": shown["fair_ci_high"] - fair, "width": 0, "thickness": 1.4,
            "arrayminus": fair - shown["fair_ci_low"]}),
        _points(shown, names, "", "all pairs", {"size": 10, "symbol": "circle-open", "color": GREY}),
        go.Scatter(  # from ring to disc; a gap between the lines of two categories
            x=np.stack([shown["accuracy"], fair, np.full(len(shown), np.nan)], axis=1).ravel(), y=np.repeat(names, 3),
            mode="lines", line={"color": GREY, "width": 1.4, "dash": "dot"}, hoverinfo="skip", showlegend=False),
    ])
    figure.add_vline(x=CHANCE, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_xaxes(tickformat=".0%", fixedrange=True, zeroline=False, side="top", range=[-0.02, 1.02])
    figure.update_yaxes(categoryorder="array", categoryarray=names, autorange="reversed", fixedrange=True,
                        showgrid=False, ticksuffix="  ", automargin=True)
    figure = laid_out(figure, height=LINE_HEIGHT * len(names) + 84, legend=True)
    figure.update_layout(margin={"t": 32, "b": 8}, legend={"y": -12 / (LINE_HEIGHT * max(len(names), 1))})
    return figure


def _points(shown: pd.DataFrame, names: list[str], prefix: str, label: str, marker: dict[str, object]) -> go.Scatter:
    return go.Scatter(
        x=shown[f"{prefix}accuracy"], y=names, mode="markers", name=label, marker=marker,
        customdata=shown[["category", f"{prefix}n"]].to_numpy(dtype=object),
        hovertemplate="%{y}: %{x:.1%}, n = %{customdata[1]:,}<extra>" + label + "</extra>",
    )
