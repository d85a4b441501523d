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
from dashboard.shared.address.view import View
from dashboard.shared.dictionaries import AvailableDictionary
from dashboard.shared.exports.figure_downloads import figure_downloads
from dashboard.shared.wording import measure_help, verbatim
from engine.measures.idf import LOWER_PART, IdfDictionary
from engine.options import option, options_of

ROWS_LISTED = 500
SCATTER = "Tokens by their idf in both dictionaries"
TABLES_KEPT = 4
RELATIVE_HELP = """A larger corpus allows larger idf: up to log(N + 1). As a share of that, dictionaries of different
size compare; the order of the tokens within each is the same."""


WAYS = ("either", "first", "second")


@dataclass(frozen=True)
class Compared:
    """What is shown of two dictionaries, as the address of the page has it."""

    first: str = option("", "The dictionary across.")
    second: str = option("", "The dictionary up.")
    relative: bool = option(True, "Whether idf is relative to the size of the corpus.")
    rarer_in: str = option("either", "The dictionary in which the listed tokens are rarer.", choices=WAYS)
    in_both: bool = option(True, "Whether only tokens that occur in both are listed.")


OPTIONS = options_of(Compared)


def compare(options: Sequence[AvailableDictionary], address: View, default: str, waiting: str) -> None:
    """Draw a choice of two, the first one by default `default`, and what differs most. Raises EngineError.

    waiting: the end of the key of the first, while the run of the default goes on.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = choose(options, OPTIONS["first"], address, key=f"first{waiting}", title="First (across)",
                       default=default)
        others = [entry for entry in options if entry.tokenizer == first.tokenizer and entry.path != first.path]
        if not others:
            st.info("No other dictionary was counted with this tokenizer. Build one from another corpus to compare.",
                    icon=":material/compare:")
            return
        second = choose(others, OPTIONS["second"], address, key=f"second-{first.choice}-{first.model}",
                        title="Second (up)")
        relative = st.toggle("Relative to corpus size", address.first(OPTIONS["relative"], True), help=RELATIVE_HELP,
                             key=address.key("relative"), persist_state="session")
        address.keep(OPTIONS["relative"], relative, True)
    first_idf, second_idf = dictionaries.dictionary(first), dictionaries.dictionary(second)
    if not (first_idf.document_counts and second_idf.document_counts):
        st.info("One of the two dictionaries has no entries.", icon=":material/compare:")
        return
    table = side_by_side(first_idf.fingerprint, second_idf.fingerprint, relative, first_idf, second_idf)
    names = (first.name, second.name) if first.name != second.name else (first.label, f"{second.label} (second)")
    shared = int(((table["documents_1"] > 0) & (table["documents_2"] > 0)).sum())
    sides = table["low"].value_counts()
    only = [f"**{sides.get(f'only in the {side}', 0):,}** only in {verbatim(name)}"
            for side, name in zip(("first", "second"), names, strict=True)]
    st.markdown(f"**{shared:,}** tokens occur in both, of {len(table):,} in either. With {LOWER_PART:.0%} of the "
                f"entries below each threshold, **{sides.get('both', 0):,}** are low-frequency in both, "
                f"{', '.join(only)}.")
    figure = idf_scatter(table, names, relative=relative)
    st.plotly_chart(figure, key="corpora-scatter", config={"displayModeBar": False}, alt=SCATTER)
    _differences(table, names, address)
    figure_downloads({SCATTER: figure}, {"first": signature_of(first_idf), "second": signature_of(second_idf),
                                         "relative": relative})


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner="Comparing …")
def side_by_side(first: str, second: str, relative: bool, _first: IdfDictionary, _second: IdfDictionary
                 ) -> pd.DataFrame:
    """`tables.side_by_side` at the usual threshold; `first` and `second` are the dictionaries' fingerprints."""
    return dictionary_tables.side_by_side(_first, _second, LOWER_PART, relative=relative)


def _differences(table: pd.DataFrame, names: tuple[str, str], address: View) -> None:
    ways = dict(zip(WAYS, ("Either way", f"Rarer in {names[0]}", f"Rarer in {names[1]}"), strict=True))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        way = st.segmented_control("Largest differences", list(ways), format_func=lambda option: verbatim(ways[option]),
                                   default=address.first(OPTIONS["rarer_in"], "either"), required=True,
                                   key=address.key("way"), persist_state="session", wrap=True)
        both = st.toggle("Only tokens in both", address.first(OPTIONS["in_both"], True), key=address.key("both"),
                         persist_state="session", help="Otherwise tokens that are absent from one corpus come first.")
    address.keep(OPTIONS["rarer_in"], way, "either")
    address.keep(OPTIONS["in_both"], both, True)
    if both:
        table = table[(table["documents_1"] > 0) & (table["documents_2"] > 0)]
    if way != "either":
        table = table[table["difference"] > 0] if way == "first" else table[table["difference"] < 0]
    number_column = st.column_config.NumberColumn
    shown = table.head(ROWS_LISTED)
    sides = {f"only in the {side}": f"only in {name}" for side, name in zip(("first", "second"), names, strict=True)}
    columns: dict[str, Any] = {"piece": "Token", "difference": number_column("Difference", format="%.3f"),
                               "low": "Low-frequency"}
    for number, name in enumerate(map(verbatim, names), start=1):
        columns[f"idf_{number}"] = number_column(f"idf, {name}", format="%.3f", help=measure_help("idf"))
        columns[f"documents_{number}"] = number_column(f"Documents, {name}", format="localized")
    st.dataframe(shown.assign(low=shown["low"].replace(sides)), hide_index=True, height=380, column_config=columns,
                 column_order=list(columns), placeholder="–", alt="Tokens that differ most")
    st.caption(f"The {min(ROWS_LISTED, len(table)):,} largest differences of {len(table):,}.")
