"""One setting of a metric study: its scores against the human scores, its layers, and its alignment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import pages
from dashboard.metric_study.charts import layer_figure, scatter_figure
from dashboard.metric_study.labels import ceiling, cell_key, number, scoring_name, setting_name
from dashboard.shared import session
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.theme import ending, plain
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError
from engine.evaluations.alignment import records as alignment
from engine.evaluations.catalog import ALIGNMENT
from engine.evaluations.metric_study.records import BERTSCORE, METRIC, VECTORS, Result
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import mark, tr, tr_n, translated
from engine.messages.message import list_of
from engine.models.sources.names import shown_name

SCATTER, LAYERS = mark("Scores of the chosen setting against the human scores"), mark("Pearson's r at every layer")
ALIGNED = "metric-aligned"  # in the session: (study, cell) -> the run of its alignment


def setting_view(run_id: str, result: Result, setting: Mapping[Any, Any]) -> dict[str, go.Figure]:
    """Draw the scatter of `setting`, a row of `Result.correlations`, a link to its alignment, and its layers.

    Returns the figures by caption.
    """
    index = [cell_key(row) for row in result.correlations.to_dict("records")].index(cell_key(setting))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        summary = tr_n("r = {r}, {n} pair", "r = {r}, {n:,} pairs", setting["n"], r=number(setting["pearson"]))
        name = verbatim(setting_name(setting))
        st.markdown(f"**{name}** :gray[{summary}]", width="content")  # untranslated
        # in a container of its own: the pressed button, visible for a moment, must not shift the new link
        with st.container(width="content"):
            if setting["kind"] == BERTSCORE:
                _alignment_link(run_id, result, setting)
    penalised = setting["penalty"] == "reading"
    base = result.scores_of(setting["model"], setting["idf"], "none") if penalised else None
    scatter = scatter_figure(result.pairs, result.scores[index], _score_title(result, setting), base)
    figures: dict[str, go.Figure] = {SCATTER: scatter}
    draw_figure(
        scatter,
        key=f"metric-scatter-{run_id}",
        config=camera("scatter", result.signature),
        alt=tr("Scores of each pair against the human scores: {setting}", setting=setting_name(setting)),
    )
    if len(result.layers) and setting["kind"] == BERTSCORE:
        st.markdown(tr("**By layer** :gray[the larger point: the layer of the grid]"))
        human = ceiling(result)
        by_layer = layer_figure(
            result.layers, setting["idf"], result.signature.get("layers"), human["pearson"] if human else None
        )
        figures[LAYERS] = by_layer
        draw_figure(
            by_layer,
            key=f"metric-layers-{run_id}",
            config=camera("layers", result.signature),
            alt=tr("Pearson's correlation at every layer"),
        )
    return figures


def _score_title(result: Result, setting: Mapping[Any, Any]) -> str:
    """What the axis of the scores says: the measure, and of which setting, so that a file of the figure names it."""
    name = setting_name(setting)
    if setting["kind"] not in (BERTSCORE, VECTORS):
        is_turned = setting["kind"] == METRIC and name in result.settings.lower_columns
        return plain(tr("{metric}, opposite sign", metric=ending(name)) if is_turned else ending(name))
    score, penalised = result.settings.score, setting["penalty"] != "none"
    card = "vector_cosine" if setting["kind"] == VECTORS else f"penalized_{score}" if penalised else score
    parts = [ending(shown_name(setting["model"]))]
    if setting["kind"] == BERTSCORE:
        parts.append(scoring_name(setting["idf"], setting["penalty"]))
    return f"{translated(CARDS[card].name)}<br>{plain(translated(list_of(parts)))}"


def _alignment_link(run_id: str, result: Result, setting: Mapping[Any, Any]) -> None:
    """Draw a button that aligns these pairs with this setting, and then a link to that run.

    A link, because `st.switch_page` would leave an address of neither page in the browser's history.
    """
    alignment_runs = st.session_state.setdefault(ALIGNED, {})
    icon, cell = pages.card("alignment").icon, (run_id, cell_key(setting))
    if cell not in alignment_runs:
        if not st.button(
            tr("Align with this setting"),
            key=f"metric-align-{run_id}",
            icon=icon,
            help=tr("Aligns every pair token by token; what the model has computed is not computed again."),
        ):
            return
        aligned = _submitted(run_id, result, setting)
        if aligned is None:
            return
        alignment_runs[cell] = aligned
        st.rerun()
    st.page_link(
        pages.path("alignment"), label=tr("Open in Alignment"), icon=icon, query_params={"run": alignment_runs[cell]}
    )


def _submitted(run_id: str, result: Result, setting: Mapping[Any, Any]) -> str | None:
    """The id of the alignment of the pairs with this setting; None when it was refused, with the error shown."""
    scoring = replace(result.settings.scoring, idf=setting["idf"], penalty=setting["penalty"])
    settings = alignment.Settings(
        (setting["model"],), layer=result.settings.layer, precision=result.settings.precision, scoring=scoring
    )
    access = session.access()
    try:
        return access.submit(ALIGNMENT.kind, settings, access.dataset(run_id)).run_id
    except EngineError as error:
        show_error(error)
        return None
