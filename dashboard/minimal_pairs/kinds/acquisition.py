"""The page of words in contexts: when a model learns each, beside when children do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from dashboard.minimal_pairs.acquisition.sections import (
    BY_AGE,
    CURVE,
    acquisition_section,
    acquisition_tables,
    age_figure,
    curve_figure,
    curves_section,
)
from dashboard.minimal_pairs.kinds.kind_page import KindPage, Sections
from dashboard.minimal_pairs.pair_table import first_sentences
from dashboard.minimal_pairs.scoring import scoring_section
from dashboard.minimal_pairs.view import ACQUISITION, SCORING, WORDS, ScoredRun, table
from dashboard.shared.headlines import Headline, n_note, number_text
from engine.datasets.minimal_pairs import kinds
from engine.evaluations.minimal_pairs.acquisition.curves import acquisition_ages
from engine.evaluations.minimal_pairs.records import Result
from engine.messages.languages import mark


def _headlines(result: Result) -> list[Headline]:
    """The correlation of each training."""
    ages = acquisition_ages(result).sort_values("pearson", ascending=False, kind="stable")
    return [
        Headline(row["series"], number_text(row["pearson"], 3), n_note(row), "acquisition_correlation")
        for row in ages.to_dict("records")
    ]


def _sections(view: ScoredRun, _: ScoredRun, signature: Mapping[str, Any]) -> Sections:
    return {
        ACQUISITION: lambda choices: acquisition_section(view, signature, choices),
        WORDS: lambda choices: curves_section(view, signature, choices),
        SCORING: lambda _: scoring_section(view.result),
    }


def _of_first_word(view: ScoredRun) -> go.Figure:
    curves = table(view, "word_curves")
    return curve_figure(curves[curves["word"] == curves["word"].iloc[0]] if len(curves) else curves)


OF_ACQUISITION = KindPage(
    kinds.ACQUISITION,
    ("region_surprisal", "acquisition_correlation"),
    mark("""The **age** of a word is, of children, the month in which half of them say it; of a model, the place in its
training at which the word's surprisal is half-way from chance to its least, by a sigmoid through the surprisals of all
its contexts at all checkpoints. A word that does not pass half-way within the training has none."""),
    _headlines,
    first_sentences,
    _sections,
    lambda view, _: {BY_AGE: lambda: age_figure(table(view, "learned_words")), CURVE: lambda: _of_first_word(view)},
    lambda view, _, __, ___: acquisition_tables(view),
    question=mark("Are words learned in the order in which children learn them?"),
    is_judged=False,
    choices=frozenset(),
    anchor="tabs",
    signed=lambda view: {},
)
