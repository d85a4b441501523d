"""The sections of the minimal-pairs page as tabs, of which only the open one is computed."""

from __future__ import annotations

import streamlit as st

from dashboard.minimal_pairs.kinds.kind_page import Figures, Sections
from dashboard.minimal_pairs.view import SECTION_OPTIONS, SectionChoices
from dashboard.shared.address.page_address import PageAddress
from engine.messages.languages import in_all_languages, tr

SECTION = SECTION_OPTIONS["section"]


def sections(parts: Sections, address: PageAddress, first: str, own_column: str) -> tuple[Figures, str]:
    """Draw the tabs, at first `first` open; returns the figures of the open one by caption.

    With them the column that the open one groups the pairs by, as the command has it; own_column where nobody chose.

    The address names it, with the section's own choices.
    """
    address.own(SECTION_OPTIONS.values())
    figures: Figures = {}
    own = next(iter(parts))
    at_first = first if first in parts else own
    key = f"minimal-pairs-tabs-{address.place}"
    for name in parts:
        if st.session_state.get(key) in in_all_languages(name):  # after another language was chosen: the same tab
            st.session_state[key] = tr(name)
    tabs = st.tabs([tr(name) for name in parts], default=tr(at_first), on_change="rerun", key=key)
    for name, tab, draw in zip(parts, tabs, parts.values(), strict=True):
        if tab.open:
            address.keep(SECTION, "" if name == own else name, "")
            with tab:
                figures |= draw(SectionChoices(address, name == at_first))
    return figures, address.kept(SECTION_OPTIONS["by"], own_column)
