"""The choices of an alignment that never ask the model: idf, threshold, penalty, readings, units, special tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from dashboard.shared import dictionaries
from dashboard.shared.inputs import settings
from dashboard.shared.inputs.own_readings import own_readings_input
from engine.evaluations.alignment.records import (
    LEFT_OUT,
    THRESHOLDS,
    WITHOUT_DICTIONARY,
    Result,
    Scoring,
)
from engine.evaluations.alignment.scoring import WITHOUT_IDF
from engine.evaluations.shared.dictionaries import BUILT_IN
from engine.options import options_of

OPTIONS = options_of(Scoring)
CRITERION_NAMES = {"idf": "low-frequency", "proper-nouns": "proper nouns"}
PENALTY_NAMES = {"reading": "as in the paper", "names": "names by reading"}
ENGINE_NAMES = {"pykakasi": "pykakasi", "unidic": "UniDic"}


def scoring_input(place: str, result: Result, first: Scoring, beside: Callable[[], None] | None = None) -> Scoring:
    """What the widgets say; at first `first`.

    place: the end of their keys. beside: draws what stands among the choices but is none of a scoring's, such as the
    layer.
    """
    offered = dictionaries_offered(result)

    def at(name: str) -> dict[str, Any]:
        """The key holds the run, so that another run begins with its own scoring; nothing else keeps it."""
        return {"key": f"alignment-{name}-{place}", "first": first, "persist_state": None}

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        idf = settings.one_of("idf weights", OPTIONS["idf"], offered, **at("idf"), width=300)
        weighted = idf != "none"
        penalty = settings.segments("Readings", OPTIONS["penalty"], words=PENALTY_NAMES, **at("penalty"))
        penalised = penalty == "reading"
        criterion = settings.segments("on", OPTIONS["criterion"], words=CRITERION_NAMES, **at("criterion"),
                                      disabled=not penalised, wrap=True)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        # The popover stands last in the row, and its first choice decides what the slider before it is.
        slider = st.container(width=230)
        if beside is not None:
            beside()
        with st.popover("More choices", icon=":material/tune:", key=f"alignment-more-{place}"):
            unit = settings.segments("Matched and weighted", OPTIONS["unit"], **at("unit"))
            kind = settings.segments("Threshold", OPTIONS["threshold_kind"], **at("threshold-kind"),
                                     disabled=not weighted)
            engine = settings.segments("Read by", OPTIONS["reading_engine"], words=ENGINE_NAMES, **at("engine"))
            scope = settings.segments("What is read", OPTIONS["reading_scope"], **at("scope"))
            pairing = settings.segments("Readings compared", OPTIONS["pairing"], **at("pairing"),
                                        disabled=not penalised)
            sounds = settings.segments("Spellings of one sound", OPTIONS["sounds"], **at("sounds"),
                                       disabled=penalty == "none")
            readings = own_readings_input("Readings of your own", OPTIONS["readings"], **at("readings"))
            special = settings.segments("Special tokens", OPTIONS["special_tokens"], **at("special-tokens"))
            match_special = settings.toggle("Match special tokens", OPTIONS["match_special"], **at("special"),
                                            disabled=special == LEFT_OUT)
        with slider:
            threshold = _threshold(first, kind, place, disabled=not weighted)
    possible = weighted or not penalised or criterion in WITHOUT_IDF
    if penalised and not possible:
        st.caption(":material/info: Without idf weights no token is low-frequency: choose a dictionary, or the penalty "
                   "on proper nouns or names.")
    return Scoring(idf=idf, threshold=threshold, threshold_kind=kind, penalty=penalty if possible else "none",
                   criterion=criterion, pairing=pairing, special_tokens=special, match_special=match_special,
                   reading_engine=engine, reading_scope=scope, sounds=sounds, readings=readings, unit=unit)


def dictionaries_offered(result: Result) -> Mapping[str, str]:
    """What may be chosen as idf -> how to call it: what fits every model of the run, and what the run was set to."""
    first = result.settings.scoring.idf
    fitting = dictionaries.choices(result.tokenizers.values())
    built_in = {name: name for name in BUILT_IN}  # one that does not fit says so when it is chosen
    named = {first: dictionaries.label(first)} if first not in WITHOUT_DICTIONARY else {}
    return {**{name: name for name in WITHOUT_DICTIONARY}, **built_in, **named, **fitting}


def _threshold(first: Scoring, kind: str, place: str, *, disabled: bool) -> float:
    """A slider for the kind of threshold; it begins at the first scoring's only where that is of the same kind."""
    option, key = THRESHOLDS[kind], f"alignment-threshold-{place}"
    look: dict[str, Any] = {"first": first if first.threshold_kind == kind else None, "disabled": disabled,
                            "persist_state": None}
    if kind == "quantile":
        return settings.percent("Not low-frequency", option, key=key, step=5, **look)
    return float(settings.slider("Low-frequency above an idf of", option, key=f"{key}-value", step=0.1, **look))
