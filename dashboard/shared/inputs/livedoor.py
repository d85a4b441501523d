"""An uploaded livedoor archive to labelled sentences: what is in it, and which articles and lines to take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.inputs import settings
from dashboard.shared.inputs.uploads import read_upload
from dashboard.shared.wording import verbatim
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.labelled.livedoor import AS_IN_THE_PAPERS, PARTS, Drawing, labelled, read_livedoor
from engine.messages.languages import tr, translated
from engine.options import options_of

OPTIONS = options_of(Drawing)
WORDS = {part: plural.capitalize() for part, plural in PARTS.items()}


def livedoor_input(kind: str, upload: Any) -> LabelledSentences:
    """Draws the categories in the archive and the choices; returns the sentences. Raises InputError.

    `upload` is what the file uploader of a `kind` of run holds: an archive in the layout of the livedoor corpus.
    """
    corpus = read_upload(read_livedoor, upload.file_id, upload.getvalue, name=upload.name)
    categories = corpus.categories
    counts = " · ".join(f"{category} {n:,}" for category, n in categories.items())
    st.caption(
        tr(
            "{n:,} articles in {n_categories} categories: {counts}",
            n=len(corpus.articles),
            n_categories=len(categories),
            counts=verbatim(counts),
        )
    )
    if corpus.bad:
        with st.expander(tr("Articles that cannot be read: {n:,}", n=len(corpus.bad)), icon=":material/content_cut:"):
            st.dataframe(
                pd.DataFrame([{"reason": translated(bad.reason)} for bad in corpus.bad]),
                hide_index=True,
                placeholder="–",
                column_config={"reason": tr("What is wrong")},
                alt=tr("Articles that cannot be read, and why"),
            )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        part = settings.segments(tr("Of each article"), OPTIONS["part"], words=WORDS, key=f"{kind}-livedoor-part")
        most = max(categories.values())
        drawn = replace(AS_IN_THE_PAPERS, per_category=min(AS_IN_THE_PAPERS.per_category or most, most))
        n_each = settings.number(
            tr("Articles per category"),
            OPTIONS["per_category"],
            width=170,
            first=drawn,
            key=f"{kind}-livedoor-n-{upload.file_id}",
            persist_state=None,
        )
        seed = settings.number(
            tr("Seed"), OPTIONS["seed"], width=110, key=f"{kind}-livedoor-seed", disabled=n_each >= most
        )
    return labelled(corpus, part=part, per_category=None if n_each >= most else n_each, seed=seed)
