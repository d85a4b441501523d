"""Figures of a minimal-pairs result by length and by category. Pure: no streamlit."""

from __future__ import annotations

from itertools import compress
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.minimal_pairs.pair_table import difference_label
from dashboard.minimal_pairs.words import PAIRS
from dashboard.shared.theme import (
    GREY,
    PALETTES,
    laid_out,
    measure_name,
    plain,
    short_names,
    symbol,
    template_safe,
    with_legend_below,
)
from engine.messages.languages import mark, tr, tr_n
from engine.models.sources.names import shown_name

SMALLEST, LARGEST = 5.0, 19.0  # diameters of a marker, pixels
BAND_OPACITY = 0.13
CATEGORY_HEIGHT = 26
MAX_TICKS = 12
MOST_BANDS = 4  # more of them, one on the other, cannot be distinguished
CHANCE = 0.5
OVERALL = mark("all categories")
LINE_HEIGHT = 30  # of a category with two points
UNDER_CAMERA = 52  # pixels above a plot with texts over its right end, which the button for a picture would lie on


def difference_figure(points: pd.DataFrame, before: pd.DataFrame | None = None, word: str = PAIRS.counted) -> go.Figure:
    """Accuracy against the token difference |A| - |U|: a line for each model, its 95% interval a band.

    `points` is `views.by_difference`, `before` the same under LP, dotted; the area of a marker is in
    proportion to the number of pairs, and the n-th trace is the n-th model's line. The paper's figures 2 and 3, with
    intervals; more than MOST_BANDS lines have none. `word`: what is counted.
    """
    models = list(dict.fromkeys(points["model"]))
    short = short_names(models)
    most = max(int(points["n"].max()), 1)
    figure = go.Figure()
    for index, model in enumerate(models):
        of_model = points[points["model"] == model].sort_values("difference")
        figure.add_trace(
            go.Scatter(
                x=of_model["difference"],
                y=of_model["accuracy"],
                mode="lines+markers",
                name=plain(short[model]),
                legendgroup=str(index),
                line={"width": 2},
                zorder=2,
                cliponaxis=False,  # the largest markers are higher than the margin above 100%
                customdata=_point_data(of_model, ["difference", "merged"]),
                marker={"size": _diameters(of_model["n"].to_numpy(), most), "symbol": symbol(index), "opacity": 1},
                text=[
                    difference_label(difference, beyond=merged)
                    for difference, merged in zip(
                        of_model["difference"].tolist(), of_model["merged"].tolist(), strict=True
                    )
                ],
                hovertemplate=_share("%{text}", "%{y:.1%}", word) + _interval_and_counts(model),
            )
        )
    # After all lines, so that the n-th line has the n-th colour of the template; a band is pale in either theme.
    for index, model in enumerate(models):
        of_model = points[points["model"] == model].sort_values("difference")
        across, up = band(*(of_model[name].to_numpy() for name in ("difference", "ci_low", "ci_high")))
        figure.add_trace(
            go.Scatter(
                x=across,
                y=up,
                fill="toself",
                fillcolor=pale(index),
                line={"width": 0},
                mode="lines",
                hoverinfo="skip",
                showlegend=False,
                legendgroup=str(index),
                zorder=1,
                name=plain(short[model]),
                visible=len(models) <= MOST_BANDS,
            )
        )
        if before is not None:
            under_lp = before[before["model"] == model].sort_values("difference")
            figure.add_trace(
                go.Scatter(
                    x=under_lp["difference"],
                    y=under_lp["accuracy"],
                    mode="lines",
                    hoverinfo="skip",
                    showlegend=False,
                    zorder=1,
                    legendgroup=str(index),
                    line={"width": 1.6, "dash": "dot", "color": pale(index, 0.8)},
                    name="LP",
                )
            )
    figure.add_vline(x=0, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.add_hline(y=CHANCE, line={"color": GREY, "width": 1, "dash": "dot"})
    ends = points["difference"].min() < 0, points["difference"].max() > 0  # at an end of equal pairs neither is true
    for x, anchor, text in compress(((0, "left", tr("shorter (A < U)")), (1, "right", tr("longer (A > U)"))), ends):
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
    figure.add_annotation(
        x=0,
        y=1,
        xref="paper",
        yref="paper",
        yshift=4,
        text=_size_key(points["n"]),
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        font={"color": GREY, "size": 12},
    )
    ticks = _ticks(int(points["difference"].min()), int(points["difference"].max()))
    figure.update_xaxes(
        tickvals=ticks,
        ticktext=[_tick(tick, points) for tick in ticks],
        title=None,
        zeroline=False,
        showgrid=False,
        fixedrange=True,
    )
    figure.update_yaxes(
        tickformat=".0%", title=None, zeroline=False, fixedrange=True, range=[_floor(points) - 0.03, 1.03]
    )
    figure = laid_out(
        figure, height=360, legend=len(models) > 1, across=tr("Token difference |A| − |U|"), up=_share_axis(word)
    )
    return with_legend_below(figure.update_layout(margin={"t": 28}))


def category_figure(categories: pd.DataFrame, stratum: str = "all", word: str = PAIRS.counted) -> go.Figure:
    """Accuracy in each category with its 95% interval, a point for each model; the first model gives the order.

    `categories` is `views.by_category`; categories without a pair in the stratum are left out. The n-th trace is
    the n-th model's, and the category is last in a point's custom data. `word`: what is counted.
    """
    shown = categories[(categories["stratum"] == stratum) & (categories["n"] > 0)]
    models = list(dict.fromkeys(shown["model"]))
    first = (
        shown[shown["model"] == models[0]].sort_values("accuracy", ascending=False, kind="stable") if models else shown
    )
    order = list(dict.fromkeys([*first["category"], *shown["category"]]))
    short, figure = short_names(models), go.Figure()
    for index, model in enumerate(models):
        of_model = shown[shown["model"] == model]
        figure.add_trace(
            go.Scatter(
                x=of_model["accuracy"],
                y=[category_name(name) for name in of_model["category"]],
                orientation="h",
                offsetgroup=str(index),
                mode="markers",
                name=plain(short[model]),
                marker={"size": 8, "symbol": symbol(index)},
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": of_model["ci_high"] - of_model["accuracy"],
                    "arrayminus": of_model["accuracy"] - of_model["ci_low"],
                    "thickness": 1.4,
                    "width": 0,
                },
                customdata=_point_data(of_model, ["category"]),
                hovertemplate=_share("%{y}", "%{x:.1%}", word) + _interval_and_counts(model),
            )
        )
    figure.add_vline(x=CHANCE, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_xaxes(
        tickformat=".0%", range=[min(_floor(shown) - 0.02, 0.4), 1.02], fixedrange=True, zeroline=False, side="top"
    )
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=[category_name(name) for name in order],
        autorange="reversed",
        fixedrange=True,
        ticksuffix="  ",
        showgrid=False,
        automargin=True,
    )
    line = CATEGORY_HEIGHT + 8 * (len(models) - 1)
    figure = laid_out(
        figure, height=line * len(order) + 104, legend=len(models) > 1, across=_share_axis(word), up=tr("Category")
    )
    figure.update_layout(
        scattermode="group", margin={"t": UNDER_CAMERA, "b": 8}, legend={"y": -12 / (line * max(len(order), 1))}
    )
    return figure


