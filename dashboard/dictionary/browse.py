"""One idf dictionary: its low-frequency threshold, and its entries, searchable."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.dictionary import tables as dictionary_tables
from dashboard.dictionary.build import UNIT
from dashboard.dictionary.charts import idf_histogram
from dashboard.shared import dictionaries, session, wording
from dashboard.shared.dictionaries import AvailableDictionary
from dashboard.shared.exports.figure_downloads import figure_downloads
from dashboard.shared.exports.signing import csv_bytes
from dashboard.shared.wording import verbatim
from engine.errors import EngineError
from engine.evaluations.shared.dictionaries import BUILT_IN
from engine.evaluations.shared.idf_files import idf_bytes
from engine.measures.idf import LOWER_PART, IdfDictionary

ROWS_LISTED = 1000
HISTOGRAM = "Entries by idf, with the threshold"
TABLES_KEPT = 6
BY = {"share": "Share of entries", "value": "idf"}
ABOUT = {
    "novel": "229 Japanese novels and stories out of copyright (Aozora Bunko).",
    "wiki": "Articles of the Japanese Wikipedia, some sentences of each.",
}


def choose(options: Sequence[AvailableDictionary], key: str, title: str = "Dictionary", first: str = ""
           ) -> AvailableDictionary:
    """A choice among dictionaries, by default the one whose `choice` is `first`."""
    index = next((number for number, entry in enumerate(options) if entry.choice == first), 0)
    return st.selectbox(title, options, index=index, format_func=lambda entry: entry.label, key=key, width=420)


def browse(entry: AvailableDictionary) -> None:
    """Facts, threshold, histogram and entries of a dictionary, and its file. Raises EngineError."""
    dictionary = dictionaries.dictionary(entry)
    frame = entries(str(entry.path), entry.path.stat().st_mtime_ns, dictionary)
    if frame.empty:
        st.info("This dictionary has no entries: its corpus had no token.", icon=":material/menu_book:")
        _files(entry, dictionary, frame, {})
        return
    st.caption(" ".join([ABOUT.get(entry.choice, ""), _unit(entry.unit)]).strip())
    threshold = _threshold(dictionary, float(frame["idf"].max()))
    low = frame["idf"] > threshold
    with st.grid(5, min_column_width=130):
        st.metric("Documents", f"{dictionary.n_documents:,}", border=True, help=f"Unit: {verbatim(entry.unit)}")
        st.metric("Entries", f"{len(frame):,}", border=True, help="Distinct tokens that occur in the corpus.")
        st.metric("Tokens", f"{dictionary.n_tokens:,}" if dictionary.n_tokens else "not counted", border=True,
                  help="Tokens of the running text; needed for unigram probabilities (SLOR).")
        st.metric("Threshold", f"{threshold:.2f}", border=True, help=wording.measure_help("idf"))
        st.metric("Low-frequency", f"{int(low.sum()):,}", border=True,
                  help="Entries whose idf equals the threshold are not low-frequency, so there can be fewer than the "
                  "chosen share says.")
    figure = idf_histogram(frame["idf"].to_numpy(), threshold)
    st.plotly_chart(figure, key="corpora-histogram", config={"displayModeBar": False}, alt=HISTOGRAM)
    _table(frame.assign(low_frequency=low))
    _files(entry, dictionary, frame, {HISTOGRAM: figure})


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner="Opening the dictionary …")
def entries(path: str, modified: int, _dictionary: IdfDictionary) -> pd.DataFrame:
    """The entries of the dictionary at `path`, shared by all sessions and never changed."""
    return dictionary_tables.entries(_dictionary)


def _unit(unit: str) -> str:
    if unit in UNIT.choices:
        return f"A document is {UNIT.choices[unit]}." if "-" in unit else f"A document is a {unit}."
    return ""


def _threshold(dictionary: IdfDictionary, greatest: float) -> float:
    """Draw the choice of the threshold, by a share of the entries or an idf; returns it as an idf."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = st.segmented_control("Threshold by", list(BY), format_func=BY.__getitem__, default="share", required=True,
                                  key="corpora-by", persist_state="session")
        if by == "value":
            return st.slider("Low-frequency above an idf of", 0.0, math.ceil(greatest * 10) / 10,
                             dictionary.threshold(LOWER_PART), 0.05, key="corpora-value")
        share = st.slider("Share of entries below the threshold", 0.0, 1.0, LOWER_PART, 0.01, format="percent",
                          key="corpora-share", persist_state="session")
    return dictionary.threshold(share)


def _table(frame: pd.DataFrame) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input("Find a token", key="corpora-query", type="search", live="300ms", width=320,
                              placeholder="斎, ##藤, 東京 …", persist_state="session")
        only_low = st.toggle("Only low-frequency", key="corpora-low", persist_state="session")
    shown = dictionary_tables.search_entries(frame, query, only_low)
    st.dataframe(
        shown.head(ROWS_LISTED), hide_index=True, height=420,
        placeholder="–", alt="Entries of the dictionary", column_config={
            "piece": "Token", "documents": st.column_config.NumberColumn("Documents", format="localized"),
            "occurrences": st.column_config.NumberColumn("Occurrences", format="localized"),
            "idf": wording.number_column("idf", 3), "low_frequency": st.column_config.CheckboxColumn("Low-frequency"),
        },
    )
    listed = f"the first {ROWS_LISTED:,} of {len(shown):,}" if len(shown) > ROWS_LISTED else f"{len(shown):,}"
    st.caption(f"Listed: {listed} that match, of {len(frame):,} entries, sorted by number of documents.")


def signature_of(dictionary: IdfDictionary) -> dict[str, Any]:
    """All that determines the numbers of a dictionary."""
    return {"dictionary": dictionary.name, "fingerprint": dictionary.fingerprint, "unit": dictionary.unit,
            "tokenizer": dictionary.tokenizer, "documents": dictionary.n_documents}


def _files(entry: AvailableDictionary, dictionary: IdfDictionary, frame: pd.DataFrame,
           figures: Mapping[str, go.Figure]) -> None:
    """Draw downloads, and for the viewer's own dictionary a button that deletes it."""
    signature = signature_of(dictionary)
    name = "".join(character if character.isalnum() else "-" for character in entry.name)
    with st.container(horizontal=True, gap="small"):
        st.download_button("Dictionary", lambda: idf_bytes(dictionary), file_name=f"{name}.json.gz",
                           mime="application/gzip", key="corpora-download", on_click="ignore",
                           icon=":material/download:", help="For the command line (--idf FILE), or to upload again.")
        st.download_button("entries.csv", lambda: csv_bytes(frame, signature), file_name=f"{name}.csv",
                           mime="text/csv", key="corpora-csv", on_click="ignore", icon=":material/download:")
        if figures:
            figure_downloads(figures, signature)
        if entry.own:
            with st.popover("Delete", icon=":material/delete:", key="corpora-delete", type="tertiary"):
                st.caption("Results that were scored with it stay, but cannot be scored with it again."
                           + (" Its run can be restored from the bin of Runs." if session.access().bin_days else ""))
                if st.button("Delete this dictionary", key="corpora-delete-yes", type="primary"):
                    _delete(entry)
    st.caption(f":small[{verbatim(entry.label)} · tokenizer {verbatim(dictionary.tokenizer[:12])} · "
               f"content {dictionary.fingerprint[:12]}]")


def _delete(entry: AvailableDictionary) -> None:
    try:
        dictionaries.delete(entry)
    except EngineError as error:
        wording.show_error(error)
        return
    if entry.choice not in BUILT_IN:
        st.query_params.pop("run", None)
    st.rerun()
