"""The human scores of the pairs beside F1: correlation, scatter, and the way to a study of every setting."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import pages
from dashboard.alignment.human_charts import drawn_pairs, human_figure
from dashboard.alignment.pair_choice import request_clicked
from dashboard.shared import session
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.wording import measure_help, show_error
from engine.errors import EngineError
from engine.evaluations.alignment.human import (
    Agreement,
    HumanScores,
    agreement,
    disagreement,
    human_scores,
    offered_scales,
)
from engine.evaluations.alignment.records import Result, Scoring
from engine.evaluations.catalog import METRIC_STUDY
from engine.evaluations.metric_study import records as metric_study
from engine.messages.languages import mark, tr, translated

CAPTION = mark("F1 against the human scores")
STUDIED = "alignment-studied"  # in the session: run of an alignment -> the run of its metric study
COEFFICIENTS = {"pearson": "r", "spearman": "ρ", "kendall": "τ_b"}


def shown_scale(place: str, pairs: pd.DataFrame, first: str) -> str:
    """The scale of the human scores that was chosen; "" where it is told from the scores."""
    chosen = str(st.session_state.get(f"alignment-human-scale-{place}", first))
    return chosen if chosen in offered_scales(pairs) else ""


def with_disagreement(table: pd.DataFrame, *, penalised: bool, scale: str = "") -> pd.DataFrame:
    """A `pair_choice.pair_table` with how far F1 (with the penalty where there is one) is from the humans.

    Adds human (mean of the annotators, as in the file), disagreement (standard deviations, above 0 where F1 is kinder
    than the humans) and distance, its size; the table itself where there are no human scores. scale: `shown_scale`.
    """
    human = human_scores(table, scale)
    if human is None or len(table) < 2:
        return table
    differences = disagreement(human, _score(table, penalised=penalised))
    return table.assign(human=human.mean, disagreement=differences, distance=np.abs(differences))


def human_section(
    run_id: str,
    place: str,
    result: Result,
    scoring: Scoring,
    table: pd.DataFrame,
    signature: dict[str, Any],
    scale: str,
) -> dict[str, go.Figure]:
    """Draw the correlation with the humans and its figure in an expander; returns the figure by its caption.

    Nothing is drawn where the pairs have no human scores. scale: `shown_scale`.
    """
    human = human_scores(table, scale)
    if human is None or len(table) < 2:
        return {}
    penalised = scoring.penalty != "none"
    correlations = agreement(human, _score(table, penalised=penalised))
    sentence = correlation_sentence(correlations)
    drawn = drawn_pairs(table, _score_name(penalised=penalised))
    figure = human_figure(drawn, _score_name(penalised=penalised), _axis_name(human))
    with st.expander(tr("Human scores: {correlations}", correlations=sentence), icon=":material/groups:"):
        draw_figure(
            figure,
            key=f"alignment-human-{place}",
            config=camera(CAPTION, signature),
            on_select=partial(request_clicked, f"alignment-human-{place}", place),
            selection_mode="points",
            alt=tr("Each pair, its human score across and its F1 up: {correlations}", correlations=sentence),
        )
        if len(drawn) < correlations.pearson.n:
            st.caption(tr("A sample of {n:,} pairs is drawn.", n=len(drawn)))
        st.caption(
            tr(
                "Click a point to see its pair. Points high above others with the same human score are pairs "
                "that the metric rates as more similar than the annotators do."
            ),
            help="\n\n".join(measure_help(name) for name in COEFFICIENTS),
        )
        offered = ["", *offered_scales(result.pairs)]
        st.selectbox(
            tr("Scale of the human scores"),
            offered,
            index=offered.index(scale),
            width=260,
            format_func=lambda name: name or tr("as told from the scores"),
            key=f"alignment-human-scale-{place}",
            help=tr(
                "The scale is told from the least and the greatest score. Correlations do not depend on "
                "it; the units of the figure and the list do."
            ),
        )
        _study(run_id, result, scoring)
    return {CAPTION: figure}


def correlation_sentence(correlations: Agreement) -> str:
    """The three coefficients in one line, Pearson's with its interval.

    >>> import numpy as np
    >>> from engine.evaluations.alignment.human import HumanScores, agreement
    >>> gold = np.array([1.0, 2.0, 3.0, 4.0])
    >>> correlation_sentence(agreement(HumanScores(("a",), gold, gold, ""), np.array([0.1, 0.3, 0.2, 0.4])))
    'r = 0.800 [−0.697, 0.996], ρ = 0.800, τ_b = 0.667 (n = 4)'
    """
    pearson = correlations.pearson
    if pearson.reason:
        return tr("no correlation: {reason}", reason=translated(pearson.reason))
    values = {symbol: _number(getattr(correlations, name).value) for name, symbol in COEFFICIENTS.items()}
    values["r"] += f" [{_number(pearson.ci_low)}, {_number(pearson.ci_high)}]"
    return f"{', '.join(f'{symbol} = {value}' for symbol, value in values.items())} (n = {pearson.n:,})"


def _score(table: pd.DataFrame, *, penalised: bool) -> np.ndarray:
    return table[_score_name(penalised=penalised)].to_numpy(dtype=np.float64)


def _score_name(*, penalised: bool) -> str:
    return "penalized_f1" if penalised else "f1"


def _axis_name(human: HumanScores) -> str:
    if len(human.names) == 1:
        return tr("Human score '{name}', {unit}", name=human.names[0], unit=translated(human.unit))
    return tr("Mean of {n} human scores, {unit}", n=len(human.names), unit=translated(human.unit))


def _study(run_id: str, result: Result, scoring: Scoring) -> None:
    """Draw a button for a metric study of the pairs, or the link to it."""
    studies, icon = st.session_state.setdefault(STUDIED, {}), pages.card("metric_study").icon
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(tr("Which setting correlates best with the human scores?"), width="content")
        if run_id in studies:
            st.page_link(
                pages.path("metric_study"),
                label=tr("Open the metric study"),
                icon=icon,
                query_params={"run": studies[run_id]},
            )
        elif st.button(
            tr("Compare all settings"),
            key=f"alignment-study-{run_id}",
            icon=icon,
            type="tertiary",
            help=tr(
                "Runs a metric study of these pairs: every dictionary, without and with the penalty, "
                "readings as set here. The model is not run again."
            ),
        ):
            study = _submitted(run_id, result, scoring)
            if study is not None:
                studies[run_id] = study
                st.rerun()


def _submitted(run_id: str, result: Result, scoring: Scoring) -> str | None:
    """The id of the metric study of the pairs; None when it was refused, with the error shown."""
    settings = metric_study.Settings(
        result.settings.models, layer=result.settings.layer, scoring=scoring, precision=result.settings.precision
    )
    access = session.access()
    try:
        return access.submit(METRIC_STUDY.kind, settings, access.dataset(run_id)).run_id
    except EngineError as error:
        show_error(error)
        return None


def _number(value: float) -> str:
    return tr("undefined") if np.isnan(value) else f"{value:z.3f}".replace("-", "−")
