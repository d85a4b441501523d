"""The folded sections below the maps: uncertainty of the ranking, explanation of the scores, other indices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from dashboard.clusters.explanation import Explained, explanation_section
from dashboard.clusters.uncertainty import other_indices, ranking_uncertainty
from dashboard.shared.address.page_address import PageAddress
from engine.evaluations.clusters.records import Result
from engine.messages.languages import mark, tr
from engine.options import option, option_of, options_of

TITLES = {
    "uncertainty": mark("Uncertainty of the ranking"),
    "classes": mark("Scores by class and sentence"),
    "indices": mark("Other validity indices"),
}
ICONS = {"uncertainty": ":material/balance:", "classes": ":material/category:", "indices": ":material/straighten:"}


@dataclass(frozen=True)
class Opened:
    """The sections that are open, as written in the page's URL."""

    section: tuple[str, ...] = option((), "The folded sections that are open.", choices=TITLES)  # untranslated


SECTION = option_of(Opened, "section")


@st.fragment
def detail_sections(run_id: str, result: Result, view: PageAddress) -> None:
    """Draw the three sections, each once it is opened; opening one does not rerun the rest of the page."""
    draw: dict[str, Callable[[], None]] = {
        "uncertainty": lambda: ranking_uncertainty(result),
        "classes": lambda: explanation_section(run_id, result, view),
        "indices": lambda: other_indices(result),
    }
    view.own(options_of(Explained).values())
    first, opened = view.first(SECTION, ()), []
    for name, title in TITLES.items():
        with st.expander(
            tr(title), name in first, icon=ICONS[name], on_change="rerun", key=view.key(f"open-{name}")
        ) as section:
            if section.open:
                opened.append(name)
                draw[name]()
    view.keep(SECTION, tuple(opened), ())
    view.write_in_fragment()
