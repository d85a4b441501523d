"""The pairs of an alignment to look through: searched, filtered, put in order; the chosen row is the pair on show."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.exports.signing import digest
from dashboard.shared.wording import number_column, verbatim
from engine.datasets.sentence_pairs import HUMAN
from engine.language.quantities import count

CARDS = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
DIGITS = 3
# The browser is sent no more rows than this; the search and the order reach the others.
ROWS_SENT = 10_000
# How the pairs may be put in order: what a reader sees -> column and whether the smallest comes first.
BY_PENALTY = "penalty takes most"
ORDERS: dict[str, tuple[str, bool]] = {
    "as in the file": ("row", True), BY_PENALTY: ("taken", False), "lowest F1": ("f1", True),
    "highest F1": ("f1", False),
}


def pair_table(pairs: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Every pair with its scores, a line each: the columns of `Result.pairs` and of one model's `Scores.pairs`.

    Also `taken`, what the penalty takes off F1; `best_reference` is the number of the reference that the tokens
    are of. A pair that was left out for the model does not stand in the table.
    """
    table = pairs.merge(scores.drop(columns="model"), on="row")
    table["taken"] = table["f1"] - table["penalized_f1"]
    return table


def found(table: pd.DataFrame, *, text: str = "", categories: Collection[str] = (), order: str = "as in the file"
          ) -> pd.DataFrame:
    """The pairs of which a sentence holds `text` (in either case) and that are of one of the categories, in an order.

    An empty choice lets all pass; a pair without the number that orders stands last. Raises KeyError for no order.
    """
    column, ascending = ORDERS[order]
    if text.strip():
        sentences = [name for name in table.columns if name.startswith(("reference", "candidate"))]
        holds = [table[name].str.contains(text.strip(), case=False, regex=False) for name in sentences]
        table = table[pd.concat(holds, axis=1).any(axis=1)]
    if categories:
        table = table[table["category"].isin(list(categories))]
    return table.sort_values(column, ascending=ascending, kind="stable", na_position="last")


def choose_pair(table: pd.DataFrame, run_id: str, *, penalised: bool) -> pd.Series | None:
    """Draw the search and the table; the chosen line of `table`, the first where none is chosen, None where none is.

    A single pair needs no table.
    """
    if len(table) == 1:
        return table.iloc[0]
    text, categories, order = _filters(table, run_id, penalised=penalised)
    shown = found(table, text=text, categories=categories, order=order)
    if shown.empty:
        st.caption("No pair is all of that at once.")
        return None
    counted = f"{len(shown):,} of {count(len(table), 'pair')}" if len(shown) < len(table) else count(len(table), "pair")
    cut = f"; the first {ROWS_SENT:,} in this order are listed" if len(shown) > ROWS_SENT else ""
    st.caption(f"{counted}{cut}. Choose a row to see it aligned; a column's head sorts.")
    shown = shown.head(ROWS_SENT)
    asked, times = st.session_state.get(_asked_key(run_id), (None, 0))
    places = [place for place, row in enumerate(shown["row"].tolist()) if row == asked]
    columns = _columns(shown, penalised=penalised)
    state = st.dataframe(
        shown, hide_index=True, height=290 if len(shown) > 6 else "auto", on_select="rerun",
        selection_mode="single-row-required", selection_default={"selection": {"rows": places[:1] or [0]}},
        column_config=columns, column_order=list(columns),
        placeholder="–", alt="Pairs with their scores; choose one to see it aligned",
        key=table_key(run_id, text, categories, order, times),
    )
    chosen = next(iter(state.selection.rows), places[0] if places else 0)
    return shown.iloc[chosen if chosen < len(shown) else 0]


def table_key(run_id: str, text: str = "", categories: Collection[str] = (), order: str = "as in the file",
              times: int = 0) -> str:
    """The key of the table under these filters, after so many wishes of `ask_for`.

    Other filters make another table, in which an old choice would be some other pair; and so does what is asked for.
    """
    return f"alignment-pairs-{run_id}-{digest({'filters': [text, list(categories), order], 'asked': times})}"


def ask_for(run_id: str, row: int) -> None:
    """Choose a pair from elsewhere on the page, in a callback: the table shows those that the penalty changes most."""
    _, times = st.session_state.get(_asked_key(run_id), (None, 0))
    st.session_state[_asked_key(run_id)] = row, times + 1
    for name, value in (("search", ""), ("categories", []), ("order", BY_PENALTY)):
        st.session_state[_filter_key(name, run_id)] = value


def _filters(table: pd.DataFrame, run_id: str, *, penalised: bool) -> tuple[str, list[str], str]:
    names = [name for name in pd.unique(table["category"]) if name]
    orders = [name for name in ORDERS if name != BY_PENALTY or penalised]

    def key(name: str) -> dict[str, Any]:
        # What was asked for from elsewhere stands as long as nothing else is.
        return {"key": _filter_key(name, run_id), "persist_state": "session", "on_change": _forget, "args": (run_id,)}

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        text = st.text_input("Search", placeholder="in either sentence", width=230, icon=":material/search:",
                             **key("search"))
        order = st.selectbox("Order", orders, width=210, **key("order"))
        categories = []
        if len(names) > 1:
            categories = st.multiselect("Category", names, width=280, format_func=verbatim, placeholder="All",
                                        **key("categories"))
    return text or "", categories, order or orders[0]


def _forget(run_id: str) -> None:
    _, times = st.session_state.get(_asked_key(run_id), (None, 0))
    st.session_state[_asked_key(run_id)] = None, times


def _filter_key(name: str, run_id: str) -> str:
    return f"alignment-{name}-{run_id}"


def _columns(table: pd.DataFrame, *, penalised: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "row": st.column_config.NumberColumn("Row", width="small"),
        "reference": st.column_config.TextColumn("Reference", width="medium"),
        "candidate": st.column_config.TextColumn("Candidate", width="medium"),
    }
    for name in table.columns[table.columns.str.startswith("reference ")]:
        columns[name] = st.column_config.TextColumn(name.capitalize(), width="small")
    if table["category"].ne("").any():
        columns["category"] = "Category"
    columns |= {name: number_column(name, DIGITS) for name in (*CARDS, *(["penalized_f1"] if penalised else []))}
    if penalised:
        columns["taken"] = st.column_config.NumberColumn("F1 − F1′", format=f"%.{DIGITS}f",
                                                         help="What the penalty takes.")
    for name in table.columns[table.columns.str.startswith(HUMAN)]:
        columns[name] = st.column_config.NumberColumn(verbatim(name.removeprefix(HUMAN)),
                                                      help="The human score, as it stands in the file.")
    return columns


def _asked_key(run_id: str) -> str:
    return f"alignment-asked-{run_id}"
