"""The page of single sentences, judged or in conditions: no list of pairs, and nothing that compares two sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from dashboard.minimal_pairs.benchmark.judgements import CURVE, judged_tables, judgements_section, reliability_figure
from dashboard.minimal_pairs.benchmark.predictions import CURVES as BY_REGION
from dashboard.minimal_pairs.benchmark.predictions import (
    first_region_figure,
    prediction_tables,
    predictions_section,
    regions_section,
)
from dashboard.minimal_pairs.kinds.kind_page import KindPage, Sections
from dashboard.minimal_pairs.length.charts import correlation_figure, points_figure
from dashboard.minimal_pairs.length.sections import CORRELATION, correlation_caption, scores_section
from dashboard.minimal_pairs.pair_table import first_sentences
from dashboard.minimal_pairs.scoring import scoring_section
from dashboard.minimal_pairs.view import JUDGED, PREDICTED, REGIONS, SCORES, SCORING, ScoredRun, table, tables
from dashboard.shared.headlines import Headline, interval_note, n_note, number_text, of_models, percent
from engine.datasets.minimal_pairs import kinds
from engine.evaluations.minimal_pairs.designs.predictions import predictions, suite_scores
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.single_sentences import judgements
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import mark


def _headlines_of_judged(result: Result) -> list[Headline]:
    """AUC of each model by plain log-likelihood."""
    areas = judgements(result, ("LP",)).query("field == ''").sort_values("auc", ascending=False, kind="stable")
    return of_models(areas, "judgement_auc", lambda row: number_text(row["auc"], 3), n_note)


def _headlines_of_conditions(result: Result) -> list[Headline]:
    """How often the predictions hold under each model."""
    scores = suite_scores(predictions(result)).sort_values("accuracy", ascending=False, kind="stable")
    return of_models(scores, "prediction_accuracy", lambda row: percent(row["accuracy"]), interval_note)


def _sections_of_judged(view: ScoredRun, _: ScoredRun, signature: Mapping[str, Any]) -> Sections:
    return {
        JUDGED: lambda choices: judgements_section(view, signature, choices),
        SCORES: lambda choices: scores_section(view, signature, choices),
        SCORING: lambda _: scoring_section(view.result),
    }


def _sections_of_conditions(view: ScoredRun, _: ScoredRun, signature: Mapping[str, Any]) -> Sections:
    return {
        PREDICTED: lambda choices: predictions_section(view, signature, choices),
        REGIONS: lambda choices: regions_section(view, signature, choices),
        SCORING: lambda _: scoring_section(view.result),
    }


def _makers_of_judged(view: ScoredRun, _: ScoredRun) -> dict[str, Callable[[], go.Figure]]:
    model, card = view.models[0], NORMALIZATIONS[view.normalization].card
    return {
        CURVE: lambda: reliability_figure(table(view, "reliability")),
        CORRELATION: lambda: points_figure(table(view, "points", model), card, model),
        correlation_caption("spearman"): lambda: correlation_figure(tables(view, "correlations")),
    }


def _tables_of_judged(
    view: ScoredRun, _: str, __: tuple[str, ...], ___: tuple[str, ...]
) -> dict[str, Callable[[], pd.DataFrame]]:
    return judged_tables(view)


def _tables_of_conditions(
    view: ScoredRun, _: str, __: tuple[str, ...], formulas: tuple[str, ...]
) -> dict[str, Callable[[], pd.DataFrame]]:
    return prediction_tables(view, formulas)


OF_JUDGED = KindPage(
    kinds.JUDGED,
    (
        *(score.card for score in NORMALIZATIONS.values()),
        "judgement_auc",
        "judgement_mcc",
        "judgement_accuracy",
        "brier_score",
        "calibration_error",
    ),
    mark("""Each sentence was judged acceptable (1) or not (0). AUC needs no threshold; the threshold of MCC
and accuracy, and the curve from score to probability, are fitted to the other parts of the sentences, so that no
sentence is judged by itself. In a calibrated curve the points lie on the dotted diagonal."""),
    _headlines_of_judged,
    first_sentences,
    _sections_of_judged,
    _makers_of_judged,
    _tables_of_judged,
    question=mark("Do the model's scores tell acceptable sentences from unacceptable ones?"),
)
OF_CONDITIONS = KindPage(
    kinds.CONDITIONS,
    ("region_surprisal", "prediction_accuracy", "prediction_effect"),
    mark("""Each item is a sentence in several conditions. A prediction relates the surprisals of their
regions; a suite's score is the share of items for which all of its predictions hold. A model that guessed would reach
a half by one comparison, and less by several together."""),
    _headlines_of_conditions,
    first_sentences,
    _sections_of_conditions,
    lambda view, _: {BY_REGION: lambda: first_region_figure(view)},
    _tables_of_conditions,
    question=mark("Do the predictions about the model's surprisals hold?"),
    choices=frozenset(),
    anchor="tabs",
    signed=lambda view: {},
)
