"""The table of the pairs of an alignment: searched, filtered, sorted; the chosen row is the pair shown."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.exports.signing import digest
from dashboard.shared.wording import measure_help, number_column, verbatim
from engine.datasets.sentence_pairs import HUMAN
from engine.messages.languages import mark, tr, tr_n

CARDS = {"precision": mark("Precision"), "recall": mark("Recall"), "f1": "F1"}
DIGITS = 3
# At most so many rows are sent to the browser; search and order apply to all.
ROWS_SENT = 10_000
# The orders of the pairs, as addresses name them: column and whether the smallest comes first.
AS_IN_THE_FILE, BY_PENALTY = mark("as in the file"), mark("largest penalty first")
BY_DISAGREEMENT = "farthest from the humans first"  # untranslated
ORDERS: dict[str, tuple[str, bool]] = {
    AS_IN_THE_FILE: ("row", True),
    BY_PENALTY: ("f1_loss", False),
    mark("lowest F1 first"): ("f1", True),
    mark("highest F1 first"): ("f1", False),
    BY_DISAGREEMENT: ("distance", False),
}
ORDER_LABELS = {BY_DISAGREEMENT: mark("largest disagreement with the human scores first")}


@dataclass(frozen=True)
class Listed:
    """The pairs that are listed, and the one shown; `row` is its row where it is not the first listed."""

    text: str = ""
    order: str = AS_IN_THE_FILE
    categories: tuple[str, ...] = ()
    row: int | None = None


def pair_table(pairs: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Every pair with its scores, a row each: the columns of `Result.pairs` and of one model's `Scores.pairs`.

    Also `f1_loss`, F1 minus penalised F1; `best_reference` is the number of the reference that the tokens belong
    to. A pair that was left out for the model is not in the table.
    """
    table = pairs.merge(scores.drop(columns="model"), on="row")
    table["f1_loss"] = table["f1"] - table["penalized_f1"]
    return table


def filtered(
    table: pd.DataFrame, *, text: str = "", categories: Collection[str] = (), order: str = AS_IN_THE_FILE
) -> pd.DataFrame:
    """The pairs with a sentence that contains `text` (ignoring case) and with one of the categories, sorted.

    An empty choice does not filter; a pair without the value to sort by is last. Raises KeyError for an unknown order.
    """
    column, ascending = ORDERS[order]
    if text.strip():
        sentences = [name for name in table.columns if name.startswith(("reference", "candidate"))]
        contains = [table[name].str.contains(text.strip(), case=False, regex=False) for name in sentences]
        table = table[pd.concat(contains, axis=1).any(axis=1)]
    if categories:
        table = table[table["category"].isin(list(categories))]
    return table.sort_values(column, ascending=ascending, kind="stable", na_position="last")


def open_pairs(place: str, first: Listed) -> None:
    """Have `choose_pair` begin with these pairs, before it draws anything."""
    for name, value in (("search", first.text), ("categories", list(first.categories)), ("order", first.order)):
        st.session_state[_filter_key(name, place)] = value
    st.session_state[_request_key(place)] = first.row, 0


def choose_pair(table: pd.DataFrame, place: str, *, penalised: bool) -> tuple[pd.Series | None, Listed]:
    """Draw the search and the table; the chosen row of `table`, by default the first, and what is listed.

    No table is drawn for a single pair; the row is None where no pair matches.
    """
    if len(table) == 1:
        return table.iloc[0], Listed()
    text, categories, order = _filters(table, place, penalised=penalised)
    listed = Listed(text, order, tuple(categories))
    shown = filtered(table, text=text, categories=categories, order=order)
    if shown.empty:
        st.caption(tr("No pair matches all of these filters."))
        return None, listed
    n_pairs = tr_n("{n} pair", "{n:,} pairs", len(table))
    if len(shown) < len(table):
        n_pairs = tr("{n:,} of {total:,} pairs", n=len(shown), total=len(table))
    if len(shown) > ROWS_SENT:
        n_pairs = tr("{pairs}; the first {n:,} in this order are listed", pairs=n_pairs, n=ROWS_SENT)
    st.caption(tr("{pairs}. Choose a row to see its alignment; click a column heading to sort.", pairs=n_pairs))
    shown = shown.head(ROWS_SENT)
    requested_row, n_requests = st.session_state.get(_request_key(place), (None, 0))
    indices = [index for index, row in enumerate(shown["row"].tolist()) if row == requested_row]
    columns = _columns(shown, penalised=penalised)
    state = st.dataframe(
        shown,
        hide_index=True,
        height=290 if len(shown) > 6 else "auto",
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": indices[:1] or [0]}},
        column_config=columns,
        column_order=list(columns),
        placeholder="–",
        alt=tr("Pairs with their scores; choose one to see its alignment"),
        key=table_key(place, text, categories, order, n_requests),
    )
    chosen = next(iter(state.selection.rows), indices[0] if indices else 0)
    pair = shown.iloc[chosen if chosen < len(shown) else 0]
    is_first = pair["row"] == shown["row"].iloc[0]
    return pair, replace(listed, row=None if is_first else int(pair["row"]))


