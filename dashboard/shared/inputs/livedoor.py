"""An uploaded livedoor archive to labelled sentences: what is in it, and which articles and lines to take."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.wording import verbatim
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.labelled.livedoor import PARTS, Livedoor, labelled, read_livedoor

PER_CATEGORY = 100  # as in the papers
KEPT = 2  # for each session: a corpus of 7,000 articles is 30 MB
WORDS = {part: plural.capitalize() for part, plural in PARTS.items()}


def livedoor_input(kind: str, upload: Any) -> LabelledSentences:
    """Draws the categories that were found and the choices; returns the sentences. Raises InputError.

    `upload` is what the file uploader of a `kind` of run holds: an archive in the layout of the livedoor corpus.
    """
    corpus = _corpus(upload.file_id, upload.name, upload)
    categories = corpus.categories
    found = " · ".join(f"{category} {n:,}" for category, n in categories.items())
    st.caption(f"{len(corpus.articles):,} articles in {len(categories)} categories: {verbatim(found)}")
    if corpus.bad:
        with st.expander(f"Articles that cannot be read: {len(corpus.bad):,}", icon=":material/content_cut:"):
            st.dataframe(pd.DataFrame([{"what is wrong": bad.reason} for bad in corpus.bad]), hide_index=True,
                         placeholder="–", alt="Articles that cannot be read, and why")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        part = st.segmented_control(
            "Of each article", list(WORDS), format_func=WORDS.__getitem__, default="title", required=True,
            key=f"{kind}-livedoor-part", persist_state="session",
            help="Line 3 of each article, as in the papers, or all that follows it. A body longer than a model reads "
            "is left out.")
        most = max(categories.values())
        n_each = st.number_input(
            "Articles per category", 1, value=min(PER_CATEGORY, most), step=1, width=170,
            key=f"{kind}-livedoor-n-{upload.file_id}", help="Drawn with the seed; all of a category that has fewer. "
            "The papers took 100.")
        seed = st.number_input("Seed", 0, value=0, step=1, width=110, key=f"{kind}-livedoor-seed",
                               persist_state="session", help="Which articles are drawn.",
                               disabled=n_each >= most)
    return labelled(corpus, part=part, per_category=None if n_each >= most else n_each, seed=seed)


@st.cache_resource(max_entries=KEPT, scope="session", show_spinner="Reading the articles …")
def _corpus(file_id: str, name: str, _upload: Any) -> Livedoor:
    """An uploaded archive. `file_id` is new with every upload, so it stands for the content."""
    return read_livedoor(_upload.getvalue(), name)
