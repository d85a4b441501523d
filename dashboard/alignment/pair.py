"""One aligned pair: its scores and the effect of the penalty, its references, tokens and similarities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.alignment.charts import heat_map, pair_tokens
from dashboard.alignment.names_summary import names_summary
from dashboard.alignment.pair_choice import CARDS, DIGITS
from dashboard.alignment.penalty_summary import penalty_summary
from dashboard.alignment.printed.drawing import AlignmentDrawing
from dashboard.alignment.similarities.component import similarity_matrix
from dashboard.alignment.view import view_data
from dashboard.shared.exports.print.files import Drawing
from dashboard.shared.wording import measure_help, verbatim
from engine.datasets.sentence_pairs import reference_column
from engine.evaluations.alignment.records import Result, Scoring
from engine.evaluations.alignment.rescoring import Scores, matrix
from engine.evaluations.alignment.token_table import SIDES
from engine.messages.languages import mark, tr
from engine.messages.message import Message

# What the second number of a score is called, by the penalty.
BESIDE = {"reading": mark("{value} with penalty"), "names": mark("{value} names by reading")}
# On a phone the view's list of matches takes the place of the heat map.
PHONE_STYLE = (
    "<style>@media (max-width: 640px) { [class*='st-key-alignment-similarities-'] { display: none; } }</style>"
)
# Why a pair has no score, by side.
NO_TOKEN = {
    "reference": mark("This pair has no score: the tokenizer gives no token for the reference."),
    "candidate": mark("This pair has no score: the tokenizer gives no token for the candidate."),
}
NO_WEIGHT = {
    "reference": mark(
        "This pair has no score: every token of the reference has weight 0, because each is in every "
        "document of the dictionary. Choose another dictionary, or none."
    ),
    "candidate": mark(
        "This pair has no score: every token of the candidate has weight 0, because each is in every "
        "document of the dictionary. Choose another dictionary, or none."
    ),
}
NO_WEIGHT_BY_REFERENCES = {
    "reference": mark(
        "This pair has no score: every token of the reference has weight 0, because each is in every "
        "reference of this run. Choose another dictionary, or none."
    ),
    "candidate": mark(
        "This pair has no score: every token of the candidate has weight 0, because each is in every "
        "reference of this run. Choose another dictionary, or none."
    ),
}
NO_MATCH = {
    "reference": mark("This pair has no score: no token of the reference has a token to match."),
    "candidate": mark("This pair has no score: no token of the candidate has a token to match."),
}


@dataclass(frozen=True, eq=False)
class AlignedPair:
    """A pair, a row of `pair_choice.pair_table`, as one model aligns it: its tokens and their similarities."""

    run_id: str
    pair: pd.Series
    tokens: pd.DataFrame
    similarities: np.ndarray
    scoring: Scoring
    threshold: float


def aligned_pair(run_id: str, result: Result, scores: Scores, pair: pd.Series, model: str, layer: int) -> AlignedPair:
    """A pair as one model aligns it at one layer."""
    row, unit = int(pair["row"]), scores.scoring.unit
    similarities = matrix(result, model, row, layer, reference=int(pair["best_reference"]), unit=unit)
    return AlignedPair(
        run_id, pair, pair_tokens(scores, model, row), similarities, scores.scoring, scores.thresholds[model]
    )


def pair_view(aligned: AlignedPair) -> tuple[dict[str, Any], dict[str, Drawing]]:
    """Draw a pair's scores, the effect of the penalty and its references; the data of its view, and that for print."""
    score_cards(aligned.pair, penalty=aligned.scoring.penalty)
    _penalty_note(aligned.pair, aligned.tokens, aligned.scoring)
    references(aligned.pair)
    data = view_data(aligned.tokens, aligned.similarities, aligned.threshold, aligned.scoring)
    return data, {Message("Alignment of row {row}", row=aligned.pair["row"]): AlignmentDrawing(data)}


