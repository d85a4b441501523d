"""Two evaluations side by side: the user's runs, and beside them, marked, what a paper printed."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import pages
from dashboard.agreement.charts import PER_CENT, scatter
from dashboard.shared.theme import decimals
from dashboard.shared.wording import column_label, measure_help, verbatim
from engine.evaluations.agreement.evaluate import MEASURES, agreement_table, published_table
from engine.evaluations.agreement.published_models import COMPARED, TABLES

AS_PUBLISHED = "as published"
COEFFICIENTS = {"spearman": "ρ", "kendall": "τ_b"}


def title_of(kind: str) -> str:
    """The title of the page that a kind of run belongs to."""
    return pages.card(pages.PAGE_BY_KIND[kind]).title


def model_numbers(table: pd.DataFrame, *, key: str) -> None:
    """A `model_table` as a table: each evaluation's number and, beside it, the rank; per cents as such."""
    columns: dict[str, Any] = {"model": st.column_config.TextColumn("Model", width="medium")}
    shown = table.copy()
    for kind in (kind for kind in MEASURES if kind in table):
        measure = MEASURES[kind]
        if measure in PER_CENT:
            shown[kind] *= 100
        form = f"%.{decimals(shown[kind].dropna().tolist())}f" + (" %%" if measure in PER_CENT else "")
        columns[kind] = st.column_config.NumberColumn(f"{title_of(kind)}: {column_label(measure)}", format=form,
                                                      help=measure_help(measure))
        columns[f"rank {kind}"] = st.column_config.NumberColumn("Rank", width="small", help=f"By {title_of(kind)}: 1 "
                                                                "is best.")
    st.dataframe(shown, hide_index=True, column_config=columns, column_order=list(columns), key=key,
                 placeholder="–", alt="Each model's number and rank under each evaluation")


def pair_choice(kinds: list[str]) -> tuple[str, str]:
    """Which two evaluations are drawn; there are at least two."""
    pairs = {f"{title_of(first)} and {title_of(second)}": (first, second) for first, second in combinations(kinds, 2)}
    if len(pairs) == 1:
        return next(iter(pairs.values()))
    return pairs[st.segmented_control("Hold against each other", list(pairs), default=next(iter(pairs)), required=True,
                                      key="agreement-pair")]


def side_by_side(table: pd.DataFrame, first: str, second: str) -> None:
    """On the left the user's models under two evaluations, on the right the paper's, if one printed both."""
    with st.grid(2, min_column_width=340):
        with st.container(border=True):
            st.markdown("**Your runs**")
            _points(table, first, second, published=False)
        with st.container(border=True):
            printed = published_table(first, second)
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown("**The papers' models**", width="content")
                st.badge(AS_PUBLISHED, icon=":material/menu_book:", color="orange")
            if printed is None:
                st.caption("Neither paper judged the same models in both ways.")
            else:
                _points(printed, first, second, published=True)
                one, other = (TABLES[key] for key, _ in COMPARED[first, second])
                st.caption(f"{verbatim(one.paper)}, tables {one.number} and {other.number}. Other sentences, other "
                           "models; the coefficients are taken from the printed numbers.")


def printed_tables() -> None:
    """The papers' tables cell by cell, one at a time, with their source and what to know of them."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**The papers' tables**", width="content")
        st.badge(AS_PUBLISHED, icon=":material/menu_book:", color="orange")
    key = st.selectbox("Table", list(TABLES), key="agreement-printed", label_visibility="collapsed",
                       persist_state="session",
                       format_func=lambda key: f"{TABLES[key].source}: {TABLES[key].title}")
    table = TABLES[key]
    columns = {column: st.column_config.TextColumn(
        column.capitalize() if column == "model" else column, alignment="left" if column == "model" else "right",
        help=measure_help(table.measures[column]) if column in table.measures else None) for column in table.columns}
    st.dataframe(table.printed(), hide_index=True, column_config=columns,
                 placeholder="–", alt=f"{table.title}, as published")
    st.caption(f"{verbatim(table.source)}, {AS_PUBLISHED}. {verbatim(table.note)}")


def _points(table: pd.DataFrame, first: str, second: str, *, published: bool) -> None:
    (line,) = agreement_table(table[["model", first, f"rank {first}", second, f"rank {second}"]]).to_dict("records")
    whose = "published" if published else "own"
    if line["n"]:
        st.plotly_chart(scatter(table, first, second, published=published), key=f"agreement-scatter-{whose}",
                        config={"displayModeBar": False},
                        alt=f"Models under {title_of(first)} and {title_of(second)}, {whose}")
    if line["reason"]:
        st.caption(f":orange[:material/info:] No rank correlation: {verbatim(line['reason'])}.")
        return
    with st.grid(2, min_column_width=120, gap="small"):
        for name, symbol in COEFFICIENTS.items():
            low, high = line[f"{name}_low"], line[f"{name}_high"]
            st.metric(f"{name.capitalize()} {verbatim(symbol)}", _signed(line[name]),
                      f"{_signed(low)} to {_signed(high)}, n = {line['n']}", delta_color="off", delta_arrow="off",
                      help=measure_help(name))


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
