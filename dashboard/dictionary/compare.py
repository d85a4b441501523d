"""Two idf dictionaries of one tokenizer: what is rare in one and not in the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.dictionary import tables as dictionary_tables
from dashboard.dictionary.browse import choose, signature_of
from dashboard.dictionary.charts import idf_scatter
from dashboard.shared import dictionaries
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.dictionaries import AvailableDictionary
from dashboard.shared.exports.figure_downloads import figure_downloads
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.theme import list_height
from dashboard.shared.wording import measure_help, verbatim
from engine.measures.idf import LOWER_PART, IdfDictionary
from engine.messages.languages import mark, tr
from engine.options import option, options_of

ROWS_LISTED = 500
SCATTER = mark("Tokens by their idf in both dictionaries")
TABLES_KEPT = 4
RELATIVE_HELP = mark(
    "idf can be at most log(N + 1), so it is larger in a larger corpus. Divided by that, the idf of "
    "dictionaries of different sizes can be compared; the order of the tokens in each stays the same."
)
WAYS = ("either", "first", "second")


@dataclass(frozen=True)
class Compared:
    """What is shown of two dictionaries, as written in the page's URL."""

    first: str = option("", "The dictionary across.")  # untranslated
    second: str = option("", "The dictionary up.")  # untranslated
    relative: bool = option(True, "Whether idf is relative to the size of the corpus.")  # untranslated
    rarer_in: str = option(
        "either",
        "The dictionary in which the listed tokens are rarer.",  # untranslated
        choices=WAYS,
    )
    in_both: bool = option(True, "Whether only tokens that occur in both are listed.")  # untranslated


OPTIONS = options_of(Compared)


def compare(options: Sequence[AvailableDictionary], address: PageAddress, default: str, waiting: str) -> None:
    """Draw a choice of two, the first one by default `default`, and what differs most. Raises EngineError.

    waiting: the end of the key of the first, while the run of the default is in progress.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = choose(
            options, OPTIONS["first"], address, key=f"first{waiting}", title=tr("First (x axis)"), default=default
        )
        others = [entry for entry in options if entry.tokenizer == first.tokenizer and entry.path != first.path]
        if not others:
            st.info(
                tr("No other dictionary was counted with this tokenizer. Build one from another corpus to compare."),
                icon=":material/compare:",
            )
            return
        second = choose(
            others, OPTIONS["second"], address, key=f"second-{first.choice}-{first.model}", title=tr("Second (y axis)")
        )
        relative = st.toggle(
            tr("Relative to corpus size"),
            address.first(OPTIONS["relative"], True),
            help=tr(RELATIVE_HELP),
            key=address.key("relative"),
            persist_state="session",
        )
        address.keep(OPTIONS["relative"], relative, True)
    first_idf, second_idf = dictionaries.dictionary(first), dictionaries.dictionary(second)
    if not (first_idf.document_counts and second_idf.document_counts):
        st.info(tr("One of the two dictionaries has no entries."), icon=":material/compare:")
        return
    with st.spinner(tr("Comparing …")):
        table = side_by_side(first_idf.fingerprint, second_idf.fingerprint, relative, first_idf, second_idf)
    names = (
        (first.name, second.name)
        if first.name != second.name
        else (first.label, tr("{name} (second)", name=second.label))
    )
    shared = int(((table["documents_1"] > 0) & (table["documents_2"] > 0)).sum())
    sides = table["low"].value_counts()
    _, only_first, only_second, _ = dictionary_tables.SIDES
    st.markdown(
        tr(
            "**{shared:,}** tokens occur in both, of {total:,} in either. With {percent}% of the entries below "
            "each threshold, **{both:,}** are low-frequency in both, **{n_first:,}** only in {first}, "
            "**{n_second:,}** only in {second}.",
            shared=shared,
            total=len(table),
            percent=f"{100 * LOWER_PART:g}",
            both=sides.get("both", 0),
            n_first=sides.get(only_first, 0),
            first=verbatim(names[0]),
            n_second=sides.get(only_second, 0),
            second=verbatim(names[1]),
        )
    )
    figure = idf_scatter(table, names, relative=relative)
    draw_figure(figure, key="corpora-scatter", config={"displayModeBar": False}, alt=tr(SCATTER))
    _differences(table, names, address)
    figure_downloads(
        {SCATTER: figure},
        {"first": signature_of(first_idf), "second": signature_of(second_idf), "relative": relative},
    )


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner=False)
def side_by_side(
    first: str, second: str, relative: bool, _first: IdfDictionary, _second: IdfDictionary
) -> pd.DataFrame:
    """`tables.side_by_side` at the usual threshold; `first` and `second` are the dictionaries' fingerprints."""
    return dictionary_tables.side_by_side(_first, _second, LOWER_PART, relative=relative)


def _differences(table: pd.DataFrame, names: tuple[str, str], address: PageAddress) -> None:
    ways = dict(zip(WAYS, (tr("All"), *(tr("Rarer in {name}", name=name) for name in names)), strict=True))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        way = st.segmented_control(
            tr("Largest differences"),
            list(ways),
            format_func=lambda option: verbatim(ways[option]),
            required=True,
            default=address.first(OPTIONS["rarer_in"], "either"),
            key=address.key("way"),
            persist_state="session",
            wrap=True,
        )
        both = st.toggle(
            tr("Only tokens in both"),
            address.first(OPTIONS["in_both"], True),
            key=address.key("both"),
            persist_state="session",
            help=tr("Otherwise tokens that are absent from one corpus come first."),
        )
    address.keep(OPTIONS["rarer_in"], way, "either")
    address.keep(OPTIONS["in_both"], both, True)
    if both:
        table = table[(table["documents_1"] > 0) & (table["documents_2"] > 0)]
    if way != "either":
        table = table[table["difference"] > 0] if way == "first" else table[table["difference"] < 0]
    number_column = st.column_config.NumberColumn
    shown = table.head(ROWS_LISTED)
    sides = dict(
        zip(
            dictionary_tables.SIDES,
            (tr("both"), *(tr("only in {name}", name=name) for name in names), tr("neither")),
            strict=True,
        )
    )
    columns: dict[str, Any] = {
        "piece": tr("Token"),
        "difference": number_column(tr("Difference"), format="%.3f"),
        "low": tr("Low-frequency"),
    }
    for number, name in enumerate(map(verbatim, names), start=1):
        columns[f"idf_{number}"] = number_column(tr("idf, {name}", name=name), format="%.3f", help=measure_help("idf"))
        columns[f"documents_{number}"] = number_column(tr("Documents, {name}", name=name), format="localized")
    st.dataframe(
        shown.assign(low=shown["low"].replace(sides)),
        hide_index=True,
        height=list_height(len(shown), 380),
        column_config=columns,
        column_order=list(columns),
        placeholder="–",
        alt=tr("Tokens that differ most"),
    )
    st.caption(tr("The {n:,} largest differences of {total:,}.", n=min(ROWS_LISTED, len(table)), total=len(table)))
