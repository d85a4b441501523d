"""What stands folded under the maps: how sure the ranking is, why a model scores as it does, what other indices say."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.clusters.explanation import why_section
from dashboard.clusters.uncertainty import how_sure, other_indices
from engine.evaluations.clusters.records import Result


@st.fragment
def details(run_id: str, result: Result) -> None:
    """The three parts, each drawn once it is opened; opening one runs nothing else of the page again."""
    parts: tuple[tuple[str, str, Callable[[], None]], ...] = (
        ("How sure is the ranking?", ":material/balance:", lambda: how_sure(result)),
        ("Why this score?", ":material/category:", lambda: why_section(run_id, result)),
        ("What do other indices say?", ":material/straighten:", lambda: other_indices(result)),
    )
    for title, icon, draw in parts:
        with st.expander(title, icon=icon, on_change="rerun", key=f"clusters-open-{title}") as part:
            if part.open:
                draw()
