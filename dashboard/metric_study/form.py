"""The choices of the metric study page: the grid in the open, what all its settings share folded."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.shared.dictionaries import choices
from dashboard.shared.wording import show_error, verbatim
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import EngineError, InputError
from engine.evaluations.alignment.records import (
    CRITERIA,
    PAIRINGS,
    READING_ENGINES,
    READING_SCOPES,
    THRESHOLD_KINDS,
    UNITS,
    WITHOUT_DICTIONARY,
    Scoring,
)
from engine.evaluations.metric_study.human_gold import human_gold
from engine.evaluations.metric_study.records import IDFS, PENALTIES, POOLINGS, SCORES, Settings

PENALTY_LABELS = {"none": "without", "reading": "with"}
SCORE_LABELS = {"f1": "F1", "precision": "P", "recall": "R"}


def metric_settings(models: tuple[str, ...]) -> Settings:
    """Draws the choices, the paper's grid at first, and returns them with `models` as the settings of a run."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        known = _dictionaries()
        idfs = st.multiselect(
            "idf dictionaries", list(known), default=IDFS, accept_new_options=True, width=320,
            format_func=lambda idf: known.get(idf, idf), key="metric-study-idfs", persist_state="session",
            placeholder="Choose, or type and press Enter",
            help="The paper has novel and wiki. none: every token weighs the same. references: rareness among this "
            "dataset's references. The others were made on the corpora page; a file may be named, too. A model whose "
            "tokenizer a dictionary does not fit goes without it.")
        penalties = st.pills("Penalty", PENALTIES, selection_mode="multi", default=PENALTIES,
                             format_func=PENALTY_LABELS.__getitem__, key="metric-study-penalties",
                             persist_state="session",
                             help="By the readings of low-frequency tokens. Without a dictionary there is none.")
        score = st.segmented_control("Score", SCORES, format_func=SCORE_LABELS.__getitem__, default="f1", required=True,
                                     key="metric-study-score", persist_state="session",
                                     help="Which number of BERTScore is held against the humans.")
        layer = st.number_input("Layer", value=None, step=1, key="metric-study-layer", placeholder="the last",
                                width=130, persist_state="session",
                                help="0 = embeddings; -1 = the last, also when left empty.")
        with st.popover("More settings", icon=":material/tune:", key="metric-study-settings"):
            all_layers = st.toggle("Correlate at every layer, too", False, key="metric-study-layers",
                                   persist_state="session", help="Takes no second forward pass, but more memory.")
            beside = _beside()
            scoring = _scoring()
    return Settings(models, layer=layer, all_layers=all_layers, idfs=tuple(dict.fromkeys(idf.strip() for idf in idfs)),
                    penalties=tuple(name for name in PENALTIES if name in penalties), score=score, scoring=scoring,
                    **beside)


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
    surface = st.toggle("SentBLEU and chrF", True, key="metric-study-surface", persist_state="session")
    pooling = st.segmented_control("Cosine of sentence vectors", POOLINGS, default="mean", required=True,
                                   key="metric-study-pooling", persist_state="session",
                                   help="Mean over the tokens, or the first token's vector.")
    return {"surface": surface, "pooling": pooling}


def _scoring() -> Scoring:
    """What all settings of the grid share."""
    st.markdown("**In every setting**")
    kind = st.segmented_control("Low-frequency tokens begin at", THRESHOLD_KINDS, default="quantile", required=True,
                                key="metric-study-threshold-kind", persist_state="session",
                                help="quantile: a share of the dictionary's entries (the paper: 70 %). value: an idf.")
    if kind == "quantile":
        threshold = st.slider("Not low-frequency", 0, 100, 70, step=5, format="%d %%", key="metric-study-quantile",
                              persist_state="session") / 100
    else:
        threshold = st.number_input("idf in nats", 0.0, value=5.0, step=0.5, key="metric-study-idf-value",
                                    persist_state="session")
    chosen = {
        name: st.segmented_control(label, options, default=options[0], required=True, key=f"metric-study-{name}",
                                   persist_state="session", help=text)
        for name, label, options, text in (
            ("criterion", "The penalty concerns", CRITERIA, "Low-frequency tokens, as in the paper, or proper nouns."),
            ("pairing", "Readings compared", PAIRINGS, "token: one M for each. joined: one for all of a sentence."),
            ("unit", "Matched and weighed", UNITS, "The tokenizer's pieces, or words."),
            ("reading_engine", "Read by", READING_ENGINES, None),
            ("reading_scope", "What is read", READING_SCOPES, "The piece alone, or its word in the sentence."),
        )
    }
    special = st.toggle("Match special tokens", True, key="metric-study-special", persist_state="session",
                        help="Whether a token may take [CLS] or [SEP] as its best match, as in bert_score.")
    return Scoring(threshold=threshold, threshold_kind=kind, match_special=special, **chosen)
