"""The sentences of a fill-mask run as a table to choose from: each model's probability of the word beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.theme import last_names
from dashboard.shared.wording import measure_help, verbatim
from engine.datasets.masked.masked_sentences import MARKER
from engine.evaluations.fill_mask.records import Result
from engine.messages.languages import tr
from engine.models.sources.names import shown_name
from engine.options import option

TABLES_KEPT = 8
HIGHEST = 320


@dataclass(frozen=True)
class Listed:
    """The sentences that are listed and the one shown, as written in the page's URL."""

    domain: tuple[str, ...] = option((), "Domains of the sentences listed; all where none is named.")  # untranslated
    row: int | None = option(None, "Row of the sentence shown.", unset="the first listed")  # untranslated


def choose_item(run_id: str, result: Result, view: PageAddress) -> tuple[pd.Series, bool]:
    """The chosen sentence, as a row of `item_table`, and whether it is the one that the address names.

    By default that is the first. No table is drawn for a single sentence.
    """
    table = _table(run_id, result)
    if len(table) == 1:
        return table.iloc[0], True
    domains = [domain for domain in dict.fromkeys(table["domain"]) if domain]
    first = view.first_record(
        Listed(), offered={"domain": domains if len(domains) > 1 else (), "row": table["row"].tolist()}
    )
    selected: list[str] = []
    if len(domains) > 1:
        selected = st.multiselect(
            tr("Domains"),
            domains,
            default=list(first.domain),
            key=view.key("domains"),
            placeholder=tr("All"),
            width=320,
        )
    shown = table[table["domain"].isin(selected)] if selected else table
    models = result.settings.models
    probabilities = shown[[f"p:{shown_name(model)}" for model in models]] * 100
    columns: dict[str, Any] = {
        "row": st.column_config.NumberColumn(tr("Row"), width="small"),
        "masked": st.column_config.TextColumn(tr("Sentence"), width="large"),
        "label": st.column_config.TextColumn(tr("Word"), width="small"),
    }
    short = last_names(models)
    for model in models:
        columns[f"p:{shown_name(model)}"] = st.column_config.NumberColumn(
            "p" if len(models) == 1 else f"p {short[model]}",
            format="%.3g%%",
            help=f"{verbatim(model)}  \n{measure_help('mask_probability')}",
        )
    if len(models) == 1:
        columns["rank"] = st.column_config.NumberColumn(
            tr("Rank"), help=tr("The word's rank in the whole vocabulary; none for words of several subwords.")
        )
        columns["n_pieces"] = st.column_config.NumberColumn(
            tr("Subwords"), help=tr("Number of subwords of the word, each with a mask of its own.")
        )
    if domains:
        columns["domain"] = tr("Domain")
    is_first = (shown["row"] == first.row).tolist() if tuple(selected) == first.domain else []
    at_first = is_first.index(True) if True in is_first else 0
    state = st.dataframe(
        shown.assign(**probabilities),
        hide_index=True,
        height=min(HIGHEST, 35 * len(shown) + 38),
        on_select="rerun",
        selection_mode="single-row-required",
        column_config=columns,
        column_order=list(columns),
        selection_default={"selection": {"rows": [at_first]}},
        key="-".join([view.key("items"), *selected]),
        placeholder="–",
        alt=tr("Masked sentences with the probability of their words; choose one to see what the models predict"),
    )
    chosen = next(iter(state.selection.rows), at_first)
    item = shown.iloc[chosen if chosen < len(shown) else 0]
    is_default = item["row"] == shown["row"].iloc[0]
    view.keep_record(Listed(tuple(selected), None if is_default else int(item["row"])), Listed())
    return item, chosen == at_first and tuple(selected) == first.domain


def first_rows(result: Result) -> pd.DataFrame:
    """What the page shows of the first rows while the others are computed: each word with its probability."""
    table = item_table(result)
    probability = table[f"p:{shown_name(result.settings.models[0])}"].round(4)
    return (
        table[["row", "masked", "asked"]]
        .set_axis(["row", "text", "word"], axis=1)
        .assign(probability=probability, rank=table["rank"])
    )


def item_table(result: Result) -> pd.DataFrame:
    """The sentences that at least one model filled, in the order of the data.

    Columns: row, domain, label, before, asked, after, masked (the sentence with a mask), p:<model> for each model, by
    its label if it has one (NaN where it was left out), rank and n_pieces of the first model.
    """
    table = result.sentences.assign(masked=result.sentences["before"] + MARKER + result.sentences["after"])
    by_model = result.items.pivot(index="row", columns="model", values="probability")
    for model in result.settings.models:
        table[f"p:{shown_name(model)}"] = table["row"].map(by_model[model])
    first = result.items[result.items["model"] == result.settings.models[0]].set_index("row")
    for column in ("rank", "n_pieces"):
        table[column] = table["row"].map(first[column])
    return table[table["row"].isin(by_model.index)].reset_index(drop=True)


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner=False)
def _table(run_id: str, _result: Result) -> pd.DataFrame:
    """The whole table, shared by all sessions and never changed."""
    return item_table(_result)
