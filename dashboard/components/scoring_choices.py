"""The choices of an alignment that never ask the model: idf, threshold, penalty, pairing, special tokens."""

from __future__ import annotations

import streamlit as st

from dashboard.wording import measure_help, verbatim
from engine.errors import InputError
from engine.evaluations.bertscore import PAIRINGS, PENALTIES, Result, Scoring
from engine.evaluations.dictionaries import BUILT_IN, dictionary_for

CHOICES = ("none", "references", *BUILT_IN)
IDF_HELP = """**none**: every token weighs the same. **references**: rareness among this run's references, as
bert_score does; with one pair all weights are 0. **novel**, **wiki**: rareness in a corpus, counted beforehand with
the model's tokenizer."""
PAIRING_HELP = """**token**: one M for each low-frequency token. **joined**: one for the readings of all of a
sentence's low-frequency tokens together, so that the pieces of a name count as the name."""
SPECIAL_HELP = "Whether a token may take [CLS] or [SEP] of the other sentence as its best match, as in bert_score."


def scoring_input(run_id: str, result: Result) -> Scoring:
    """What the widgets say, at first what the run was set to, or else the choices that show the penalty."""
    first = first_scoring(result)
    choices = CHOICES if first.idf in CHOICES else (*CHOICES, first.idf)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        idf = st.segmented_control("idf weights", choices, default=first.idf, required=True,
                                   key=f"alignment-idf-{run_id}", format_func=verbatim, help=IDF_HELP)
        weighed = idf != "none"
        penalty = st.segmented_control("Penalty", PENALTIES, default=first.penalty, required=True, disabled=not weighed,
                                       key=f"alignment-penalty-{run_id}",
                                       help=measure_help("agreement") if weighed else "It needs idf weights: they tell "
                                       "which tokens are low-frequency.")
        pairing = st.segmented_control("Readings compared", PAIRINGS, default=first.pairing, required=True,
                                       key=f"alignment-pairing-{run_id}", disabled=not weighed or penalty == "none",
                                       help=PAIRING_HELP)
        percent = st.slider("Not low-frequency", 0, 100, round(100 * first.threshold), step=5, format="%d %%",
                            key=f"alignment-threshold-{run_id}", disabled=not weighed, width=210,
                            help="The share of the dictionary's entries that is not low-frequency; the paper has 70 %.")
        special = st.toggle("Match special tokens", first.match_special, key=f"alignment-special-{run_id}",
                            help=SPECIAL_HELP)
    return Scoring(idf=idf, threshold=percent / 100, penalty=penalty if weighed else "none", pairing=pairing,
                   match_special=special)


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
