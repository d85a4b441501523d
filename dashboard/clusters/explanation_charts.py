"""Figures that explain a score: how each class scatters, and which classes are near each other. Pure: no streamlit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.theme import ACCENT, laid_out, plain, template_safe, wrapped
from engine.language.quantities import decimals
from engine.messages.languages import tr, tr_n

BAR_HEIGHT = 30
NAMED_CLASSES = 60  # beyond, their names do not fit along the map; the hover still shows them
NUMBERED_CLASSES = 12  # up to this many, each cell shows its number
LABEL_LENGTH = 16
CELL, SMALLEST_CELL, TALLEST = 38, 12, 760
EXAMPLES = 50


def class_bars(classes: pd.DataFrame) -> go.Figure:
    """Variance per sentence, σ² / n, of each class under one model, the widest first.

    `classes` are the rows of one model in `Result.classes`. σ² itself grows with the number of sentences; its share of
    A_m is in the hover.
    """
    spread = classes.assign(variance=classes["dispersion"] / classes["n"]).sort_values(
        "variance", ascending=False, kind="stable"
    )
    total = float(spread["dispersion"].sum())
    share = spread["dispersion"] / total if total else spread["dispersion"]
    digits = decimals(spread["variance"].tolist())
    figure = go.Figure(
        go.Bar(
            x=spread["variance"],
            y=list(range(len(spread))),
            orientation="h",
            marker={"color": ACCENT, "cornerradius": 3},
            textposition="outside",
            cliponaxis=False,
            text=[f"{value:,.{digits}f}" for value in spread["variance"]],
            customdata=np.stack(
                [
                    spread["class"].map(wrapped),
                    [tr_n("{n} sentence", "{n:,} sentences", n) for n in spread["n"].tolist()],
                    spread["dispersion"],
                    share,
                    spread["centroid_distance"],
                ],
                axis=1,
            ),
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}, σ² / n %{text}<br>"
            + tr("σ² {variance}, {share} of A_m", variance="%{customdata[2]:,.4~g}", share="%{customdata[3]:.1%}")
            + "<br>"
            + tr(
                "distance of the centroid from the mean of the centroids: {distance}", distance="%{customdata[4]:,.4~g}"
            )
            + "<extra></extra>",
        )
    )
    figure.update_yaxes(
        tickvals=list(range(len(spread))),
        ticktext=[_short(name) for name in spread["class"]],
        range=[len(spread) - 0.5, -0.5],
        fixedrange=True,
        title=None,
    )
    figure.update_xaxes(visible=False, fixedrange=True, range=[0, (float(spread["variance"].max()) or 1.0) * 1.25])
    figure = laid_out(figure, height=48 + BAR_HEIGHT * len(spread), up=tr("Class"))
    return figure.update_layout(
        title={
            "text": tr("Variance of each class"),
            "x": 0,
            "font": {"size": 14},
            "subtitle": {"text": tr("per sentence, σ² / n")},
        },
        margin={"t": 56},
    )


def centroid_map(distances: pd.DataFrame, classes: Sequence[str]) -> go.Figure:
    """The distance between the centroids of every two classes under one model: the nearer, the stronger.

    `distances` are the rows of one model in `Result.centroid_distances`; `classes` gives the order. A class has no
    distance to itself: its cell is empty.
    """
    table = distances.pivot(index="class", columns="other", values="distance")
    table = table.reindex(index=list(classes), columns=list(classes)).astype(float)
    matrix = table.to_numpy(copy=True)  # (n_classes, n_classes)
    np.fill_diagonal(matrix, np.nan)
    n = len(classes)
    digits = max(1, decimals(matrix[np.isfinite(matrix)].tolist()) - 1)
    names = [template_safe(name) for name in classes]
    figure = go.Figure(
        go.Heatmap(
            z=matrix,
            xgap=1,
            ygap=1,
            hoverongaps=False,
            reversescale=True,
            showscale=n > NUMBERED_CLASSES,
            colorbar={"thickness": 10, "outlinewidth": 0, "len": 0.8, "title": {"text": tr("Distance")}},
            customdata=[[f"{first} – {second}" for second in names] for first in names],
            texttemplate=f"%{{z:,.{digits}f}}" if n <= NUMBERED_CLASSES else None,
            hovertemplate="%{customdata}<br>"
            + tr("distance of the centroids {distance}", distance=f"%{{z:,.{digits}f}}")
            + "<extra></extra>",
        )
    )
    cell = min(CELL, max(SMALLEST_CELL, TALLEST // n))
    ticks = {
        "tickvals": list(range(n)),
        "ticktext": [_short(name) for name in classes],
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
        "showticklabels": n <= NAMED_CLASSES,
        "title": None,
    }
    figure.update_xaxes(**ticks, range=[-0.5, n - 0.5], tickangle=-40)
    figure.update_yaxes(**ticks, range=[n - 0.5, -0.5])
    figure = laid_out(figure, height=cell * n + 180, across=tr("Class"), up=tr("Class"))
    return figure.update_layout(
        title={
            "text": tr("Distances between the classes"),
            "x": 0,
            "font": {"size": 14},
            "subtitle": {"text": tr("between their centroids; strong colour: near, easily confused")},
        },
        margin={"t": 56, "b": 70},
    )


def farthest(points: pd.DataFrame) -> pd.DataFrame:
    """The sentences of one model farthest from their own centroid, the farthest first; at most EXAMPLES.

    `points` are the rows of one model in `Result.points`.
    """
    return points.sort_values("own_distance", ascending=False, kind="stable").head(EXAMPLES)


def misplaced(points: pd.DataFrame) -> pd.DataFrame:
    """The sentences of one model that are nearer to another class's centroid than to their own; the clearest first.

    The column `ratio` is added: nearest_distance / own_distance, in [0, 1); the smaller, the clearer.
    """
    misplaced_points = points[(points["nearest_class"] != points["label"]) & points["own_distance"].gt(0)]
    return misplaced_points.assign(
        ratio=misplaced_points["nearest_distance"] / misplaced_points["own_distance"]
    ).sort_values("ratio", kind="stable")


def _short(name: str) -> str:
    return plain(name if len(name) <= LABEL_LENGTH else name[: LABEL_LENGTH - 1] + "…")
