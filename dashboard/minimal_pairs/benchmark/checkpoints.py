"""Accuracy along the checkpoints of a training: a line for each training, or for each category of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.benchmark.columns import column_word, columns_of
from dashboard.minimal_pairs.benchmark.further_checkpoints import further_checkpoints, join_button
from dashboard.minimal_pairs.charts import band, interval_texts, pale
from dashboard.minimal_pairs.view import STRATA, ScoredRun, SectionChoices, table
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.theme import GREY, laid_out, measure_name, plain, symbol, template_safe, with_legend_below
from dashboard.shared.wording import measure_help
from engine.evaluations.minimal_pairs.records import CATEGORY
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series
from engine.messages.languages import mark, tr

CURVES = mark("Accuracy along the checkpoints")
MOST_LINES = 8  # more of them cannot be told apart: those with the most pairs are drawn
MOST_BANDS = 4
LOG_FROM = 20  # from this ratio of the last step to the first on, the axis is logarithmic


@dataclass(frozen=True)
class Curve:
    """What is drawn along the steps: the columns of the value and of the ends of its interval.

    n: the column of the items that it is over. counts: further columns that the hover has. form, ticks: of d3, of a
    value and of the axis. level: of a dotted line, None for none. hover: of a point, with {step}, {value}, {n} and the
    `counts` by name. card: the measure.
    """

    value: str
    low: str
    high: str
    n: str
    hover: str
    card: str
    counts: tuple[str, ...] = ()
    form: str = ".1%"
    ticks: str = ".0%"
    level: float | None = None


ACCURACY = Curve(
    "accuracy",
    "ci_low",
    "ci_high",
    "n",
    mark("step {step}: {value} correct, {n_correct} of {n} pairs"),
    "accuracy",
    ("n_correct",),
    level=0.5,
)


def checkpoints_section(view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices) -> dict[str, go.Figure]:
    """Draw the curves with their 95% intervals, of all pairs or of each category; returns the figure by its caption.

    Above it what other runs have of these trainings can be joined; where this run has one checkpoint alone, only that.
    """
    if further := further_checkpoints(view.run_id, view.result):
        join_button(view.run_id, view.result, further)
    if not checkpoint_series(view.result, view.models):
        st.caption(tr("This run has one checkpoint of a training. Joined with those of other runs it is a curve."))
        return {}
    columns = ("", *columns_of(view.result))
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(
            tr("**Accuracy along the checkpoints** :gray[with 95% intervals]"),
            width="content",
            help=measure_help("accuracy"),
        )
        column = grouping_input(columns, choices, "by-checkpoints", tr("all pairs"))
        stratum = str(
            st.segmented_control(
                tr("Pairs"),
                list(STRATA),
                format_func=lambda name: tr(STRATA[name]),
                required=True,
                wrap=True,
                default=choices.first("stratum", "all"),
                key=choices.key("checkpoints-stratum"),
                label_visibility="collapsed",
            )
        )
        choices.keep("stratum", stratum, "all")
    points = table(view, "checkpoints", column or CATEGORY)
    points = points[(points["stratum"] == stratum) & (points["n"] > 0)]
    points = points[points["category"] == ""] if not column else points[points["category"] != ""]
    if points.empty:
        st.caption(tr("No pair is in this stratum."))
        return {}
    figure, n_left_out = checkpoint_figure(points)
    draw_figure(
        figure,
        key=f"minimal-checkpoints-{view.run_id}",
        config=camera("checkpoints", signature),
        alt=tr("Accuracy at each checkpoint of a training"),
    )
    if n_left_out:
        st.caption(tr("More lines, in the table checkpoints.csv: {n:,}.", n=n_left_out))
    return {CURVES: figure}


def grouping_input(columns: Sequence[str], choices: SectionChoices, key: str, whole: str) -> str:
    """Draw the choice of the column that groups the items, "" for all of them (`whole`); return it."""
    if len(columns) < 2:
        return ""
    column = str(
        st.selectbox(
            tr("By"),
            columns,
            index=columns.index(choices.first("by", "", columns)),
            format_func=lambda name: column_word(name) if name else whole,
            key=choices.key(key),
            width=240,
            label_visibility="collapsed",
        )
    )
    choices.keep("by", column, "")
    return column


def checkpoint_figure(points: pd.DataFrame, curve: Curve = ACCURACY) -> tuple[go.Figure, int]:
    """A line for each training, or each category of each, with its interval as a band; and how many lines are left out.

    `points` is `levels.checkpoints` of one stratum, or another table with the columns of the curve. Up to MOST_BANDS
    lines have bands.
    """
    series = points["series"].nunique() > 1
    names = [
        " · ".join(filter(None, [of_series if series or not category else "", category]))
        for of_series, category in zip(points["series"], points["category"], strict=True)
    ]
    steps = np.unique(points["step"])
    least = float(steps[steps > 0].min(initial=np.inf))  # of the steps after the first weights
    is_log = bool(steps[-1] / least >= LOG_FROM)
    # On a logarithmic axis step 0 stands before the first of the others.
    points = points.assign(line=names, x=np.where(points["step"] > 0, points["step"], least / 2 if is_log else 0.0))
    most_pairs = points.groupby("line", sort=False)[curve.n].max().sort_values(ascending=False, kind="stable")
    kept: Sequence[str] = [name for name in dict.fromkeys(names) if name in set(most_pairs.index[:MOST_LINES])]
    figure = go.Figure()
    for index, name in enumerate(kept):
        of_line = points[points["line"] == name].sort_values("step")
        figure.add_trace(
            go.Scatter(
                x=of_line["x"],
                y=of_line[curve.value],
                mode="lines+markers",
                name=plain(name),
                legendgroup=str(index),
                line={"width": 2},
                marker={"size": 8, "symbol": symbol(index)},
                customdata=of_line[["step", curve.n, *curve.counts]]
                .assign(interval=interval_texts(of_line[curve.low], of_line[curve.high], curve.form))
                .to_numpy(dtype=object),
                hovertemplate=tr(
                    curve.hover,
                    step="%{customdata[0]:,}",
                    value=f"%{{y:{curve.form}}}",
                    n="%{customdata[1]:,}",
                    **{of_count: f"%{{customdata[{place}]:,}}" for place, of_count in enumerate(curve.counts, 2)},
                )
                + f"<br>%{{customdata[{2 + len(curve.counts)}]}}<extra>{template_safe(name)}</extra>",
            )
        )
    for index, name in enumerate(kept if len(kept) <= MOST_BANDS else ()):
        of_line = points[points["line"] == name].sort_values("step")
        x, y = band(*(of_line[column].to_numpy() for column in ("x", curve.low, curve.high)))
        figure.add_trace(
            go.Scatter(
                x=x,
                y=y,
                fill="toself",
                fillcolor=pale(index),
                line={"width": 0},
                mode="lines",
                hoverinfo="skip",
                showlegend=False,
                legendgroup=str(index),
                name=plain(name),
            )
        )
    figure.update_xaxes(title=tr("Step"), type="log" if is_log else "linear", zeroline=False, fixedrange=True)
    if is_log:
        powers = [10.0**power for power in range(int(np.ceil(np.log10(least))), int(np.log10(steps[-1])) + 1)]
        marked = powers if len(powers) > 1 else [float(step) for step in steps if step > 0]
        begun = [] if steps[0] else [least / 2]
        figure.update_xaxes(
            tickvals=[*begun, *marked], ticktext=["0" for _ in begun] + [f"{step:,.0f}" for step in marked]
        )
    figure.update_yaxes(tickformat=curve.ticks, title=None, zeroline=False, fixedrange=True)
    if curve.level is not None:
        figure.add_hline(y=curve.level, line={"color": GREY, "width": 1, "dash": "dot"})
    figure = laid_out(figure, height=360, legend=len(kept) > 1, up=measure_name(curve.card))
    return with_legend_below(figure.update_layout(margin={"t": 16})), most_pairs.size - len(kept)