def table_key(
    place: str, text: str = "", categories: Collection[str] = (), order: str = AS_IN_THE_FILE, n_requests: int = 0
) -> str:
    """The key of the table under these filters, after `n_requests` calls of `request_pair`.

    With other filters, or after another request, the key is another one: an old row number would be another pair.
    """
    return f"alignment-pairs-{place}-{digest({'filters': [text, list(categories), order], 'asked': n_requests})}"


def request_pair(place: str, row: int) -> None:
    """Choose a pair from another part of the page, in a callback; sorts the table by the effect of the penalty."""
    _, n_requests = st.session_state.get(_request_key(place), (None, 0))
    st.session_state[_request_key(place)] = row, n_requests + 1
    for name, value in (("search", ""), ("categories", []), ("order", BY_PENALTY)):
        st.session_state[_filter_key(name, place)] = value


def _filters(table: pd.DataFrame, place: str, *, penalised: bool) -> tuple[str, list[str], str]:
    names = [name for name in pd.unique(table["category"]) if name]
    orders = [name for name, (column, _) in ORDERS.items() if column in table and (name != BY_PENALTY or penalised)]
    if st.session_state.get(_filter_key("order", place)) not in orders:
        st.session_state.pop(_filter_key("order", place), None)

    def key(name: str) -> dict[str, Any]:
        # A requested pair stays chosen until a filter changes.
        return {
            "key": _filter_key(name, place),
            "persist_state": "session",
            "on_change": _forget_request,
            "args": (place,),
        }

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        text = st.text_input(
            tr("Search"), placeholder=tr("in either sentence"), width=230, icon=":material/search:", **key("search")
        )
        order = st.selectbox(tr("Order"), orders, width=240, format_func=_order_label, **key("order"))
        categories = []
        if len(names) > 1:
            categories = st.multiselect(tr("Category"), names, width=280, placeholder=tr("All"), **key("categories"))
    return text or "", categories, order or orders[0]


def _order_label(order: str) -> str:
    return tr(ORDER_LABELS.get(order, order))


def _forget_request(place: str) -> None:
    _, n_requests = st.session_state.get(_request_key(place), (None, 0))
    st.session_state[_request_key(place)] = None, n_requests


def _filter_key(name: str, place: str) -> str:
    return f"alignment-{name}-{place}"


def request_clicked(key: str, place: str) -> None:
    """Choose the pair of the point that was clicked in the figure of this key; its `customdata` begin with the row."""
    points = st.session_state[key]["selection"]["points"]
    if points:
        request_pair(place, int(points[0]["customdata"][0]))


def _columns(table: pd.DataFrame, *, penalised: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "row": st.column_config.NumberColumn(tr("Row"), width="small"),
        "reference": st.column_config.TextColumn(tr("Reference"), width="medium"),
        "candidate": st.column_config.TextColumn(tr("Candidate"), width="medium"),
    }
    for name in table.columns[table.columns.str.startswith("reference ")]:
        columns[name] = st.column_config.TextColumn(
            tr("Reference {n}", n=name.removeprefix("reference ")), width="small"
        )
    if table["category"].ne("").any():
        columns["category"] = tr("Category")
    columns |= {name: number_column(name, DIGITS) for name in (*CARDS, *(["penalized_f1"] if penalised else []))}
    if "rescaled_f1" in table:
        columns["rescaled_f1"] = st.column_config.NumberColumn(
            tr("F1, rescaled"), format=f"%.{DIGITS}f", help=measure_help("rescaled_bertscore")
        )
    if penalised:
        columns["f1_loss"] = st.column_config.NumberColumn(
            "F1 − F1′", format=f"%.{DIGITS}f", help=tr("F1 minus penalised F1.")
        )
    for name in table.columns[table.columns.str.startswith(HUMAN)]:
        columns[name] = st.column_config.NumberColumn(
            verbatim(name.removeprefix(HUMAN)), help=tr("The human score, as in the file.")
        )
    if "disagreement" in table:
        columns["disagreement"] = st.column_config.NumberColumn(
            tr("Disagreement"),
            format="%+.2f",
            help=tr(
                "z-score of F1 minus z-score of the human score: above 0, the metric rates the pair as more similar "
                "than the annotators do."
            ),
        )
    return columns


def _request_key(place: str) -> str:
    return f"alignment-asked-{place}"
