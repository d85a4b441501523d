"""Two idf dictionaries of one tokenizer: what is rare in one and not in the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.dictionary import tables as corpora_tables
from dashboard.dictionary.browse import choose
from dashboard.dictionary.charts import idf_scatter
from dashboard.shared import dictionaries
from dashboard.shared.dictionaries import Listed
from dashboard.shared.wording import measure_help, verbatim
from engine.measures.idf import LOWER_PART, IdfDictionary

ROWS_LISTED = 500
TABLES_KEPT = 4
RELATIVE_HELP = """A larger corpus allows larger idf: up to log(N + 1). As a share of that, dictionaries of different
size compare; the order of the pieces within each stays."""


def compare(found: Sequence[Listed], key: str, ours: str) -> None:
    """Choose two, the first to begin with the one that `ours` names; see what differs most. Raises EngineError."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = choose(found, f"corpora-first-{key}", "First (across)", ours)
        others = [one for one in found if one.tokenizer == first.tokenizer and one.path != first.path]
        if not others:
            st.info("No other dictionary was counted with this tokenizer. Build one of another corpus to compare.",
                    icon=":material/compare:")
            return
        second = choose(others, f"corpora-second-{first.choice}-{first.model}", "Second (up)")
        relative = st.toggle("Relative to corpus size", True, key="corpora-relative", persist_state="session",
                             help=RELATIVE_HELP)
    one, other = dictionaries.dictionary(first), dictionaries.dictionary(second)
    if not (one.document_counts and other.document_counts):
        st.info("One of the two has no entries.", icon=":material/compare:")
        return
    table = side_by_side(one.fingerprint, other.fingerprint, relative, one, other)
    names = (first.name, second.name) if first.name != second.name else (first.label, f"{second.label} (second)")
    shared = int(((table["documents_1"] > 0) & (table["documents_2"] > 0)).sum())
    sides = table["low"].value_counts()
    only = [f"**{sides.get(f'only in the {place}', 0):,}** only in {verbatim(name)}"
            for place, name in zip(("first", "second"), names, strict=True)]
    st.markdown(f"**{shared:,}** pieces occur in both, of {len(table):,} in either. With {LOWER_PART:.0%} of the "
                f"entries below each threshold, **{sides.get('both', 0):,}** are low-frequency in both, "
                f"{', '.join(only)}.")
    st.plotly_chart(idf_scatter(table, names, relative=relative), key="corpora-scatter",
                    config={"displayModeBar": False}, alt="Pieces by their idf in either dictionary")
    _differences(table, names)


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner="Comparing …")
def side_by_side(first: str, second: str, relative: bool, _first: IdfDictionary, _second: IdfDictionary
                 ) -> pd.DataFrame:
    """`corpora_tables.side_by_side` at the usual threshold; `first` and `second` are the dictionaries' fingerprints."""
    return corpora_tables.side_by_side(_first, _second, LOWER_PART, relative=relative)


def _differences(table: pd.DataFrame, names: tuple[str, str]) -> None:
    ways = {"either": "Either way", "first": f"Rarer in {names[0]}", "second": f"Rarer in {names[1]}"}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        way = st.segmented_control("Largest differences", list(ways), format_func=lambda one: verbatim(ways[one]),
                                   default="either", required=True, key="corpora-way", persist_state="session",
                                   wrap=True)
        both = st.toggle("Only pieces of both", True, key="corpora-both", persist_state="session",
                         help="Without it, pieces that one corpus never shows come first.")
    if both:
        table = table[(table["documents_1"] > 0) & (table["documents_2"] > 0)]
    if way != "either":
        table = table[table["difference"] > 0] if way == "first" else table[table["difference"] < 0]
    number = st.column_config.NumberColumn
    shown = table.head(ROWS_LISTED)
    sides = {f"only in the {place}": f"only in {name}" for place, name in zip(("first", "second"), names, strict=True)}
    columns: dict[str, Any] = {"piece": "Piece", "difference": number("Difference", format="%.3f"),
                               "low": "Low-frequency"}
    for place, name in enumerate(map(verbatim, names), start=1):
        columns[f"idf_{place}"] = number(f"idf, {name}", format="%.3f", help=measure_help("idf"))
        columns[f"documents_{place}"] = number(f"Documents, {name}", format="localized")
    st.dataframe(shown.assign(low=shown["low"].replace(sides)), hide_index=True, height=380, column_config=columns,
                 column_order=list(columns), placeholder="–", alt="Pieces that differ most")
    st.caption(f"The {min(ROWS_LISTED, len(table)):,} largest differences of {len(table):,}.")
