"""The choices of an alignment that never ask the model: idf, threshold, penalty, readings, units, special tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from dashboard.shared import dictionaries
from dashboard.shared.wording import measure_help, verbatim
from engine.errors import InputError
from engine.evaluations.alignment.records import (
    CRITERIA,
    PAIRINGS,
    PENALTIES,
    READING_ENGINES,
    READING_SCOPES,
    THRESHOLD_KINDS,
    UNITS,
    WITHOUT_DICTIONARY,
    Result,
    Scoring,
)
from engine.evaluations.shared.dictionaries import BUILT_IN, dictionary_for

GREATEST_IDF = 15.0
CRITERION_NAMES = {"idf": "low-frequency", "proper-nouns": "proper nouns"}
ENGINE_NAMES = {"pykakasi": "pykakasi", "unidic": "UniDic"}
IDF_HELP = """**none**: every token weighs the same. **references**: rareness among this run's references, as
bert_score does; with one pair all weights are 0. **novel**, **wiki** and your own: rareness in a corpus, counted
beforehand with the model's tokenizer (corpora page)."""
THRESHOLD_HELP = """Above it a token is low-frequency. **quantile**: the share of the dictionary's entries that is not;
the paper has 70 %. **value**: an idf, in nats."""
CRITERION_HELP = """Whose readings are compared. **low-frequency**: as in the paper. **proper nouns**: what MeCab tags
as names, which the paper suggests next, because rare words such as ハンター are no names."""
PAIRING_HELP = """**token**: one M for each of these tokens. **joined**: one for the readings of all of a
sentence's together, so that the pieces of a name count as the name."""
ENGINE_HELP = "pykakasi reads a string by itself; UniDic (MeCab) is a second opinion, and knows a word's sentence."
SCOPE_HELP = """**piece**: the token alone (斉 is せい). **word**: the whole word it belongs to (斉藤 is さいとう). A
token that crosses words joins them."""
UNIT_HELP = """**subword**: the tokenizer's pieces. **word**: MeCab's words; two are as alike as their pieces are in
the mean, and a word weighs what its pieces weigh together."""
SPECIAL_HELP = "Whether a token may take [CLS] or [SEP] of the other sentence as its best match, as in bert_score."


def scoring_input(run_id: str, result: Result, first: Scoring | None = None,
                  beside: Callable[[], None] | None = None) -> Scoring:
    """What the widgets say; at first `first`, or what the run was set to, or else the choices that show the penalty.

    beside: draws what stands among the choices but is none of a scoring's, such as the layer.
    """
    first = first or first_scoring(result)
    offered = _dictionaries(result, first.idf)

    def key(name: str) -> str:
        return f"alignment-{name}-{run_id}"

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        options = list(offered)
        pick = st.segmented_control if len(options) <= 5 else st.selectbox
        chosen = ({"default": first.idf, "required": True, "wrap": True} if pick is st.segmented_control
                  else {"index": options.index(first.idf), "width": 300})
        idf = pick("idf weights", options, key=key("idf"), help=IDF_HELP, **chosen,  # type: ignore[operator]
                   format_func=lambda choice: verbatim(offered[choice]))
        weighed = idf != "none"
        penalty = st.segmented_control("Penalty", PENALTIES, default=first.penalty, required=True, key=key("penalty"),
                                       help=measure_help("agreement"))
        penalised = penalty != "none"
        criterion = st.segmented_control("on", CRITERIA, default=first.criterion, required=True, key=key("criterion"),
                                         format_func=lambda choice: CRITERION_NAMES.get(choice, choice),
                                         disabled=not penalised, help=CRITERION_HELP, wrap=True)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        # The popover stands last in the row, and its first choice decides what the slider before it is.
        slider = st.container(width=230)
        if beside is not None:
            beside()
        with st.popover("More choices", icon=":material/tune:", key=key("more")):
            unit = st.segmented_control("Matched and weighed", UNITS, default=first.unit, required=True,
                                        key=key("unit"), help=UNIT_HELP)
            kind = st.segmented_control("Threshold", THRESHOLD_KINDS, default=first.threshold_kind, required=True,
                                        key=key("threshold-kind"), disabled=not weighed, help=THRESHOLD_HELP)
            engine = st.segmented_control("Read by", READING_ENGINES, default=first.reading_engine, required=True,
                                          format_func=ENGINE_NAMES.__getitem__, key=key("engine"), help=ENGINE_HELP)
            scope = st.segmented_control("What is read", READING_SCOPES, default=first.reading_scope, required=True,
                                         key=key("scope"), help=SCOPE_HELP)
            pairing = st.segmented_control("Readings compared", PAIRINGS, default=first.pairing, required=True,
                                           key=key("pairing"), disabled=not penalised, help=PAIRING_HELP)
            special = st.toggle("Match special tokens", first.match_special, key=key("special"), help=SPECIAL_HELP)
        with slider:
            threshold = _threshold(first, kind, key("threshold"), disabled=not weighed)
    possible = weighed or criterion == "proper-nouns"
    if penalised and not possible:
        st.caption(":material/info: Without idf weights no token is low-frequency: choose a dictionary, or the penalty "
                   "on proper nouns.")
    return Scoring(idf=idf, threshold=threshold, threshold_kind=kind, penalty=penalty if possible else "none",
                   criterion=criterion, pairing=pairing, match_special=special, reading_engine=engine,
                   reading_scope=scope, unit=unit)


def first_scoring(result: Result) -> Scoring:
    """What a run is first shown with: its own scoring, if it was given one.

    Else the penalty with the novel dictionary where there is one for every model's tokenizer, else with the
    references where there are several, else plain BERTScore.
    """
    given = result.settings.scoring
    if given != Scoring():
        return given
    try:
        for model, tokenizer in result.tokenizers.items():
            dictionary_for(BUILT_IN[0], tokenizer, model)
    except InputError:
        return Scoring(idf="references", penalty="reading") if len(result.pairs) > 1 else given
    return Scoring(idf=BUILT_IN[0], penalty="reading")


def _dictionaries(result: Result, first: str) -> Mapping[str, str]:
    """What may be chosen as idf -> how to call it: what fits every model of the run, and what the run was set to."""
    fitting = dictionaries.choices(result.tokenizers.values())
    built_in = {name: name for name in BUILT_IN}  # one that does not fit says so when it is chosen
    named = {first: dictionaries.label(first)} if first not in WITHOUT_DICTIONARY else {}
    return {**{name: name for name in WITHOUT_DICTIONARY}, **built_in, **named, **fitting}


def _threshold(first: Scoring, kind: str, key: str, *, disabled: bool) -> float:
    if kind == "value":
        value = first.threshold if first.threshold_kind == "value" else 3.0
        return st.slider("Low-frequency above an idf of", 0.0, max(GREATEST_IDF, value), value, 0.1,
                         key=f"{key}-value", disabled=disabled)
    share = first.threshold if first.threshold_kind == "quantile" else Scoring().threshold
    percent = st.slider("Not low-frequency", 0, 100, round(100 * share), step=5, format="%d %%", key=key,
                        disabled=disabled)
    return percent / 100
