"""The length bias of the sample's models, for the home page."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.charts import difference_figure
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.headlines import short
from dashboard.shared.theme import with_shown_models
from dashboard.shared.wording import measure_help
from engine.evaluations.minimal_pairs import views
from engine.evaluations.minimal_pairs.records import Result
from engine.messages.languages import language, tr

CURVE_HEIGHT = 175
KEPT = 4  # figures, in both languages
LEAST_PAIRS = 5  # outer differences of fewer pairs are one point


def draw_length_bias(result: Result, run_id: str) -> None:
    """Draw accuracy by the difference of lengths."""
    draw_figure(
        _curves(run_id, language(), result),
        key="home-bias",
        config={"displayModeBar": False},
        alt=tr("Accuracy by the difference of the numbers of tokens"),
        data=False,
    )
    st.caption(
        tr("Accuracy, larger is better, by how many tokens the acceptable sentence is longer."),
        help=measure_help("accuracy"),
    )


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _curves(run_id: str, wanted_language: str, _result: Result) -> go.Figure:
    points = views.by_difference(_result, "LP", least=LEAST_PAIRS)
    figure = difference_figure(with_shown_models(points.assign(model=points["model"].map(short))))
    figure.layout.annotations = ()  # the sentence below says it
    return figure.update_layout(margin={"b": 24}, legend={"y": 1.0, "yanchor": "bottom"}, height=CURVE_HEIGHT)
