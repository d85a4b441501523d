"""The page of words with reading times: what surprisal explains of them, and the words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard.minimal_pairs.benchmark.checkpoints import checkpoint_figure
from dashboard.minimal_pairs.benchmark.further_checkpoints import further_checkpoints
from dashboard.minimal_pairs.kinds.kind_page import KindPage, Sections
from dashboard.minimal_pairs.pair_table import first_sentences
from dashboard.minimal_pairs.reading.checkpoints import CURVES, GAIN, gains_along, reading_checkpoints_section
from dashboard.minimal_pairs.reading.layers import BY_LAYER, layer_figure, layers_section
from dashboard.minimal_pairs.reading.sections import (
    CURVE,
    GAINS,
    curve_figure,
    gain_figure,
    measures_of,
    reading_section,
    reading_tables,
    words_section,
)
from dashboard.minimal_pairs.scoring import scoring_section
from dashboard.minimal_pairs.view import CHECKPOINTS, LAYERS, READING, SCORING, WORDS, ScoredRun, table
from dashboard.shared.headlines import Headline, n_note, number_text, of_models
from engine.datasets.minimal_pairs import kinds
from engine.evaluations.minimal_pairs.reading.times import WITH_PREVIOUS, gains
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series
from engine.messages.languages import mark


def _headlines(result: Result) -> list[Headline]:
    """The gain of the first column of times by each model."""
    table_of_gains = gains(result)
    first = table_of_gains["measure"].iloc[0] if len(table_of_gains) else ""
    own = table_of_gains[(table_of_gains["measure"] == first) & (table_of_gains["baseline"] == WITH_PREVIOUS)]
    ranked = own.sort_values("gain", ascending=False, kind="stable")
    return of_models(ranked, "reading_gain", lambda row: number_text(row["gain"], 4), n_note)


def _sections(view: ScoredRun, _: ScoredRun, signature: Mapping[str, Any]) -> Sections:
    has_curve = checkpoint_series(view.result, view.models) or further_checkpoints(view.run_id, view.result)
    return {
        READING: lambda choices: reading_section(view, signature, choices),
        **({CHECKPOINTS: lambda choices: reading_checkpoints_section(view, signature, choices)} if has_curve else {}),
        **({LAYERS: lambda choices: layers_section(view, signature, choices)} if len(view.result.layers) else {}),
        WORDS: lambda choices: words_section(view, signature, choices),
        SCORING: lambda _: scoring_section(view.result),
    }


def _of_first_baseline(view: ScoredRun) -> Any:
    found = table(view, "reading_times")
    return gain_figure(found[found["baseline"] == WITH_PREVIOUS])


def _of_first_measure(view: ScoredRun) -> Any:
    words = table(view, "word_surprisals")
    return curve_figure(words, measures_of(words)[0])


def _layers_of_first(view: ScoredRun) -> Any:
    found = table(view, "layers")
    is_first = (found["measure"] == found["measure"].iloc[0]) & (found["baseline"] == WITH_PREVIOUS)
    return layer_figure(found[is_first])


def _along_checkpoints(view: ScoredRun) -> Any:
    return checkpoint_figure(gains_along(table(view, "reading_checkpoints"), WITH_PREVIOUS), GAIN)[0]


OF_READING = KindPage(
    kinds.READING,
    ("region_surprisal", "lens_surprisal", "reading_gain", "reading_share"),
    mark("""People's times are regressed on what is known of each word without the model, then on its surprisal, too.
The **gain** is in log-likelihood of texts that neither regression has seen: above 0 surprisal helps to predict how long
people read. The **share** is of the times that the baseline leaves open, in the words that were fitted."""),
    _headlines,
    first_sentences,
    _sections,
    lambda view, _: {
        GAINS: lambda: _of_first_baseline(view),
        **({BY_LAYER: lambda: _layers_of_first(view)} if len(view.result.layers) else {}),
        **({CURVES: lambda: _along_checkpoints(view)} if checkpoint_series(view.result, view.models) else {}),
        CURVE: lambda: _of_first_measure(view),
    },
    lambda view, _, __, ___: reading_tables(view),
    question=mark("Does the surprisal of words explain how long people read them?"),
    is_judged=False,
    choices=frozenset(),
    anchor="tabs",
    signed=lambda view: {},
)
