"""The figures of the home page: a map and the length bias of the samples, each with what it says in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import pages
from dashboard.clusters.map_charts import has_map, maps_figure
from dashboard.minimal_pairs.charts import difference_figure
from dashboard.shared import run_progress, run_view, samples
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.headlines import short
from dashboard.shared.theme import with_shown_models
from dashboard.shared.wording import measure_help, show_error, verbatim
from engine.errors import EngineError
from engine.evaluations.clusters import records as clusters
from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.evaluations.minimal_pairs import views
from engine.runs.storage.run_record import RunRecord
from engine.translation import language, mark, tr, translated

MAP_HEIGHT, CURVE_HEIGHT = 150, 175
FIGURES_KEPT = 8  # of both samples, in both languages
LEAST_PAIRS = 5  # outer differences of fewer pairs are one point
TITLES = {"clusters": mark("Do the classes lie apart?"),
          "minimal-pairs": mark("Does a model only prefer short sentences?")}


def sample_card(kind: str, view: RunRecord) -> None:
    """Draw a figure of a sample's run with its meaning and the door to its page, or its progress or error."""
    page = pages.card(pages.PAGE_BY_KIND[kind])
    with st.container(border=True):
        st.markdown(f"**{tr(page.title)}** :gray[{tr(TITLES[kind])}]")  # untranslated
        if view.state == "done":
            try:
                FIGURES[kind](run_view.load_result(view.id), view.id)
            except EngineError as error:
                show_error(error)
        elif view.state in run_progress.ACTIVE:
            run_progress.progress(view)
        else:
            st.warning(verbatim(translated(view.message) if view.message else tr("This run was stopped.")),
                       icon=":material/error:")
            if st.button(tr("Try again"), key=f"sample-again-{kind}", icon=":material/refresh:"):
                samples.run_ids.clear()
                st.rerun()
        run_view.run_link(view, tr("Open the result") if view.state == "done" else tr("Open the page"))


def _clusters(result: clusters.Result, run_id: str) -> None:
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")
    mapped = [model for model in ranked["model"] if has_map(result.points, model)]
    if mapped:
        _draw(_map(run_id, mapped[0], language(), result), "home-map",
              tr("Map of the sample sentences, coloured by class"))
    best = ranked.iloc[0]
    if pd.isna(best["rank"]):
        st.caption(tr("Each point is a sentence, each colour a topic."))
        return
    st.caption(tr("Each point is a sentence, each colour a topic. {model} has the best dispersion score, M_m = "
                  "{score:,.2f}: the smaller, the better its vectors keep the topics apart.",
                  model=verbatim(short(best["model"])), score=best["score"]), help=measure_help("dispersion_score"))


@st.cache_resource(max_entries=FIGURES_KEPT, show_spinner=False)
def _map(run_id: str, model: str, wanted_language: str, _result: clusters.Result) -> go.Figure:
    figure = maps_figure(_result, model).update_layout(showlegend=False, margin={"t": 4, "b": 4}, height=MAP_HEIGHT)
    return _without_caption(figure)


@st.cache_resource(max_entries=FIGURES_KEPT, show_spinner=False)
def _curves(run_id: str, wanted_language: str, _result: minimal_pairs.Result) -> go.Figure:
    points = views.by_difference(_result, "LP", least=LEAST_PAIRS)
    figure = difference_figure(with_shown_models(points.assign(model=points["model"].map(short))))
    return _without_caption(figure.update_layout(margin={"b": 24}, legend={"y": 1.0, "yanchor": "bottom"},
                                                 height=CURVE_HEIGHT))


def _minimal_pairs(result: minimal_pairs.Result, run_id: str) -> None:
    _draw(_curves(run_id, language(), result), "home-bias", tr("Accuracy by the difference of the numbers of tokens"))
    summary = views.summary(result, ("LP",)).set_index(["model", "stratum"])["accuracy"]
    drops = {model: summary[model, "A<U"] - summary[model, "A>U"] for model in result.settings.models}
    model = max(drops, key=lambda name: drops[name] if drops[name] == drops[name] else -1.0)
    st.caption(tr("Accuracy, larger is better, by how many tokens the acceptable sentence is longer. {model}: "
                  "{shorter:.0%} where it is shorter, {longer:.0%} where it is longer.", model=verbatim(short(model)),
                  shorter=summary[model, "A<U"], longer=summary[model, "A>U"]), help=measure_help("accuracy"))


def _without_caption(figure: go.Figure) -> go.Figure:
    figure.layout.annotations = ()  # the sentence below says it
    return figure


def _draw(figure: go.Figure, key: str, alt: str) -> None:
    draw_figure(figure, key=key, config={"displayModeBar": False}, alt=alt, data=False)


FIGURES: dict[str, Callable[[Any, str], None]] = {"clusters": _clusters, "minimal-pairs": _minimal_pairs}
