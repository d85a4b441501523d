"""The choices of the metric study page: the grid in the open, what all its settings share folded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.shared.dictionaries import build_link, choices, of_models, without_dictionary
from dashboard.shared.inputs import settings
from dashboard.shared.inputs.own_readings import of_form, own_readings_input
from dashboard.shared.inputs.presets import Start
from dashboard.shared.inputs.sentence_vectors import prompt_settings
from dashboard.shared.wording import show_error, verbatim
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import EngineError, InputError
from engine.evaluations.alignment.records import LEFT_OUT, THRESHOLDS, WITHOUT_DICTIONARY, Scoring
from engine.evaluations.metric_study.entities import column_of
from engine.evaluations.metric_study.human_gold import human_gold
from engine.evaluations.metric_study.records import IDFS, Settings
from engine.evaluations.metric_study.systems import COLUMN
from engine.messages.languages import tr, translated
from engine.options import options_of

OPTIONS, OF_SCORING = options_of(Settings), options_of(Scoring)


def metric_settings(models: tuple[str, ...], start: Start, dataset: SentencePairs | None = None) -> Settings:
    """Draws the choices, at first those of `start`, and returns them with `models` as the settings of a run.

    `dataset`: its columns without a role may name systems or hold the scores of other metrics.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        known, fitting = _dictionaries(models)
        idfs = settings.several_of(
            tr("idf dictionaries"),
            OPTIONS["idfs"],
            known,
            **start.at("idfs"),
            usual=fitting,
            width=320,
            format_func=lambda idf: known.get(idf, idf),
        )
        if models and fitting == WITHOUT_DICTIONARY:
            build_link("metric-study-build")
        penalties = settings.pills(tr("Penalty"), OPTIONS["penalties"], **start.at("penalties"))
        with st.popover(tr("Advanced options"), icon=":material/tune:", key="metric-study-settings"):
            score = settings.segments(tr("Score"), OPTIONS["score"], **start.at("score"))
            layer = settings.number(tr("Layer"), OPTIONS["layer"], **start.at("layer"))
            all_layers = settings.toggle(tr("Correlation at every layer"), OPTIONS["all_layers"], **start.at("layers"))
            precision = settings.list_of(tr("Numeric precision"), OPTIONS["precision"], **start.at("precision"))
            beside = _beside(start) | _columns(dataset)
            scoring = _scoring(start)
        readings = own_readings_input(OF_SCORING["readings"], **of_form(start, "scoring"))
        chosen = Settings(
            models,
            layer=layer,
            all_layers=all_layers,
            idfs=idfs,
            penalties=penalties,
            score=score,
            scoring=replace(scoring, readings=readings),
            precision=precision,
            **beside,
        )
        settings.in_a_line(
            chosen, {"score": tr("Score"), "layer": tr("Layer"), "pooling": tr("Cosine of sentence vectors")}
        )
    return chosen


