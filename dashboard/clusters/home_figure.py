"""The map of the sample under the best model, for the home page."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from dashboard.clusters.map_charts import Look, has_map, maps_figure
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.wording import measure_help
from engine.evaluations.clusters.records import Result
from engine.messages.languages import language, tr

MAP_HEIGHT = 200
POINT_SIZE = 5  # px
KEPT = 4  # figures, in both languages


def draw_best_map(result: Result, run_id: str) -> None:
    """Draw the map of the best model that has one."""
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")
    mapped = [model for model in ranked["model"] if has_map(result.points, model)]
    if mapped:
        draw_figure(
            _map(run_id, mapped[0], language(), result),
            key="home-map",
            config={"displayModeBar": False},
            alt=tr("Map of the sample sentences, coloured by class"),
            data=False,
        )
    st.caption(tr("Each point is a sentence, each colour a topic."), help=measure_help("dispersion_score"))


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _map(run_id: str, model: str, wanted_language: str, _result: Result) -> go.Figure:
    figure = maps_figure(_result, model, Look(centroids=False)).update_traces(marker_size=POINT_SIZE)
    figure.update_layout(showlegend=False, margin=dict.fromkeys("tblr", 4), height=MAP_HEIGHT)
    figure.layout.annotations = ()  # the sentence below says it
    return figure
