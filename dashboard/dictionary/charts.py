"""Figures of idf dictionaries: how rare the entries of one are, and how those of two compare. Pure."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.shared.theme import ACCENT, GREY, WARM, axis_title, laid_out, plain
from engine.messages.languages import tr, tr_n

BINS = 40
COMPARE_HEIGHT = 460
# Pieces low-frequency in both or in neither are pale; those that differ are what the figure is about.
STYLES = {
    "neither": (GREY, 0.35),
    "both": (ACCENT, 0.35),
    "only in the first": (WARM, 0.85),  # untranslated
    "only in the second": ("#0f9d76", 0.85),
}


def idf_histogram(idf: NDArray[np.float64], threshold: float) -> go.Figure:
    """Entries by idf; those above the threshold, the low-frequency ones, in the warm colour.

    idf: (n_entries,). The threshold is an edge of a bin, so no bar holds entries of both sides.
    """
    edges = np.linspace(0.0, float(idf.max()) * (1 + 1e-9), BINS + 1)
    if math.isfinite(threshold) and edges[0] < threshold < edges[-1]:
        # just above: an entry at the threshold itself is not low-frequency
        edges = np.sort(np.append(edges, np.nextafter(threshold, math.inf)))
    counts, _ = np.histogram(idf, bins=edges)
    left, right = edges[:-1], edges[1:]  # each (n_bins,)
    figure = go.Figure(
        go.Bar(
            x=left,
            y=counts,
            width=right - left,
            offset=0,
            marker={"color": [WARM if start > threshold else ACCENT for start in left], "line": {"width": 0}},
            customdata=[
                [low, high, tr_n("{n} entry", "{n:,} entries", n)]
                for low, high, n in zip(left, right, counts, strict=True)
            ],
            hovertemplate="idf %{customdata[0]:.2f}–%{customdata[1]:.2f}: %{customdata[2]}<extra></extra>",
        )
    )
    if math.isfinite(threshold):
        figure.add_vline(
            x=threshold,
            line={"dash": "dot", "color": WARM, "width": 2},
            annotation={"text": tr("threshold {threshold:.2f}", threshold=threshold), "font": {"color": WARM}},
            annotation_position="top",
        )
    figure.update_xaxes(title=axis_title("idf"), fixedrange=True)
    figure.update_yaxes(title=tr("Entries"), fixedrange=True)
    figure = laid_out(figure, height=300)
    figure.update_layout(bargap=0)
    return figure


def idf_scatter(compared: pd.DataFrame, names: tuple[str, str], *, relative: bool) -> go.Figure:
    """Every piece of two dictionaries by its idf in the first (across) and in the second (up).

    compared: what `tables.side_by_side` returns; names are the dictionaries'. Above the diagonal a piece is
    rarer in the second.
    """
    first, second = (plain(name) for name in names)
    legend = {
        "neither": tr("low-frequency in neither"),
        "both": tr("low-frequency in both"),
        "only in the first": tr("low-frequency only in {name}", name=first),  # untranslated
        "only in the second": tr("low-frequency only in {name}", name=second),
    }
    figure = go.Figure()
    top = float(compared[["idf_1", "idf_2"]].to_numpy().max())
    figure.add_scatter(
        x=[0, top],
        y=[0, top],
        mode="lines",
        line={"color": GREY, "dash": "dot", "width": 1},
        hoverinfo="skip",
        showlegend=False,
    )
    for low, (color, opacity) in STYLES.items():
        group = compared[compared["low"] == low]
        figure.add_scattergl(
            x=group["idf_1"],
            y=group["idf_2"],
            mode="markers",
            name=f"{legend[low]} ({len(group):,})",
            marker={"color": color, "size": 5, "opacity": opacity},
            text=group["piece"].map(plain),
            customdata=group[["documents_1", "documents_2"]],
            hovertemplate=tr(
                "{token}<br>idf {first} and {second}<br>documents: {n_first} and {n_second}",
                token="%{text}",
                first="%{x:.2f}",
                second="%{y:.2f}",
                n_first="%{customdata[0]:,}",
                n_second="%{customdata[1]:,}",
            )
            + "<extra></extra>",
        )
    unit = "idf / log(N + 1)" if relative else axis_title("idf")
    figure.update_xaxes(title=f"{first}: {unit}", rangemode="tozero", fixedrange=True)
    figure.update_yaxes(title=f"{second}: {unit}", rangemode="tozero", fixedrange=True)
    figure = laid_out(figure, height=COMPARE_HEIGHT, legend=True)
    figure.update_layout(legend={"y": 1.02, "yanchor": "bottom"})
    return figure
