"""The table of the pairs of a minimal-pairs run, with filters and the selection of a figure; one pair is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.minimal_pairs.accuracy_cards import ORDER
from dashboard.minimal_pairs.figure_selection import (
    keep_selection,
    model_key,
    open_selection,
    selection_banner,
    selection_mask,
)
from dashboard.minimal_pairs.pair_table import (
    CUTS,
    IN_FILE,
    ORDER_NAMES,
    ORDERS,
    OUTCOME_NAMES,
    OUTCOMES,
    STEREOTYPE_OUTCOMES,
    filtered,
    ordered,
)
from dashboard.minimal_pairs.view import ScoredRun, table
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.signing import digest
from dashboard.shared.wording import measure_help, model_name, verbatim
from engine.evaluations.minimal_pairs.comparison import margin_unit
from engine.evaluations.minimal_pairs.records import CUT_DIFFERENTLY, Result
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import tr, tr_n, translated
from engine.options import option

MAX_ROWS = 1000  # more would be megabytes at every toggle
HEIGHT, FEW = 320, 8
SIDES = {"acceptable": "A", "unacceptable": "U"}


@dataclass(frozen=True)
class Listed:
    """The pairs that are listed and the one shown, as written in the page's URL."""

    model: str = option("", "The model whose pairs are listed; the first where none is named.")  # untranslated
    outcome: tuple[str, ...] = option(
        (),
        "Outcomes of the pairs listed; all where none is named.",  # untranslated
        choices=OUTCOMES,
    )
    length: tuple[str, ...] = option(
        (),
        "Which sentence is longer in the pairs listed; all where none is named.",  # untranslated
        choices=tuple(ORDER)[1:],
    )
    category: tuple[str, ...] = option((), "Categories of the pairs listed; all where none is named.")  # untranslated
    order: str = option(IN_FILE, "Order of the pairs.", choices=ORDERS)  # untranslated
    row: int | None = option(None, "Row of the pair shown.", unset="none")  # untranslated


def open_browser(run_id: str, result: Result, address: PageAddress) -> Listed:
    """What the browser is first drawn with; where the address counts its widgets are set to it."""
    names, models = _categories(result), result.scored_models
    first = address.first_record(
        Listed(model=models[0]),
        offered={"model": models, "category": names if len(names) > 1 else (), "row": result.items["row"].tolist()},
    )
    open_selection(run_id, result, address)
    if address.opened:
        for name, value in (("outcomes", first.outcome), ("lengths", first.length), ("categories", first.category)):
            st.session_state[f"minimal-pairs-{name}-{run_id}"] = list(value)
        st.session_state[f"minimal-pairs-order-{run_id}"] = first.order
        st.session_state[model_key(run_id)] = first.model
    return first


def pair_browser(
    view: ScoredRun, address: PageAddress, first: Listed, *, stereotypes: bool = False
) -> tuple[str, pd.Series] | None:
    """Draw the filters and the table of one model's pairs; the model and the chosen row of `pair_table`, or None.

    first: of `open_browser`. `stereotypes`: an outcome is which sentence is preferred, not whether that is right. The
    choices go into the address.
    """
    run_id = view.run_id
    selection = selection_banner(run_id)
    keep_selection(run_id, address)
    names = _categories(view.result)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        model = view.models[0]
        if len(view.models) > 1:
            st.session_state.setdefault(model_key(run_id), model)  # no default of its own: clicks set it, too
            model = str(
                st.pills(tr("Model"), view.models, required=True, format_func=model_name, key=model_key(run_id))
            )
        outcome_names = STEREOTYPE_OUTCOMES if stereotypes else OUTCOME_NAMES
        outcomes = st.pills(
            tr("Preferred") if stereotypes else tr("Outcome"),
            OUTCOMES,
            selection_mode="multi",
            key=f"minimal-pairs-outcomes-{run_id}",
            format_func=lambda name: tr(outcome_names[name]),
        )
        lengths = st.pills(
            tr("Length"),
            list(ORDER)[1:],
            selection_mode="multi",
            key=f"minimal-pairs-lengths-{run_id}",
            format_func=lambda name: tr(ORDER[name]),
        )
        categories: list[str] = []
        if len(names) > 1:
            categories = st.multiselect(
                tr("Category"), names, key=f"minimal-pairs-categories-{run_id}", width=240, placeholder=tr("All")
            )
        order = st.selectbox(
            tr("Order"),
            ORDERS,
            key=f"minimal-pairs-order-{run_id}",
            width=170,
            format_func=lambda name: tr(ORDER_NAMES[name]),
        )
    own = Listed(model=view.models[0])
    listed = Listed(model, tuple(outcomes), tuple(lengths), tuple(categories), order)
    pairs = table(view, "pairs", model)
    if selection is not None and selection.model == model:
        pairs = pairs[selection_mask(selection, view.result, pairs)]
    matching = ordered(filtered(pairs, outcomes=outcomes, strata=lengths, categories=categories), order)
    if matching.empty:
        st.caption(tr("No pair matches all of these filters."))
        address.keep_record(listed, own)
        return None
    row_at_first = first.row if replace(first, row=None) == listed else None
    shown = matching.head(MAX_ROWS)
    if row_at_first is not None and not (shown["row"] == row_at_first).any():
        asked_for = matching[matching["row"] == row_at_first]
        shown = pd.concat([asked_for, shown])
        if asked_for.empty and address.opened:
            st.caption(
                tr(":orange[:material/link_off:] Row {row} of the link is not among these pairs.", row=row_at_first)
            )
    if len(shown) < len(matching):
        st.caption(
            tr(
                "The first {shown:,} of {n:,} pairs; filter them, or download them all.",
                shown=len(shown),
                n=len(matching),
            )
            if order == IN_FILE
            else tr(
                "The first {shown:,} of {n:,} pairs, {order}; filter them, or download them all.",
                shown=len(shown),
                n=len(matching),
                order=tr(ORDER_NAMES[order]),
            )
        )
    else:
        st.caption(tr_n("{n} pair.", "{n:,} pairs.", len(matching)))
    filters = digest({"filters": [model, *outcomes, *lengths, *categories, order, str(selection), view.subset]})
    chosen = _choose(
        shown,
        view.normalization,
        bool(names),
        f"minimal-pairs-table-{address.place}-{filters}",
        row_at_first,
        stereotypes=stereotypes,
        with_cuts=view.subset == CUT_DIFFERENTLY,
    )
    if chosen is None and (len(shown) == 1 or (selection is not None and selection.row is not None)):
        chosen = 0
    row = None if chosen is None else int(shown["row"].iloc[chosen])
    address.keep_record(replace(listed, row=row), own)
    if chosen is None:
        st.caption(tr("Select a row to see the log-likelihood of each token."))
        return None
    return model, shown.iloc[chosen]


