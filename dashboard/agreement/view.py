"""Two evaluations side by side: the user's runs and, marked as such, the results published in a paper."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import pages
from dashboard.agreement.charts import PER_CENT, scatter
from dashboard.shared.address.view import View
from dashboard.shared.published import AS_PUBLISHED, columns_of
from dashboard.shared.theme import decimals, with_shown_models
from dashboard.shared.wording import column_label, measure_help, verbatim
from engine.evaluations.agreement.evaluate import MEASURES, agreement_table, published_table
from engine.evaluations.published.sentence_clustering import COMPARED, TABLES
from engine.options import option, options_of

COEFFICIENTS = {"spearman": "ρ", "kendall": "τ_b"}


def title_of(kind: str) -> str:
    """The title of the page of a kind of run."""
    return pages.card(pages.PAGE_BY_KIND[kind]).title


def model_numbers(table: pd.DataFrame, *, key: str) -> None:
    """Draw a `model_table`: the value of each evaluation and, beside it, the rank; shares in per cent."""
    columns: dict[str, Any] = {"model": st.column_config.TextColumn("Model", width="medium")}
    shown = with_shown_models(table).copy()
    for kind in (kind for kind in MEASURES if kind in table):
        measure = MEASURES[kind]
        if measure in PER_CENT:
            shown[kind] *= 100
        number_format = f"%.{decimals(shown[kind].dropna().tolist())}f" + (" %%" if measure in PER_CENT else "")
        columns[kind] = st.column_config.NumberColumn(
            f"{title_of(kind)}: {column_label(measure)}", format=number_format, help=measure_help(measure))
        columns[f"rank {kind}"] = st.column_config.NumberColumn("Rank", width="small", help=f"By {title_of(kind)}: 1 "
                                                                "is best.")
    st.dataframe(shown, hide_index=True, column_config=columns, column_order=list(columns), key=key,
                 placeholder="–", alt="Each model's number and rank under each evaluation")


@dataclass(frozen=True)
class Shown:
    """What is drawn beside the runs, as the address of the page has it."""

    pair: tuple[str, ...] = option((), "The two evaluations that are drawn; the first two where none are named.")
    table: str = option(next(iter(TABLES)), "The table of the papers that is shown.", choices=tuple(TABLES))


PAIR, TABLE = options_of(Shown).values()


def pair_choice(kinds: list[str], address: View) -> tuple[str, str]:
    """The two evaluations to draw; there are at least two."""
    pairs = {f"{title_of(first)} and {title_of(second)}": (first, second) for first, second in combinations(kinds, 2)}
    if len(pairs) == 1:
        return next(iter(pairs.values()))
    own = next(iter(pairs.values()))
    first = tuple(address.first(PAIR, own, offered=kinds))
    at_first = next((name for name, pair in pairs.items() if pair == first), next(iter(pairs)))
    pair = pairs[st.segmented_control("Compare", list(pairs), default=at_first, required=True,
                                      key=f"agreement-pair-{address.place}")]
    address.keep(PAIR, pair, own)
    return pair


def side_by_side(table: pd.DataFrame, first: str, second: str) -> dict[str, go.Figure]:
    """Draw the user's models under two evaluations on the left, those of a paper that has both on the right.

    Returns the figures by caption.
    """
    with st.grid(2, min_column_width=340):
        with st.container(border=True):
            st.markdown("**Your runs**")
            figures = _points(table, first, second, published=False)
        with st.container(border=True):
            printed = published_table(first, second)
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown("**The papers' models**", width="content")
                st.badge(AS_PUBLISHED, icon=":material/menu_book:", color="orange")
            if printed is None:
                st.caption("No paper reports both evaluations for the same models.")
            else:
                figures |= _points(printed, first, second, published=True)
                first_table, second_table = (TABLES[key] for key, _ in COMPARED[first, second])
                st.caption(f"{verbatim(first_table.source)} and {verbatim(second_table.place)}. "
                           "Other sentences and models; the coefficients are computed from the printed numbers.")
    return figures


def printed_tables(address: View) -> None:
    """Draw the tables of the papers as printed, one at a time, with source and notes."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**The papers' tables**", width="content")
        st.badge(AS_PUBLISHED, icon=":material/menu_book:", color="orange")
    first = address.first(TABLE, TABLE.default)
    key = st.selectbox("Table", list(TABLES), index=list(TABLES).index(first), label_visibility="collapsed",
                       key=f"agreement-printed-{address.place}",
                       persist_state="session",
                       format_func=lambda key: f"{TABLES[key].source}: {TABLES[key].title}")
    address.keep(TABLE, key, TABLE.default)
    table = TABLES[key]
    printed = table.printed()
    st.dataframe(printed, hide_index=True, column_config=columns_of(table, printed), placeholder="–",
                 alt=f"{table.title}, as published")
    st.caption(f"{verbatim(table.source)}, {AS_PUBLISHED}. {verbatim(table.note)}")


def _points(table: pd.DataFrame, first: str, second: str, *, published: bool) -> dict[str, go.Figure]:
    (row,) = agreement_table(table[["model", first, f"rank {first}", second, f"rank {second}"]]).to_dict("records")
    origin = "published" if published else "own"
    figures = {}
    if row["n"]:
        caption = f"{title_of(first)} and {title_of(second)}" + (f", {AS_PUBLISHED}" if published else "")
        figures[caption] = scatter(table, first, second, published=published)
        st.plotly_chart(figures[caption], key=f"agreement-scatter-{origin}",
                        config={"displayModeBar": False},
                        alt=f"Models under {title_of(first)} and {title_of(second)}, {origin}")
    if row["reason"]:
        st.caption(f":orange[:material/info:] No rank correlation: {verbatim(row['reason'])}.")
        return figures
    with st.grid(2, min_column_width=120, gap="small"):
        for name, symbol in COEFFICIENTS.items():
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            st.metric(f"{name.capitalize()} {verbatim(symbol)}", _signed(row[name]),
                      f"{_signed(low)} to {_signed(high)}, n = {row['n']}", delta_color="off", delta_arrow="off",
                      help=measure_help(name))
    return figures


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