def fair_figure(beside: pd.DataFrame, model: str) -> go.Figure:
    """A model's accuracy in all pairs (ring) and in the fair ones (disc with its 95% interval), by category.

    `beside` is `fair_subsets.beside`; a category without pairs in the subset has a ring only. A point's custom data
    are the category and the number of pairs; the row over all categories has the category "" and is first.
    """
    shown = beside[beside["model"] == model].sort_values("overall", ascending=False, kind="stable")
    overall = f"<b>{tr(OVERALL)}</b>"
    names = [overall if row["overall"] else category_name(row["category"]) for row in shown.to_dict("records")]
    fair = shown["fair_accuracy"]
    figure = go.Figure(
        [
            _fair_points(shown, names, "fair_", tr("fair subset"), {"size": 9}).update(
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": shown["fair_ci_high"] - fair,
                    "width": 0,
                    "thickness": 1.4,
                    "arrayminus": fair - shown["fair_ci_low"],
                }
            ),
            _fair_points(shown, names, "", tr("all pairs"), {"size": 10, "symbol": "circle-open", "color": GREY}),
            go.Scatter(  # from ring to disc; a gap between the lines of two categories
                x=np.stack([shown["accuracy"], fair, np.full(len(shown), np.nan)], axis=1).ravel(),
                y=np.repeat(names, 3),
                mode="lines",
                line={"color": GREY, "width": 1.4, "dash": "dot"},
                hoverinfo="skip",
                showlegend=False,
            ),
        ]
    )
    figure.add_vline(x=CHANCE, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_xaxes(tickformat=".0%", fixedrange=True, zeroline=False, side="top", range=[-0.02, 1.02])
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=names,
        autorange="reversed",
        fixedrange=True,
        showgrid=False,
        ticksuffix="  ",
        automargin=True,
    )
    figure = laid_out(
        figure,
        height=LINE_HEIGHT * len(names) + 104,
        legend=True,
        across=tr("{measure} ({note})", measure=measure_name("accuracy"), note=plain(shown_name(model))),
        up=tr("Category"),
    )
    figure.update_layout(margin={"t": UNDER_CAMERA, "b": 8}, legend={"y": -12 / (LINE_HEIGHT * max(len(names), 1))})
    return figure


def _fair_points(
    shown: pd.DataFrame, names: list[str], prefix: str, label: str, marker: dict[str, object]
) -> go.Scatter:
    return go.Scatter(
        x=shown[f"{prefix}accuracy"],
        y=names,
        mode="markers",
        name=label,
        marker=marker,
        customdata=shown[["category", f"{prefix}n"]].to_numpy(dtype=object),
        hovertemplate="%{y}: %{x:.1%}, n = %{customdata[1]:,}<extra>" + label + "</extra>",
    )


