"""The choices of the metric study page: the grid in the open, what all its settings share folded."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.shared.dictionaries import choices
from dashboard.shared.inputs import settings
from dashboard.shared.inputs.own_readings import own_readings_input
from dashboard.shared.inputs.precision import precision_input
from dashboard.shared.inputs.sentence_vectors import POOLINGS, prompt_settings
from dashboard.shared.wording import show_error, verbatim
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import EngineError, InputError
from engine.evaluations.alignment.records import LEFT_OUT, THRESHOLDS, WITHOUT_DICTIONARY, Scoring
from engine.evaluations.metric_study.human_gold import human_gold
from engine.evaluations.metric_study.records import IDFS, Settings
from engine.options import options_of

OPTIONS, OF_SCORING = options_of(Settings), options_of(Scoring)
PENALTY_LABELS = {"none": "without", "reading": "with", "names": "names by reading"}
SCORE_LABELS = {"f1": "F1", "precision": "P", "recall": "R"}


def metric_settings(models: tuple[str, ...]) -> Settings:
    """Draws the choices, the paper's grid at first, and returns them with `models` as the settings of a run."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        known = _dictionaries()
        idfs = settings.several_of("idf dictionaries", OPTIONS["idfs"], known, key="metric-study-idfs", width=320,
                                   format_func=lambda idf: known.get(idf, idf))
        penalties = settings.pills("Penalty", OPTIONS["penalties"], words=PENALTY_LABELS, key="metric-study-penalties")
        score = settings.segments("Score", OPTIONS["score"], words=SCORE_LABELS, key="metric-study-score")
        layer = settings.number("Layer", OPTIONS["layer"], key="metric-study-layer", width=130)
        with st.popover("More settings", icon=":material/tune:", key="metric-study-settings"):
            all_layers = settings.toggle("Correlate at every layer, too", OPTIONS["all_layers"],
                                         key="metric-study-layers")
            precision = precision_input(OPTIONS["precision"], "metric-study")
            beside = _beside()
            scoring = _scoring()
    return Settings(models, layer=layer, all_layers=all_layers, idfs=idfs, penalties=penalties, score=score,
                    scoring=scoring, precision=precision, **beside)


def _dictionaries() -> dict[str, str]:
    """What may be chosen -> how it is called."""
    plain = {name: name for name in (*WITHOUT_DICTIONARY, *IDFS)}
    try:
        return plain | choices()
    except EngineError as error:
        show_error(error)
        return plain


def with_scores(dataset: SentencePairs | None) -> SentencePairs | None:
    """The dataset; None, and why, where it has no human scores to follow."""
    try:
        if dataset is not None:
            human_gold(dataset.human)
    except InputError as error:
        st.warning(verbatim(error.message), icon=":material/person_off:")
        return None
    return dataset


def _beside() -> dict[str, Any]:
    st.markdown("**Other methods beside**")
    return {
        "surface": settings.toggle("SentBLEU and chrF", OPTIONS["surface"], key="metric-study-surface"),
        "pooling": settings.list_of("Cosine of sentence vectors", OPTIONS["pooling"], POOLINGS | {"none": "None"},
                                    key="metric-study-pooling"),
        **prompt_settings(OPTIONS, "metric-study"),
    }


def _scoring() -> Scoring:
    """What all settings of the grid share."""
    st.markdown("**In every setting**")
    kind = settings.segments("Low-frequency tokens begin at", OF_SCORING["threshold_kind"],
                             key="metric-study-threshold-kind")
    if kind == "quantile":
        threshold = settings.percent("Not low-frequency", THRESHOLDS[kind], key="metric-study-quantile", step=5)
    else:
        threshold = settings.number("idf in nats", THRESHOLDS[kind], key="metric-study-idf-value", step=0.5)
    chosen = {
        name: settings.segments(label, OF_SCORING[name], key=f"metric-study-{name}")
        for name, label in (("criterion", "The penalty concerns"), ("pairing", "Readings compared"),
                            ("unit", "Matched and weighted"), ("reading_engine", "Read by"),
                            ("reading_scope", "What is read"), ("sounds", "Spellings of one sound"))
    }
    chosen["readings"] = own_readings_input("Readings of your own", OF_SCORING["readings"], key="metric-study-readings")
    special = settings.segments("Special tokens", OF_SCORING["special_tokens"], key="metric-study-special-tokens")
    match_special = settings.toggle("Match special tokens", OF_SCORING["match_special"], key="metric-study-special",
                                    disabled=special == LEFT_OUT)
    return Scoring(threshold=threshold, threshold_kind=kind, special_tokens=special, match_special=match_special,
                   **chosen)
