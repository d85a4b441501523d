"""All pairs of an alignment: means, distribution of F1, largest penalties, and the way to a study of human scores."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import pages
from dashboard.alignment.pair_choice import request_pair
from dashboard.alignment.spread_charts import change_figure, most_changed, score_histogram
from dashboard.shared import session
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.wording import show_error, verbatim
from engine.datasets.sentence_pairs import HUMAN
from engine.errors import EngineError
from engine.evaluations.alignment.records import Result, Scoring
from engine.evaluations.metric_study import records as metric_study
from engine.language.quantities import count

SPREAD, CHANGES = "Distribution of F1", "Largest penalties"
STUDIED = "alignment-studied"  # in the session: run of an alignment -> the run of its metric study


def spread(place: str, table: pd.DataFrame, signature: dict[str, Any], *, penalised: bool) -> dict[str, go.Figure]:
    """Draw the figures of all pairs, `pair_choice.pair_table`, in an expander; returns them by their captions."""
    figures = {SPREAD: score_histogram(table, penalised=penalised)}
    changed = most_changed(table)
    if penalised and len(changed):
        figures[CHANGES] = change_figure(changed)
    with st.expander(means_sentence(table, penalised=penalised), icon=":material/bar_chart:"):
        with st.grid(len(figures), min_column_width=300, gap="small"):
            with st.container():
                st.markdown(f"**{SPREAD}**")
                st.plotly_chart(figures[SPREAD], key=f"alignment-histogram-{place}",
                                config=camera("histogram", signature), alt="Histogram of F1 over all pairs")
            if CHANGES in figures:
                with st.container():
                    st.markdown(f"**{CHANGES}** :gray[click a bar to see its pair]")
                    key = f"alignment-changes-{place}"
                    st.plotly_chart(figures[CHANGES], key=key, config=camera("changes", signature),
                                    on_select=partial(_request_clicked, key, place), selection_mode="points",
                                    alt="The pairs whose F1 the penalty lowers most")
        if penalised and changed.empty:
            st.caption("The penalty lowers no pair.")
    return figures


def means_sentence(table: pd.DataFrame, *, penalised: bool) -> str:
    """The means over all pairs that have a score.

    >>> means_sentence(pd.DataFrame({"f1": [0.5, 0.7], "penalized_f1": [0.5, 0.6]}), penalised=True)
    'Mean F1 0.600 over 2 pairs; 0.550 with penalty, which lowers 1 pair'
    """
    scored = table[table["f1"].notna()]
    if scored.empty:
        return "No pair has a score"
    sentence = f"Mean F1 {scored['f1'].mean():.3f} over {count(len(scored), 'pair')}"
    if penalised:
        n_lowered = int((scored["f1"] > scored["penalized_f1"]).sum())
        sentence += f"; {scored['penalized_f1'].mean():.3f} with penalty, which lowers {count(n_lowered, 'pair')}"
    return sentence


def human_scores(run_id: str, result: Result, scoring: Scoring) -> None:
    """Draw, where the pairs have human scores, a button for a metric study of them; nothing elsewhere."""
    names = [name.removeprefix(HUMAN) for name in result.pairs.columns if name.startswith(HUMAN)]
    if not names or len(result.pairs) < 2:
        return
    studies, icon = st.session_state.setdefault(STUDIED, {}), pages.card("metric_study").icon
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Human scores: {verbatim(', '.join(names))}. Which setting correlates best with them?",
                   width="content")
        if run_id in studies:
            st.page_link(pages.path("metric_study"), label="Open the metric study", icon=icon,
                         query_params={"run": studies[run_id]})
        elif st.button("Study all settings", key=f"alignment-study-{run_id}", icon=icon, type="tertiary",
                       help="Runs a metric study of these pairs: every dictionary, without and with the penalty, "
                       "readings as set here. The model is not run again."):
            study = _submitted(run_id, result, scoring)
            if study is not None:
                studies[run_id] = study
                st.rerun()


def _submitted(run_id: str, result: Result, scoring: Scoring) -> str | None:
    """The id of the metric study of the pairs; None when it was refused, with the error shown."""
    settings = metric_study.Settings(result.settings.models, layer=result.settings.layer, scoring=scoring,
                                     precision=result.settings.precision)
    access = session.access()
    try:
        return access.submit("metric-study", settings, access.dataset(run_id)).run_id
    except EngineError as error:
        show_error(error)
        return None


def _request_clicked(key: str, place: str) -> None:
    points = st.session_state[key]["selection"]["points"]
    if points:
        request_pair(place, int(points[0]["customdata"][0]))
