"""Reading times along the checkpoints of a training: what surprisal explains of each column of times at each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.benchmark.checkpoints import Curve, checkpoint_figure
from dashboard.minimal_pairs.benchmark.further_checkpoints import further_checkpoints, join_button
from dashboard.minimal_pairs.reading.choosing import chosen_baseline
from dashboard.minimal_pairs.view import ScoredRun, SectionChoices, table
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.wording import measure_help
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series
from engine.messages.languages import mark, tr

CURVES = mark("Gain of reading times along the checkpoints")
GAIN = Curve(
    "gain",
    "gain_low",
    "gain_high",
    "n",
    mark("step {step}: {value} nats per word (words: {n})"),
    "reading_gain",
    form=".4f",
    ticks=".3f",
    level=0.0,
)


def reading_checkpoints_section(
    view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices
) -> dict[str, go.Figure]:
    """Draw the gain of each column of times along the checkpoints of each training; returns the figure by its caption.

    Above it what other runs have of these trainings can be joined.
    """
    if further := further_checkpoints(view.run_id, view.result):
        join_button(view.run_id, view.result, further)
    if not checkpoint_series(view.result, view.models):
        st.caption(tr("This run has one checkpoint of a training. Joined with those of other runs it is a curve."))
        return {}
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(
            tr("**Gain along the checkpoints** :gray[a line for each column of times, with 95% intervals]"),
            width="content",
            help=measure_help("reading_gain"),
        )
        baseline = chosen_baseline(choices, "checkpoints-", label_visibility="collapsed")
    points = gains_along(table(view, "reading_checkpoints"), baseline)
    if points.empty:
        st.caption(tr("No gain can be shown: there are too few words or texts."))
        return {}
    figure, n_left_out = checkpoint_figure(points, GAIN)
    draw_figure(
        figure,
        key=f"minimal-reading-checkpoints-{view.run_id}",
        config=camera("reading-checkpoints", signature),
        alt=tr("Gain by surprisal at each checkpoint of a training"),
    )
    if n_left_out:
        st.caption(tr("More lines, in the table reading_checkpoints.csv: {n:,}.", n=n_left_out))
    return {CURVES: figure}


def gains_along(points: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """The rows of `times.along_checkpoints` under a baseline as `checkpoint_figure` takes them, those without a gain left out."""
    kept = (points["baseline"] == baseline).to_numpy() & np.isfinite(points["gain"]).to_numpy()
    shown: pd.DataFrame = points[kept]
    return shown.assign(category=shown["measure"])
