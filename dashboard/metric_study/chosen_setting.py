"""One setting of a metric study: its scores against the humans', its layers, the way to its alignment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import pages
from dashboard.metric_study.charts import layer_figure, scatter_figure
from dashboard.metric_study.words import cell_key, number, setting_name
from dashboard.shared import session
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError
from engine.evaluations.alignment import records as alignment
from engine.evaluations.metric_study.records import BERTSCORE, SURFACE, Result
from engine.language.quantities import count
from engine.measures.cards.catalog import CARDS

ALIGNED = "metric-aligned"  # in the session: (study, cell) -> the run of its alignment


def setting_view(run_id: str, result: Result, line: Mapping[Any, Any]) -> None:
    """The scatter of one line of `Result.correlations`, the way to its alignment, and its layers."""
    place = [cell_key(one) for one in result.correlations.to_dict("records")].index(cell_key(line))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        said = f"r = {number(line['pearson'])}, {count(line['n'], 'pair')}"
        st.markdown(f"**{verbatim(setting_name(line))}** :gray[{said}]", width="content")
        # in a place of its own: what a press leaves behind for a moment must not push the link that comes
        with st.container(width="content"):
            if line["kind"] == BERTSCORE:
                _way_to_alignment(run_id, result, line)
    penalised = line["penalty"] == "reading"
    base = result.scores_of(line["model"], line["idf"], "none") if penalised else None
    st.plotly_chart(
        scatter_figure(result.pairs, result.scores[place], _score_title(result, line), base),
        key=f"metric-scatter-{run_id}", config=camera("scatter", result.signature),
        alt=f"Scores of each pair against the humans': {setting_name(line)}")
    if len(result.layers) and line["kind"] == BERTSCORE:
        st.markdown("**By layer** :gray[the larger point: the layer of the grid]")
        st.plotly_chart(layer_figure(result.layers, line["idf"], result.signature.get("layers")),
                        key=f"metric-layers-{run_id}", config=camera("layers", result.signature),
                        alt="Pearson's correlation at every layer")


def _score_title(result: Result, line: Mapping[Any, Any]) -> str:
    if line["kind"] == BERTSCORE:
        score = result.settings.score
        return CARDS[score if line["penalty"] == "none" else f"penalized_{score}"].name
    return CARDS[line["model"] if line["kind"] == SURFACE else "vector_cosine"].name


def _way_to_alignment(run_id: str, result: Result, line: Mapping[Any, Any]) -> None:
    """A button that has these pairs aligned with this setting, and then the link to that run.

    A link, because going there by `st.switch_page` would leave an address of neither page in the browser's history.
    """
    known = st.session_state.setdefault(ALIGNED, {})
    icon, place = pages.card("alignment").icon, (run_id, cell_key(line))
    if place not in known:
        if not st.button("Align with this setting", key=f"metric-align-{run_id}", icon=icon,
                         help="Every pair token by token; the model is not asked again for what it said before."):
            return
        aligned = _submitted(run_id, result, line)
        if aligned is None:
            return
        known[place] = aligned
        st.rerun()
    st.page_link(pages.path("alignment"), label="Open in Alignment", icon=icon, query_params={"run": known[place]})


def _submitted(run_id: str, result: Result, line: Mapping[Any, Any]) -> str | None:
    """The run that aligns the pairs with this setting; None when it was refused, which is said."""
    scoring = replace(result.settings.scoring, idf=line["idf"], penalty=line["penalty"])
    settings = alignment.Settings((line["model"],), layer=result.settings.layer, precision=result.settings.precision,
                                  scoring=scoring)
    access = session.access()
    try:
        return access.submit("alignment", settings, access.dataset(run_id)).run_id
    except EngineError as error:
        show_error(error)
        return None
