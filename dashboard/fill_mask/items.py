"""The sentences of a fill-mask run as a table to choose from: each model's probability of the word beside it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.theme import shortened
from dashboard.shared.wording import measure_help, verbatim
from engine.datasets.masked.masked_sentences import MARKER
from engine.evaluations.fill_mask.records import Result

TABLES_KEPT = 8
HIGHEST = 320


def choose_item(run_id: str, result: Result) -> pd.Series:
    """The chosen sentence, as a row of `item_table`; by default the first. No table is drawn for a single sentence."""
    table = _table(run_id, result)
    if len(table) == 1:
        return table.iloc[0]
    domains = [domain for domain in dict.fromkeys(table["domain"]) if domain]
    selected: list[str] = []
    if len(domains) > 1:
        selected = st.multiselect("Domains", domains, key=f"fill-mask-domains-{run_id}", format_func=verbatim,
                                placeholder="All", width=320)
    shown = table[table["domain"].isin(selected)] if selected else table
    models = result.settings.models
    probabilities = shown[[f"p:{model}" for model in models]] * 100
    columns: dict[str, Any] = {
        "row": st.column_config.NumberColumn("Row", width="small"),
        "masked": st.column_config.TextColumn("Sentence", width="large"),
        "label": st.column_config.TextColumn("Word", width="small"),
    }
    for model in models:
        columns[f"p:{model}"] = st.column_config.NumberColumn(
            "p" if len(models) == 1 else f"p {shortened(model.rpartition('/')[2])}", format="%.3g %%",
            help=f"{verbatim(model)}  \n{measure_help('mask_probability')}")
    if len(models) == 1:
        columns["rank"] = st.column_config.NumberColumn(
            "Rank", help="The word's rank in the whole vocabulary; none for words of several pieces.")
        columns["n_pieces"] = st.column_config.NumberColumn(
            "Pieces", help="Number of pieces of the word, each with a mask of its own.")
    if domains:
        columns["domain"] = "Domain"
    state = st.dataframe(
        shown.assign(**probabilities), hide_index=True, height=min(HIGHEST, 35 * len(shown) + 38), on_select="rerun",
        selection_mode="single-row-required", column_config=columns, column_order=list(columns),
        key="-".join(["fill-mask-items", run_id, *selected]),
        placeholder="–",
        alt="Masked sentences with the probability of their words; choose one to see what the models predict",
    )
    chosen = next(iter(state.selection.rows), 0)
    return shown.iloc[chosen if chosen < len(shown) else 0]


def item_table(result: Result) -> pd.DataFrame:
    """The sentences that at least one model filled, in the order of the data.

    Columns: row, domain, label, before, asked, after, masked (the sentence with a mask), p:<model> for each model (NaN
    where it was left out), rank and n_pieces of the first model.
    """
    table = result.sentences.assign(masked=result.sentences["before"] + MARKER + result.sentences["after"])
    by_model = result.items.pivot(index="row", columns="model", values="probability")
    for model in result.settings.models:
        table[f"p:{model}"] = table["row"].map(by_model[model])
    first = result.items[result.items["model"] == result.settings.models[0]].set_index("row")
    for column in ("rank", "n_pieces"):
        table[column] = table["row"].map(first[column])
    return table[table["row"].isin(by_model.index)].reset_index(drop=True)


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner=False)
def _table(run_id: str, _result: Result) -> pd.DataFrame:
    """The whole table, shared by all sessions and never changed."""
    return item_table(_result)