def _dictionaries(models: tuple[str, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
    """What may be chosen -> how it is called, and what is chosen at first: the dictionaries that fit the models.

    Of those that fit, the paper's come before the others; where none does, the weights that need none.
    """
    plain = {**without_dictionary(), **{name: name for name in IDFS}}
    try:
        fitting = of_models(models)
        return plain | choices(), tuple(idf for idf in IDFS if idf in fitting) or fitting or WITHOUT_DICTIONARY
    except EngineError as error:
        show_error(error)
        return plain, WITHOUT_DICTIONARY


def with_scores(dataset: SentencePairs | None) -> SentencePairs | None:
    """The dataset; None, and why, where it has neither human scores to follow nor the entities of XC-Translate."""
    try:
        if dataset is not None and (dataset.human or column_of(dataset, None) is None):
            human_gold(dataset.human)
    except InputError as error:
        st.warning(verbatim(translated(error.message)), icon=":material/person_off:")
        return None
    return dataset


def _beside(start: Start) -> dict[str, Any]:
    st.markdown(tr("**Other methods**"))
    return {
        "surface": settings.toggle(tr("SentBLEU and chrF"), OPTIONS["surface"], **start.at("surface")),
        "pooling": settings.list_of(tr("Cosine of sentence vectors"), OPTIONS["pooling"], **start.at("pooling")),
        **prompt_settings(OPTIONS, start),
    }


def _columns(dataset: SentencePairs | None) -> dict[str, Any]:
    """Which columns hold other metrics' scores, the systems, the entities and the annotators of the ceiling.

    Nothing is drawn where the file has none to choose.
    """
    columns, humans = (tuple(dataset.further), tuple(dataset.human)) if dataset else ((), ())
    annotators = (
        {}
        if len(humans) < 2 and not columns
        else {
            "annotators": tuple(
                st.multiselect(
                    tr("Annotators of the human ceiling"),
                    [*humans, *columns],
                    key="metric-annotators",
                    placeholder=tr("All human scores"),
                    help=settings.help_text(OPTIONS["annotators"]),
                )
            )
        }
    )
    if not columns:
        return annotators
    metrics = tuple(
        st.multiselect(
            tr("Columns with scores of other metrics"),
            columns,
            key="metric-columns",
            placeholder=tr("None"),
            help=settings.help_text(OPTIONS["metric_columns"]),
        )
    )
    lower = (
        tuple(
            st.multiselect(
                tr("Of them, lower is better in"),
                metrics,
                key="metric-lower-columns",
                placeholder=tr("None"),
                help=settings.help_text(OPTIONS["lower_columns"]),
            )
        )
        if metrics
        else ()
    )
    return annotators | {
        "metric_columns": metrics,
        "lower_columns": lower,
        "system_column": st.selectbox(
            tr("Column of the systems"),
            columns,
            index=columns.index(COLUMN) if COLUMN in columns else None,
            key="metric-system-column",
            placeholder=tr("None"),
            help=settings.help_text(OPTIONS["system_column"]),
        ),
        "entity_column": st.selectbox(
            tr("Column of accepted entity forms"),
            columns,
            index=None,
            key="metric-entity-column",
            placeholder=tr("None"),
            help=settings.help_text(OPTIONS["entity_column"]),
        ),
    }


def _scoring(start: Start) -> Scoring:
    """What all settings of the grid share, but the list of readings."""

    def at(name: str) -> dict[str, Any]:
        return start.at(name, inner="scoring")

    st.markdown(tr("**For all settings**"))
    kind = settings.segments(tr("Type of threshold"), OF_SCORING["threshold_kind"], **at("threshold-kind"))
    if kind == "quantile":
        threshold = settings.percent(
            tr("Low-frequency threshold"), THRESHOLDS[kind], **_of_kind(at("quantile"), kind), step=5
        )
    else:
        threshold = settings.number(
            tr("Low-frequency threshold (idf)"), THRESHOLDS[kind], **_of_kind(at("idf-value"), kind), step=0.5
        )
    chosen = {
        name: settings.segments(label, OF_SCORING[name], **at(name))
        for name, label in (
            ("criterion", tr("Apply penalty to")),
            ("pairing", tr("Comparison of readings")),
            ("unit", tr("Unit of matching")),
            ("reading_engine", tr("Source of readings")),
            ("reading_scope", tr("Unit of reading")),
            ("sounds", tr("Spellings of the same sound")),
        )
    }
    special = settings.segments(tr("Special tokens"), OF_SCORING["special_tokens"], **at("special-tokens"))
    match_special = settings.toggle(
        tr("Allow matches to special tokens"),
        OF_SCORING["match_special"],
        **at("special"),
        disabled=special == LEFT_OUT,
    )
    return Scoring(
        threshold=threshold, threshold_kind=kind, special_tokens=special, match_special=match_special, **chosen
    )


def _of_kind(at: dict[str, Any], kind: str) -> dict[str, Any]:
    """Key and first value of a threshold; the declared one where the preset's is of another kind."""
    is_of_kind = at["first"] is not None and at["first"].threshold_kind == kind
    return at if is_of_kind else {**at, "first": None}