def similarities_view(aligned: AlignedPair) -> dict[str, go.Figure]:
    """Draw the similarities of a pair; returns their heat map for downloads by its caption."""
    figure = heat_map(aligned.similarities, aligned.tokens)
    title = tr("Similarities of all words") if aligned.scoring.unit == "word" else tr("Similarities of all tokens")
    st.html(PHONE_STYLE)
    with st.expander(title, expanded=True, icon=":material/grid_on:", key=f"alignment-similarities-{aligned.run_id}"):
        similarity_matrix(aligned.similarities, aligned.tokens, key=f"alignment-heat-map-{aligned.run_id}")
    return {Message("Similarities of row {row}: reference across, candidate down", row=aligned.pair["row"]): figure}


def score_cards(pair: pd.Series, *, penalty: str) -> None:
    """Draw P, R and F1 of a pair, each with its penalised value, in the warm colour where that is lower."""
    with st.grid(3, min_column_width=150, gap="small"):
        for measure, label in CARDS.items():
            penalised_score = pair[f"penalized_{measure}"]
            st.metric(
                tr(label),
                _number(pair[measure]),
                (
                    tr(BESIDE[penalty], value=_number(penalised_score))
                    if penalty in BESIDE and not np.isnan(pair[measure])
                    else None
                ),
                delta_color="orange" if penalised_score < pair[measure] else "off",
                delta_arrow="off",
                border=True,
                help=measure_help(measure),
            )


def references(pair: pd.Series) -> None:
    """Draw which of several references the tokens belong to; nothing where there is only one."""
    numbered = [(1, pair["reference"])] + [
        (number, pair[reference_column(number)]) for number in range(2, len(pair)) if pair.get(reference_column(number))
    ]
    if len(numbered) == 1:
        return
    best = int(pair["best_reference"])
    st.caption(
        ":material/military_tech: "
        + tr(
            "Reference {best} of {n} has the highest F1; its tokens are shown. P, R and F1 are each the highest over all "
            "references, as in bert_score.",
            best=best,
            n=len(numbered),
        )
    )
    with st.expander(tr("All references"), icon=":material/format_list_numbered:"):
        mark_of_best = f" :orange[{tr('highest F1')}]"
        st.markdown(
            "\n".join(
                f"{number}. {verbatim(text)}{mark_of_best if number == best else ''}" for number, text in numbered
            )
        )


def undefined_reason(tokens: pd.DataFrame, scoring: Scoring) -> str:
    """Why a pair has no F1, in one sentence; `tokens` are those of the pair."""
    for side in SIDES:
        words = tokens[(tokens["side"] == side) & ~tokens["special"]]
        if words.empty:
            return tr(NO_TOKEN[side])
        if scoring.idf != "none" and not (words["idf"] > 0).any():
            return tr(NO_WEIGHT_BY_REFERENCES[side] if scoring.idf == "references" else NO_WEIGHT[side])
        if (words["match_position"] < 0).all():
            return tr(NO_MATCH[side])
    return tr("This pair has no score: its P and R sum to 0.")


def _penalty_note(pair: pd.Series, tokens: pd.DataFrame, scoring: Scoring) -> None:
    """Draw the effect of the penalty, or why there is no score."""
    if np.isnan(pair["f1"]):
        st.warning(verbatim(undefined_reason(tokens, scoring)), icon=":material/block:")
        return
    if scoring.penalty == "none":
        return
    summary = verbatim(
        names_summary(pair, tokens)
        if scoring.penalty == "names"
        else penalty_summary(pair, tokens, joined=scoring.pairing == "joined", criterion=scoring.criterion)
    )
    # An undefined penalised F1 is the strongest effect of the penalty.
    if pair["f1"] > pair["penalized_f1"] or np.isnan(pair["penalized_f1"]):
        st.warning(summary, icon=":material/record_voice_over:")
    else:
        st.caption(":material/record_voice_over: " + summary)


def _number(value: float) -> str:
    return tr("undefined") if pd.isna(value) else f"{value:.{DIGITS}f}"
