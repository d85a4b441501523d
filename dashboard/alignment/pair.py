"""One aligned pair in the open: its scores and what the penalty did, its references, its tokens, its similarities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.alignment.charts import heat_map, pair_tokens
from dashboard.alignment.pair_choice import CARDS, DIGITS
from dashboard.alignment.penalty_words import penalty_sentence
from dashboard.alignment.view import alignment_view, view_data
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.wording import measure_help, verbatim
from engine.datasets.sentence_pairs import reference_column
from engine.evaluations.alignment.records import Result, Scoring
from engine.evaluations.alignment.rescoring import Scores, matrix
from engine.evaluations.alignment.token_table import SIDES


@dataclass(frozen=True, eq=False)
class Shown:
    """A pair, a line of `pair_choice.pair_table`, as one model aligns it: its tokens and their similarities."""

    run_id: str
    pair: pd.Series
    tokens: pd.DataFrame
    similarities: np.ndarray
    scoring: Scoring
    threshold: float


def shown_pair(run_id: str, result: Result, scores: Scores, pair: pd.Series, model: str, layer: int) -> Shown:
    """What is to be drawn of a pair under one model at one layer."""
    row, unit = int(pair["row"]), scores.scoring.unit
    similarities = matrix(result, model, row, layer, reference=int(pair["best_reference"]), unit=unit)
    return Shown(run_id, pair, pair_tokens(scores, model, row), similarities, scores.scoring, scores.thresholds[model])


def pair_view(shown: Shown) -> None:
    """Draw a pair's scores, what the penalty did to them, its references and its tokens."""
    score_cards(shown.pair, penalised=shown.scoring.penalty == "reading")
    _explained(shown.pair, shown.tokens, shown.scoring)
    references(shown.pair)
    alignment_view(view_data(shown.tokens, shown.similarities, shown.threshold, shown.scoring),
                   key=f"alignment-view-{shown.run_id}")


def similarities_view(shown: Shown, signature: dict[str, Any]) -> dict[str, go.Figure]:
    """Draw the heat map of a pair; returns it by its caption."""
    figure = heat_map(shown.similarities, shown.tokens)
    with st.expander(f"Similarity of every {'word' if shown.scoring.unit == 'word' else 'token'} to every other",
                     expanded=True, icon=":material/grid_on:"):
        st.plotly_chart(figure, key=f"alignment-heat-map-{shown.run_id}", config=camera("similarities", signature),
                        alt="Similarity of every token of the reference to every token of the candidate")
    return {f"Similarities of row {shown.pair['row']}: reference across, candidate down": figure}


def score_cards(pair: pd.Series, *, penalised: bool) -> None:
    """P, R and F1 of a pair, and beside each what the penalty leaves: warm where it takes something."""
    with st.grid(3, min_column_width=150, gap="small"):
        for measure, label in CARDS.items():
            left = pair[f"penalized_{measure}"]
            st.metric(
                label, _number(pair[measure]),
                f"{_number(left)} with penalty" if penalised and not np.isnan(pair[measure]) else None,
                delta_color="orange" if left < pair[measure] else "off", delta_arrow="off", border=True,
                help=measure_help(measure),
            )


def references(pair: pd.Series) -> None:
    """Which of several references the tokens are of; nothing where there is one only."""
    held = [(1, pair["reference"])] + [(number, pair[reference_column(number)]) for number in range(2, len(pair))
                                       if pair.get(reference_column(number))]
    if len(held) == 1:
        return
    shown = int(pair["best_reference"])
    st.caption(f":material/military_tech: Reference {shown} of {len(held)} won: its F1 is the greatest, and its tokens "
               "are shown. P, R and F1 are each the greatest over all references, as in bert_score.")
    with st.expander("All references", icon=":material/format_list_numbered:"):
        st.markdown("\n".join(f"{number}. {verbatim(text)}" + (" :orange[won]" if number == shown else "")
                              for number, text in held))


def undefined_reason(tokens: pd.DataFrame, scoring: Scoring) -> str:
    """Why a pair has no F1, in one sentence; `tokens` are those of the pair."""
    for side in SIDES:
        words = tokens[(tokens["side"] == side) & ~tokens["special"]]
        if words.empty:
            return f"This pair has no score: the tokenizer makes no token of the {side}."
        if scoring.idf != "none" and not (words["idf"] > 0).any():
            known = ("this run's references" if scoring.idf == "references" else "the dictionary")
            return (f"This pair has no score: every token of the {side} weighs 0, for each is in every document of "
                    f"{known}. Choose another dictionary, or none.")
        if (words["match_position"] < 0).all():
            return f"This pair has no score: no token of the {side} has anything to match with."
    return "This pair has no score: its P and R sum to 0."


def _explained(pair: pd.Series, tokens: pd.DataFrame, scoring: Scoring) -> None:
    """What the penalty did, or why there is no score at all."""
    if np.isnan(pair["f1"]):
        st.warning(verbatim(undefined_reason(tokens, scoring)), icon=":material/block:")
        return
    if scoring.penalty != "reading":
        return
    said = verbatim(penalty_sentence(pair, tokens, joined=scoring.pairing == "joined", criterion=scoring.criterion))
    # An undefined F1 is the most that a penalty can take.
    if pair["f1"] > pair["penalized_f1"] or np.isnan(pair["penalized_f1"]):
        st.warning(said, icon=":material/record_voice_over:")
    else:
        st.caption(f":material/record_voice_over: {said}")


def _number(value: float) -> str:
    return "undefined" if pd.isna(value) else f"{value:.{DIGITS}f}"
