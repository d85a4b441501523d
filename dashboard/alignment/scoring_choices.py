"""The choices of an alignment that never ask the model: idf, threshold, penalty, readings, units, special tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.alignment.own_readings.long_list import fits_link, offer_run
from dashboard.shared import dictionaries
from dashboard.shared.inputs import presets, settings
from dashboard.shared.inputs.own_readings import own_readings_input
from dashboard.shared.wording import verbatim
from engine.evaluations.alignment.records import (
    LEFT_OUT,
    THRESHOLDS,
    WITHOUT_DICTIONARY,
    Result,
    Scoring,
    Settings,
)
from engine.evaluations.alignment.scoring import WITHOUT_IDF
from engine.messages.languages import tr
from engine.options import options_of

OPTIONS = options_of(Scoring)


def scoring_input(
    run_id: str,
    place: str,
    result: Result,
    first: Scoring,
    begin: Callable[[Settings], None],
    beside: Callable[[], None] | None = None,
) -> Scoring:
    """What the widgets say; at first `first`.

    place: the end of their keys. begin: called with the settings of a preset, to show the result with its scoring.
    beside: draws what stands among the choices but is not part of the scoring, such as the layer.
    """
    offered = dictionaries_offered(result)

    def at(name: str) -> dict[str, Any]:
        """The key holds the run, so that another run begins with its own scoring; nothing else keeps it."""
        return {"key": f"alignment-{name}-{place}", "first": first, "persist_state": None}

    penalty = settings.segments(tr("Penalty by readings"), OPTIONS["penalty"], **at("penalty"))
    penalised = penalty == "reading"
    chosen_idf = st.session_state.get(f"alignment-idf-{place}", first.idf)
    with st.expander(
        tr("Scoring: idf {idf}", idf=verbatim(offered.get(chosen_idf, chosen_idf))),
        icon=":material/scoreboard:",
        key=f"alignment-scoring-{place}",
        on_change="rerun",
    ):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            idf = settings.one_of(tr("idf weights"), OPTIONS["idf"], offered, **at("idf"), width=300)
            if not dictionaries.choices(result.tokenizers.values()):
                dictionaries.build_link(f"alignment-build-{place}")
            weighted = idf != "none"
            criterion = settings.segments(
                tr("Apply penalty to"), OPTIONS["criterion"], **at("criterion"), disabled=not penalised, wrap=True
            )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            # The popover stands last in the row, and its first choice decides what the slider before it is.
            slider = st.container(width=190)
            if beside is not None:
                beside()
            with st.popover(tr("Advanced options"), icon=":material/tune:", key=f"alignment-more-{place}"):
                unit = settings.segments(tr("Unit of matching"), OPTIONS["unit"], **at("unit"))
                kind = settings.segments(
                    tr("Type of threshold"), OPTIONS["threshold_kind"], **at("threshold-kind"), disabled=not weighted
                )
                engine = settings.segments(tr("Source of readings"), OPTIONS["reading_engine"], **at("engine"))
                scope = settings.segments(tr("Unit of reading"), OPTIONS["reading_scope"], **at("scope"))
                pairing = settings.segments(
                    tr("Comparison of readings"), OPTIONS["pairing"], **at("pairing"), disabled=not penalised
                )
                sounds = settings.segments(
                    tr("Spellings of the same sound"), OPTIONS["sounds"], **at("sounds"), disabled=penalty == "none"
                )
                special = settings.segments(tr("Special tokens"), OPTIONS["special_tokens"], **at("special-tokens"))
                match_special = settings.toggle(
                    tr("Allow matches to special tokens"),
                    OPTIONS["match_special"],
                    **at("special"),
                    disabled=special == LEFT_OUT,
                )
            readings = own_readings_input(OPTIONS["readings"], key=f"alignment-readings-{place}", first=first)
            head = presets.head()
            with slider:
                threshold = _threshold(first, kind, place, disabled=not weighted)
    possible = weighted or not penalised or criterion in WITHOUT_IDF
    if penalised and not possible:
        st.caption(
            ":material/info: "
            + tr(
                "Without idf weights no token is low-frequency: choose a dictionary, or "
                "apply the penalty to proper nouns or names."
            )
        )
    scoring = Scoring(
        idf=idf,
        threshold=threshold,
        threshold_kind=kind,
        penalty=penalty if possible else "none",
        criterion=criterion,
        pairing=pairing,
        special_tokens=special,
        match_special=match_special,
        reading_engine=engine,
        reading_scope=scope,
        sounds=sounds,
        readings=readings,
        unit=unit,
    )
    if not fits_link(readings, result):
        offer_run(run_id, scoring)
        scoring = replace(scoring, readings=result.settings.scoring.readings)
    presets.choice(
        head,
        "alignment",
        replace(result.settings, scoring=scoring),
        begin,
        key="-shown",
        part=lambda settings: settings.scoring,
    )
    return scoring


def dictionaries_offered(result: Result) -> Mapping[str, str]:
    """What may be chosen as idf -> how to call it: what fits every model of the run, and what the run was set to."""
    first = result.settings.scoring.idf
    fitting = dictionaries.choices(result.tokenizers.values(), words=True)
    named = {first: dictionaries.label(first)} if first not in WITHOUT_DICTIONARY else {}
    return {**dictionaries.without_dictionary(), **named, **fitting}


def _threshold(first: Scoring, kind: str, place: str, *, disabled: bool) -> float:
    """A slider for the kind of threshold; it begins at the first scoring's only where that is of the same kind."""
    option, key = THRESHOLDS[kind], f"alignment-threshold-{place}"
    look: dict[str, Any] = {
        "first": first if first.threshold_kind == kind else None,
        "disabled": disabled,
        "persist_state": None,
    }
    if kind == "quantile":
        return settings.percent(tr("Low-frequency threshold"), option, key=key, step=5, **look)
    return float(settings.slider(tr("Low-frequency threshold (idf)"), option, key=f"{key}-value", step=0.1, **look))