def _categories(result: Result) -> list[str]:
    return [name for name in pd.unique(result.items["category"]) if name]


def _choose(
    shown: pd.DataFrame,
    normalization: str,
    with_category: bool,
    key: str,
    row: int | None,
    *,
    stereotypes: bool,
    with_cuts: bool,
) -> int | None:
    """Draw the table; the index of the chosen row, or None; at first that of `row` where it is listed.

    Another key, as of other filters, discards the choice. with_cuts: also how each pair is cut into tokens.
    """
    at_first = [index for index, number in enumerate(shown["row"].tolist()) if number == row][:1]
    outcome_names = STEREOTYPE_OUTCOMES if stereotypes else OUTCOME_NAMES
    shown = shown.assign(
        outcome=shown["outcome"].cat.rename_categories({outcome: tr(name) for outcome, name in outcome_names.items()})
    )
    score_help = measure_help(NORMALIZATIONS[normalization].card)
    columns: dict[str, Any] = {
        "row": st.column_config.NumberColumn(tr("Row"), width="small"),
        "outcome": st.column_config.TextColumn(tr("Preferred") if stereotypes else tr("Outcome"), width="small"),
        "margin": st.column_config.NumberColumn(
            tr("Margin"),
            format="%+.3f",
            help=tr(
                "Score of the acceptable sentence minus that of the unacceptable one: correct if above 0; unit: {unit}.",
                unit=verbatim(translated(margin_unit(normalization))),
            ),
        ),
        "acceptable": st.column_config.TextColumn("sent_more" if stereotypes else tr("Acceptable"), width="medium"),
        "unacceptable": st.column_config.TextColumn("sent_less" if stereotypes else tr("Unacceptable"), width="medium"),
        **{
            f"{side}_tokens": st.column_config.NumberColumn(
                f"|{letter}|", help=tr("The number of scored tokens."), width="small"
            )
            for side, letter in SIDES.items()
        },
        "category": tr("Category"),
        **(_cut_columns(shown) if with_cuts else {}),
    }
    for side, letter in SIDES.items():
        columns[f"{side}_score"] = st.column_config.NumberColumn(
            f"{normalization} ({letter})", format="%.3f", help=score_help
        )
    if "scored_in" in shown.columns and (shown["scored_in"] != "fp32").any():
        columns["scored_in"] = st.column_config.TextColumn(tr("Scored in"), width="small")
    state = st.dataframe(
        shown,
        hide_index=True,
        height=HEIGHT if len(shown) > FEW else "auto",
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": at_first}},
        column_config=columns,
        key=key,
        column_order=[name for name in columns if name != "category" or with_category],
        placeholder="–",
        alt=tr("Pairs with both scores; select one to see its tokens"),
    )
    rows: Sequence[int] = state.selection.rows
    return rows[0] if rows and rows[0] < len(shown) else None


def _cut_columns(shown: pd.DataFrame) -> dict[str, Any]:
    """The columns that say how the pairs are cut, where the result has them and they say it of any pair listed."""
    texts = {
        "cut_words": (
            tr("Cut differently"),
            tr("Words of both sentences that the tokenizer cuts differently in the two."),
        ),
        "shared_words": (tr("Shared words"), tr("Words that both sentences have.")),
    }
    for side, letter in SIDES.items():
        texts |= {
            f"{side}_parts": (tr("Parts ({side})", side=letter), tr("Tokens that are a part of a character.")),
            f"{side}_unknown": (tr("Unknown ({side})", side=letter), tr("Tokens that the tokenizer does not know.")),
        }
    return {
        name: st.column_config.NumberColumn(texts[name][0], help=texts[name][1], width="small")
        for name in CUTS
        if name in shown.columns and (shown[name] > 0).any()
    }
