"""Corpora: the idf dictionaries, searchable, and where low frequency begins in each."""

import streamlit as st

from dashboard import dictionaries, pages, wording
from dashboard.charts.corpora import idf_histogram
from dashboard.wording import show_error, verbatim
from engine.errors import EngineError
from engine.evaluations.dictionaries import BUILT_IN
from engine.measures.idf import LOWER_PART

LISTED = 1000
ABOUT = {
    "novel": "Japanese novels and stories out of copyright (Aozora Bunko); 229 of them; a document is one work.",
    "wiki": "Articles of the Japanese Wikipedia, their first sentences; a document is one article.",
}
NOTE = """A token with an idf above the **threshold** counts as low-frequency: the penalty for readings looks at those
alone. The threshold parts the dictionary's *entries* (70 % below, 30 % above, unless you choose otherwise), not the
running text. A dictionary belongs to the tokenizer it was counted with. To count your own corpus:
`python -m engine idf --model MODEL --corpus FILE --out FILE.json.gz`; then give its path as the idf of an alignment."""

pages.heading("corpora")
with st.container(horizontal=True, vertical_alignment="bottom"):
    corpus = st.segmented_control("Corpus", BUILT_IN, default=BUILT_IN[0], required=True, key="corpora-corpus",
                                  persist_state="session")
    paths = dictionaries.paths(corpus)
    path = st.selectbox("Counted with the tokenizer of", paths, format_func=dictionaries.tokenizer_name,
                        key=f"corpora-tokenizer-{corpus}", width=320)
if path is None:
    st.info("This dictionary is not built in here.", icon=":material/menu_book:")
    st.stop()
st.caption(ABOUT.get(corpus, ""))

try:
    entries = dictionaries.entries(str(path), path.stat().st_mtime_ns)
    share = st.slider("Share of entries below the threshold", 0.0, 1.0, LOWER_PART, 0.01, format="percent",
                      key="corpora-share", persist_state="session")
    threshold = entries.dictionary.threshold(share)
except EngineError as error:
    show_error(error)
    st.stop()
low = entries.frame["idf"] > threshold

with st.grid(4, min_column_width=150):
    st.metric("Documents", f"{entries.dictionary.n_documents:,}", border=True,
              help=f"Unit: {verbatim(entries.dictionary.unit)}")
    st.metric("Entries", f"{len(entries.frame):,}", border=True)
    st.metric("Threshold", f"{threshold:.2f}", border=True, help=wording.measure_help("idf"))
    st.metric("Low-frequency", f"{int(low.sum()):,}", border=True,
              help="Entries that tie with the boundary are not low-frequency, so this can be less than the rest.")
st.plotly_chart(idf_histogram(entries.frame["idf"].to_numpy(), threshold), key="corpora-histogram",
                config={"displayModeBar": False}, alt="Entries by idf, with the threshold")

with st.container(horizontal=True, vertical_alignment="bottom"):
    query = st.text_input("Find a piece", key="corpora-query", type="search", live="300ms", width=320,
                          placeholder="斎, ##藤, 東京 …", persist_state="session")
    only_low = st.toggle("Only low-frequency", key="corpora-low", persist_state="session")
shown = dictionaries.found(entries.frame.assign(low_frequency=low), query, only_low)
st.dataframe(
    shown.head(LISTED), hide_index=True, height=420, alt="Entries of the dictionary", column_config={
        "piece": "Piece", "documents": st.column_config.NumberColumn("Documents", format="localized"),
        "idf": wording.number_column("idf", 3), "low_frequency": st.column_config.CheckboxColumn("Low-frequency"),
    },
)
listed = f"the first {LISTED:,} of {len(shown):,}" if len(shown) > LISTED else f"{len(shown):,}"
st.caption(f"Listed: {listed} that match, of {len(entries.frame):,} entries, the most frequent first.")
wording.how_to_read(("idf",), NOTE)
st.caption(f":small[{verbatim(path.name)} · tokenizer {verbatim(entries.dictionary.tokenizer[:12])}]")
