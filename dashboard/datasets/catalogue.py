"""The field's benchmarks in a table, and the button that makes one the data of a page."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import pages
from dashboard.faces import FACES
from engine.datasets.hub.catalogue import BENCHMARKS, Benchmark
from engine.messages.languages import tr, translated
from engine.messages.message import list_of


def catalogue() -> None:
    """Draw, folded, what is known of each benchmark, and the choice of one to use."""
    with st.expander(tr("Benchmarks of the field"), icon=":material/library_books:", key="datasets-catalogue"):
        st.dataframe(
            pd.DataFrame([_row(known) for known in BENCHMARKS]),
            hide_index=True,
            placeholder="–",
            alt=tr("The benchmarks"),
            column_config={
                "name": st.column_config.TextColumn(tr("Name"), pinned=True),
                "about": tr("What it is"),
                "language": tr("Language"),
                "rows": st.column_config.NumberColumn(tr("Rows"), format="localized"),
                "licence": tr("Licence"),
                "layout": tr("Read as"),
                "pages": tr("Pages"),
                "hub": tr("Name for --data"),
                "source": st.column_config.LinkColumn(tr("Published at")),
            },
        )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            of_hub = {known.name: known for known in BENCHMARKS if known.hub}
            chosen = of_hub[
                st.selectbox(tr("Benchmark"), list(of_hub), key="datasets-benchmark", label_visibility="collapsed")
            ]
            for kind in chosen.kinds:
                page = FACES[kind].page
                if st.button(
                    tr("Use on {page}", page=tr(page.title)), key=f"datasets-benchmark-use-{kind}", icon=page.icon
                ):
                    st.session_state[f"{kind}-source"] = "hub"
                    st.session_state[f"{kind}-hub"] = chosen.hub
                    st.session_state.update(FACES[kind].data_choices)
                    st.switch_page(pages.path(page.name))
        st.caption(
            tr(
                "Names, sizes and licences as published: none of these data is part of Hakari, and the hub may have "
                "changed them. One without a name is downloaded where it is published, and given as a file."
            )
        )


def _row(known: Benchmark) -> dict[str, object]:
    return {
        "name": known.name,
        "about": translated(known.about),
        "language": known.language,
        "rows": known.n_rows,
        "licence": translated(known.licence),
        "layout": translated(known.layout),
        "pages": translated(list_of(tr(FACES[kind].page.title) for kind in known.kinds)),
        "hub": known.hub,
        "source": known.source,
    }
