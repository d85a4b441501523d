"""Accuracy along the checkpoints of a training: a line for each training, or for each category of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from dashboard.shared.theme import GREY, laid_out, measure_name, plain, symbol, template_safe
from dashboard.shared.wording import measure_help
from engine.evaluations.minimal_pairs.records import CATEGORY
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series
from engine.messages.languages import mark, tr

CURVES = mark("Accuracy along the checkpoints")
MOST_LINES = 8  # more of them cannot be told apart: those with the most pairs are drawn
MOST_BANDS = 4
LOG_FROM = 20  # from this ratio of the last step to the first on, the axis is logarithmic


def checkpoints_section(view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices) -> dict[str, go.Figure]:
    """Draw the curves with their 95 % intervals, of all pairs or of each category; returns the figure by its caption.

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
            tr("**Accuracy along the checkpoints** :gray[with 95 % intervals]"),
            width="content",
            help=measure_help("accuracy"),
        )
        column = ""
        if len(columns) > 1:
            column = str(
                st.selectbox(
                    tr("By"),
                    columns,
                    index=columns.index(choices.first("by", "", columns)),
                    format_func=_word,
                    key=choices.key("by-checkpoints"),
                    width=240,
                    label_visibility="collapsed",
                )
            )
            choices.keep("by", column, "")
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
        st.caption(tr("{n:,} more lines are in the table checkpoints.csv.", n=n_left_out))
    return {CURVES: figure}


def checkpoint_figure(points: pd.DataFrame) -> tuple[go.Figure, int]:
    """A line for each training, or each category of each, with its interval as a band; and how many lines are left out.

    `points` is `levels.checkpoints` of one stratum. Up to MOST_BANDS lines have bands.
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
    most_pairs = points.groupby("line", sort=False)["n"].max().sort_values(ascending=False, kind="stable")
    kept: Sequence[str] = [name for name in dict.fromkeys(names) if name in set(most_pairs.index[:MOST_LINES])]
    figure = go.Figure()
    for index, name in enumerate(kept):
        of_line = points[points["line"] == name].sort_values("step")
        figure.add_trace(
            go.Scatter(
                x=of_line["x"],
                y=of_line["accuracy"],
                mode="lines+markers",
                name=plain(name),
                legendgroup=str(index),
                line={"width": 2},
                marker={"size": 8, "symbol": symbol(index)},
                customdata=of_line[["n_correct", "n", "step"]]
                .assign(interval=interval_texts(of_line["ci_low"], of_line["ci_high"]))
                .to_numpy(dtype=object),
                hovertemplate=tr(
                    "step {step}: {accuracy} correct, {n_correct} of {n} pairs",
                    step="%{customdata[2]:,}",
                    accuracy="%{y:.1%}",
                    n_correct="%{customdata[0]:,}",
                    n="%{customdata[1]:,}",
                )
                + f"<br>%{{customdata[3]}}<extra>{template_safe(name)}</extra>",
            )
        )
    for index, name in enumerate(kept if len(kept) <= MOST_BANDS else ()):
        of_line = points[points["line"] == name].sort_values("step")
        x, y = band(*(of_line[column].to_numpy() for column in ("x", "ci_low", "ci_high")))
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
    if is_log and not steps[0]:
        powers = [10.0**power for power in range(int(np.ceil(np.log10(least))), int(np.log10(steps[-1])) + 1)]
        figure.update_xaxes(tickvals=[least / 2, *powers], ticktext=["0", *(f"{power:,.0f}" for power in powers)])
    figure.update_yaxes(tickformat=".0%", title=None, zeroline=False, fixedrange=True)
    figure.add_hline(y=0.5, line={"color": GREY, "width": 1, "dash": "dot"})
    figure = laid_out(figure, height=360, legend=len(kept) > 1, up=measure_name("accuracy"))
    figure.update_layout(margin={"t": 16, "b": 64}, legend={"y": -0.24})
    return figure, most_pairs.size - len(kept)


def _word(name: str) -> str:
    return column_word(name) if name else tr("all pairs")
