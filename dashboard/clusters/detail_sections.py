"""The folded sections below the maps: uncertainty of the ranking, explanation of the scores, other indices."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.clusters.explanation import explanation_section
from dashboard.clusters.uncertainty import other_indices, ranking_uncertainty
from engine.evaluations.clusters.records import Result


@st.fragment
def detail_sections(run_id: str, result: Result) -> None:
    """Draw the three sections, each once it is opened; opening one does not rerun the rest of the page."""
    sections: tuple[tuple[str, str, Callable[[], None]], ...] = (
        ("Uncertainty of the ranking", ":material/balance:", lambda: ranking_uncertainty(result)),
        ("Scores by class and sentence", ":material/category:", lambda: explanation_section(run_id, result)),
        ("Other validity indices", ":material/straighten:", lambda: other_indices(result)),
    )
    for title, icon, draw in sections:
        with st.expander(title, icon=icon, on_change="rerun", key=f"clusters-open-{title}") as section:
            if section.open:
                draw()