def _point_data(rows: pd.DataFrame, columns: list[str]) -> list[list[Any]]:
    """The custom data of points: the numbers of pairs and ties and the interval as texts, then `columns`."""
    counts = [
        tr("{pairs}, {ties}", pairs=tr_n("{n} pair", "{n:,} pairs", n), ties=tr_n("{n} tie", "{n:,} ties", tied))
        for n, tied in zip(rows["n"], rows["n_tied"], strict=True)
    ]
    intervals = interval_texts(rows["ci_low"], rows["ci_high"])
    return [
        [*texts, *values]
        for *texts, values in zip(counts, intervals, rows[columns].to_numpy(object).tolist(), strict=True)
    ]


def interval_texts(low: pd.Series, high: pd.Series, form: str = ".1%") -> list[str]:
    """The 95% interval of each point for readers; a figure would print a missing end as 0."""
    return [
        tr("95%: {low} to {high}", low=format(one, form), high=format(other, form))
        if np.isfinite([one, other]).all()
        else tr("no 95% interval")
        for one, other in zip(low.tolist(), high.tolist(), strict=True)
    ]


def _share(of: str, share: str, word: str) -> str:
    """The beginning of a hover template: how often what is counted occurs among some pairs."""
    return tr("{pairs}: {share} {word}", pairs=of, share=share, word=tr(word))


def _share_axis(word: str) -> str:
    """The name of an axis of shares of what is counted."""
    return tr("Share of pairs: {word}", word=tr(word))


def _interval_and_counts(model: str) -> str:
    """The end of a hover template: the interval and the counts of `_point_data`, and the model."""
    return f"<br>%{{customdata[1]}}<br>%{{customdata[0]}}<extra>{template_safe(model)}</extra>"


def category_name(category: str) -> str:
    """The label of a category on an axis; "(none)" for pairs without one."""
    return plain(category) or tr("(none)")


def _size_key(n: pd.Series) -> str:
    """What the areas of the points mean.

    >>> _size_key(pd.Series([12, 3408])), _size_key(pd.Series([5, 5]))
    ('area of a point: number of pairs, 12 to 3,408', 'each point: 5 pairs')
    """
    least, most = int(n.min()), int(n.max())
    return (
        tr_n("each point: {n} pair", "each point: {n:,} pairs", most)
        if least == most
        else tr("area of a point: number of pairs, {least:,} to {most:,}", least=least, most=most)
    )


def _diameters(n: np.ndarray, most: int) -> np.ndarray:
    """Diameters of markers whose areas are in proportion to the numbers of pairs, not below SMALLEST."""
    return np.maximum(SMALLEST, LARGEST * np.sqrt(n / most))


def _ticks(lowest: int, highest: int) -> list[int]:
    """The integer ticks of the axis, 0 among them, few enough not to overlap on a phone."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000) if (highest - lowest) / step <= MAX_TICKS)
    return [tick for tick in range(-step * (abs(lowest) // step), highest + 1, step) if tick >= lowest]


def _tick(tick: int, points: pd.DataFrame) -> str:
    """The label of a tick, with sign; ≥ or ≤ where it stands for a tail of every model."""
    tail = points.loc[points["difference"] == tick, "merged"]
    mark = ("≥ " if tick > 0 else "≤ ") if len(tail) and tail.all() else ""
    return mark + f"{tick:+d}".replace("+0", "0")


def _floor(shares: pd.DataFrame) -> float:
    """The lower end of an axis of accuracy: a tenth below the lowest interval or point, at most chance."""
    lowest = float(np.fmin(shares["ci_low"], shares["accuracy"]).min())
    return max(0.0, float(np.floor(10 * min(lowest, CHANCE)) / 10)) if lowest == lowest else 0.0


def band(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and y of the outline of a band between `low` and `high`, (n_points,) each, to be filled.

    A point without an interval parts the band in two; between two outlines stands a nan.
    """
    known = np.isfinite(low) & np.isfinite(high)
    parts = np.split(np.arange(len(x)), np.flatnonzero(np.diff(known)) + 1) if len(x) else []
    ends: list[tuple[np.ndarray, np.ndarray]] = []
    for part in parts:
        if known[part[0]]:
            gap = [] if not ends else [np.nan]
            ends.append(
                (np.concatenate([gap, x[part], x[part][::-1]]), np.concatenate([gap, high[part], low[part][::-1]]))
            )
    xs, ys = zip(*ends, strict=True) if ends else ((np.empty(0),), (np.empty(0),))
    return np.concatenate(xs), np.concatenate(ys)


def pale(index: int, opacity: float = BAND_OPACITY) -> str:
    """The n-th colour of the light theme, as pale as a band."""
    color = PALETTES["light"][index % len(PALETTES["light"])]
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"
