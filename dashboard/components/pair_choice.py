"""The pairs of an alignment as a table to choose one from, and the chosen pair's scores as cards."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts.alignment import score_histogram
from dashboard.wording import measure_help, number_column

CARDS = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
DIGITS = 3


def choose_pair(pairs: pd.DataFrame, scores: pd.DataFrame, *, key: str, penalised: bool) -> pd.Series:
    """The chosen pair: its row of `Result.pairs` and of `Scores.pairs` in one; the first where none is chosen.

    `scores` are those of one model, so a pair that was left out for it does not stand in the table. A single
    pair needs no table.
    """
    table = pairs.merge(scores.drop(columns="model"), on="row")
    table["taken"] = table["f1"] - table["penalized_f1"]
    if len(table) == 1:
        return table.iloc[0]
    columns: dict[str, Any] = {
        "row": st.column_config.NumberColumn("Row", width="small"),
        "reference": st.column_config.TextColumn("Reference", width="medium"),
        "candidate": st.column_config.TextColumn("Candidate", width="medium"),
    }
    if table["category"].ne("").any():
        columns["category"] = "Category"
    columns |= {name: number_column(name, DIGITS) for name in (*CARDS, *(["penalized_f1"] if penalised else []))}
    if penalised:
        columns["taken"] = st.column_config.NumberColumn("F1 − F1′", format=f"%.{DIGITS}f",
                                                         help="What the penalty takes: sort by it.")
    if table["human"].notna().any():
        columns["human"] = st.column_config.NumberColumn("Human", help="The human score, as it stands in the file.")
    state = st.dataframe(
        table, hide_index=True, height=290, on_select="rerun", selection_mode="single-row-required",
        column_config=columns, column_order=list(columns), key=f"alignment-pairs-{key}",
        alt="Pairs with their scores; choose one to see it aligned",
    )
    with st.expander("How the scores are spread", icon=":material/bar_chart:"):
        st.plotly_chart(score_histogram(scores, penalised=penalised), key="alignment-histogram",
                        config={"displayModeBar": False}, alt="Histogram of F1 over all pairs")
    chosen = next(iter(state.selection.rows), 0)
    return table.iloc[chosen if chosen < len(table) else 0]


def score_cards(pair: pd.Series, *, penalised: bool) -> None:
    """P, R and F1 of a pair, and beside each what the penalty leaves: warm where it takes something."""
    with st.grid(3, min_column_width=150, gap="small"):
        for measure, label in CARDS.items():
            left = pair[f"penalized_{measure}"]
            st.metric(
                label, _number(pair[measure]), f"{_number(left)} with penalty" if penalised else None,
                delta_color="orange" if left < pair[measure] else "off", delta_arrow="off", border=True,
                help=measure_help(measure),
            )


def _number(value: float) -> str:
    return "undefined" if pd.isna(value) else f"{value:.{DIGITS}f}"
