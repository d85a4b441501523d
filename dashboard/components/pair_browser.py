"""The pairs of a minimal-pairs run to look through: filters, a table, and the tokens of the chosen pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts.minimal_pairs import token_figure
from dashboard.components.accuracy_cards import ORDER
from dashboard.components.pair_table import OUTCOMES, filtered, pair_table
from dashboard.wording import measure_help, verbatim
from engine.evaluations.minimal_pairs import Result

TABLES_KEPT = 24
CARD_BY_NORMALIZATION = {
    "LP": "log_likelihood", "MeanLP": "mean_log_likelihood", "PenLP": "penalized_log_likelihood",
    "per character": "log_likelihood_per_character",
}


def pair_browser(run_id: str, result: Result, normalization: str, alpha: float) -> None:
    """Draw the filters and the table of one model's pairs; the pair that is chosen is shown token by token."""
    models = result.settings.models
    names = [name for name in pd.unique(result.pairs["category"]) if name]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        model = models[0]
        if len(models) > 1:
            model = st.pills("Model", models, default=models[0], required=True, format_func=verbatim,
                             key=f"minimal-pairs-model-{run_id}")
        outcomes = st.pills("Outcome", OUTCOMES, selection_mode="multi", key=f"minimal-pairs-outcomes-{run_id}")
        lengths = st.pills("Length", list(ORDER)[1:], selection_mode="multi", key=f"minimal-pairs-lengths-{run_id}",
                           format_func=ORDER.__getitem__)
        wanted = []
        if len(names) > 1:
            wanted = st.multiselect("Category", names, key=f"minimal-pairs-categories-{run_id}", width=280,
                                    format_func=verbatim, placeholder="All")
    shown = filtered(_table(run_id, model, normalization, alpha, result), outcomes=outcomes, strata=lengths,
                     categories=wanted)
    if shown.empty:
        st.caption("No pair is all of that at once.")
        return
    chosen = _choose(shown, normalization, bool(names), "-".join([run_id, model, *outcomes, *lengths, *wanted]))
    if chosen is None:
        st.caption("Choose a row to see the log-likelihood of each token.")
        return
    pair = shown.iloc[chosen]
    st.markdown(f"Row {pair['row']} · {pair['outcome']}: {verbatim(pair['acceptable'])} "
                f":gray[against {verbatim(pair['unacceptable'])}]")
    tokens = result.tokens
    st.plotly_chart(token_figure(tokens[(tokens["row"] == pair["row"]) & (tokens["model"] == model)]),
                    key="minimal-pairs-tokens", config={"displayModeBar": False},
                    alt="Log-likelihood of each token of both sentences")


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner=False)
def _table(run_id: str, model: str, normalization: str, alpha: float, _result: Result) -> pd.DataFrame:
    """The whole table, shared by all sessions: nobody writes into it."""
    return pair_table(_result, model, normalization, alpha)


def _choose(shown: pd.DataFrame, normalization: str, with_category: bool, key: str) -> int | None:
    """Draw the table; the place of the chosen row, or None. Another key, as of other filters, forgets the choice."""
    score_help = measure_help(CARD_BY_NORMALIZATION[normalization])
    columns: dict[str, Any] = {
        "row": st.column_config.NumberColumn("Row", width="small"),
        "outcome": st.column_config.TextColumn("Outcome", width="small"),
        "margin": st.column_config.NumberColumn("Margin", format="%.3f",
                                                help="Acceptable score minus unacceptable: right above 0."),
        "acceptable": st.column_config.TextColumn("Acceptable", width="medium"),
        "unacceptable": st.column_config.TextColumn("Unacceptable", width="medium"),
        "category": "Category",
    }
    for side, letter in (("acceptable", "A"), ("unacceptable", "U")):
        columns[f"{side}_score"] = st.column_config.NumberColumn(f"{normalization} of {letter}", format="%.3f",
                                                                 help=score_help)
        columns[f"{side}_tokens"] = st.column_config.NumberColumn(f"|{letter}|", help="The number of scored tokens.")
    state = st.dataframe(
        shown, hide_index=True, height=320, on_select="rerun", selection_mode="single-row", column_config=columns,
        column_order=[name for name in columns if name != "category" or with_category],
        key=f"minimal-pairs-table-{key}", alt="Pairs with both scores; choose one to see its tokens",
    )
    rows: Sequence[int] = state.selection.rows
    return rows[0] if rows and rows[0] < len(shown) else None
