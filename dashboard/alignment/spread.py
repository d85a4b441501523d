"""All pairs of an alignment at a glance: the means, how F1 is spread, where the penalty changes most, the humans."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import pages
from dashboard.alignment.pair_choice import ask_for
from dashboard.alignment.spread_charts import change_figure, most_changed, score_histogram
from dashboard.shared import session
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.wording import show_error, verbatim
from engine.datasets.sentence_pairs import HUMAN
from engine.errors import EngineError
from engine.evaluations.alignment.records import Result, Scoring
from engine.evaluations.metric_study import records as metric_study
from engine.language.quantities import count

SPREAD, CHANGES = "How F1 is spread", "Where the penalty changes most"
STUDIED = "alignment-studied"  # in the session: run of an alignment -> the run of its metric study


def spread(run_id: str, table: pd.DataFrame, signature: dict[str, Any], *, penalised: bool) -> dict[str, go.Figure]:
    """Draw the figures of all pairs, `pair_choice.pair_table`, folded; returns them by their captions."""
    figures = {SPREAD: score_histogram(table, penalised=penalised)}
    changed = most_changed(table)
    if penalised and len(changed):
        figures[CHANGES] = change_figure(changed)
    with st.expander(means_sentence(table, penalised=penalised), icon=":material/bar_chart:"):
        with st.grid(len(figures), min_column_width=300, gap="small"):
            with st.container():
                st.markdown(f"**{SPREAD}**")
                st.plotly_chart(figures[SPREAD], key=f"alignment-histogram-{run_id}",
                                config=camera("histogram", signature), alt="Histogram of F1 over all pairs")
            if CHANGES in figures:
                with st.container():
                    st.markdown(f"**{CHANGES}** :gray[click a bar to see its pair]")
                    key = f"alignment-changes-{run_id}"
                    st.plotly_chart(figures[CHANGES], key=key, config=camera("changes", signature),
                                    on_select=partial(_asked, key, run_id), selection_mode="points",
                                    alt="The pairs from which the penalty takes most")
        if penalised and changed.empty:
            st.caption("The penalty takes nothing from any pair.")
    return figures


def means_sentence(table: pd.DataFrame, *, penalised: bool) -> str:
    """The means over all pairs that have a score.

    >>> means_sentence(pd.DataFrame({"f1": [0.5, 0.7], "penalized_f1": [0.5, 0.6]}), penalised=True)
    'Mean F1 0.600 over 2 pairs; 0.550 with penalty, which lowers 1'
    """
    scored = table[table["f1"].notna()]
    if scored.empty:
        return "No pair has a score"
    said = f"Mean F1 {scored['f1'].mean():.3f} over {count(len(scored), 'pair')}"
    if penalised:
        lowered = int((scored["f1"] > scored["penalized_f1"]).sum())
        said += f"; {scored['penalized_f1'].mean():.3f} with penalty, which lowers {lowered:,}"
    return said


def humans(run_id: str, result: Result, scoring: Scoring) -> None:
    """Where the pairs have human scores: the way to a study of which setting follows them; nothing elsewhere."""
    names = [name.removeprefix(HUMAN) for name in result.pairs.columns if name.startswith(HUMAN)]
    if not names or len(result.pairs) < 2:
        return
    known, icon = st.session_state.setdefault(STUDIED, {}), pages.card("metric_study").icon
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Human scores: {verbatim(', '.join(names))}. Which setting follows them best?", width="content")
        if run_id in known:
            st.page_link(pages.path("metric_study"), label="Open the metric study", icon=icon,
                         query_params={"run": known[run_id]})
        elif st.button("Study all settings", key=f"alignment-study-{run_id}", icon=icon, type="tertiary",
                       help="These pairs with every dictionary, without and with the penalty; the readings as they are "
                       "set here. The model is not asked again."):
            study = _submitted(run_id, result, scoring)
            if study is not None:
                known[run_id] = study
                st.rerun()


def _submitted(run_id: str, result: Result, scoring: Scoring) -> str | None:
    """The run that studies the pairs; None when it was refused, which is said."""
    settings = metric_study.Settings(result.settings.models, layer=result.settings.layer, scoring=scoring,
                                     precision=result.settings.precision)
    access = session.access()
    try:
        return access.submit("metric-study", settings, access.dataset(run_id)).run_id
    except EngineError as error:
        show_error(error)
        return None


def _asked(key: str, run_id: str) -> None:
    points = st.session_state[key]["selection"]["points"]
    if points:
        ask_for(run_id, int(points[0]["customdata"][0]))
