"""The sections of the minimal-pairs page as tabs; only the open one is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.categories import category_section, columns_of, stereotype_section
from dashboard.minimal_pairs.fair_subsets import fair_section
from dashboard.minimal_pairs.length import RIGHT, length_section, scores_section
from dashboard.minimal_pairs.models import models_section
from dashboard.minimal_pairs.scoring import scoring_section
from dashboard.minimal_pairs.view import View
from dashboard.shared.address import view as address_view
from engine.options import option, option_of

Figures = dict[str, go.Figure]


SECTIONS = STEREOTYPES, LENGTH, SCORES, CATEGORIES, FAIR, MODELS, SCORING = (
    "Stereotypes", "Length", "Scores", "Categories", "Fair subsets", "Models", "Scoring")


@dataclass(frozen=True)
class Sectioned:
    """The section that is open, as the address of the page has it."""

    section: str = option("", "The section that is open; the first that the run has where none is named.",
                          choices=("", *SECTIONS))


SECTION = option_of(Sectioned, "section")


def sections(view: View, whole: View, signature: Mapping[str, Any], address: address_view.View, first: str, *,
             stereotypes: bool) -> Figures:
    """Draw the tabs that apply to the run, at first `first` open; returns the figures of the open one by caption.

    The address names it.
    """
    word = "sent_more preferred" if stereotypes else RIGHT
    parts: dict[str, Callable[[], Figures]] = {}
    if stereotypes:
        parts[STEREOTYPES] = lambda: stereotype_section(view, signature)
    parts[LENGTH] = lambda: length_section(view, signature, word)
    parts[SCORES] = lambda: scores_section(view, signature)
    if columns_of(view.result) and not stereotypes:
        parts[CATEGORIES] = lambda: category_section(view, signature, word)
    parts[FAIR] = lambda: fair_section(view, whole, signature, stereotypes=stereotypes)
    if len(view.models) > 1:
        parts[MODELS] = lambda: models_section(view, stereotypes=stereotypes)
    parts[SCORING] = lambda: scoring_section(view.result)
    figures: Figures = {}
    own = next(iter(parts))
    tabs = st.tabs(list(parts), default=first if first in parts else own, on_change="rerun",
                   key=f"minimal-pairs-tabs-{address.place}")
    for name, tab, draw in zip(parts, tabs, parts.values(), strict=True):
        if tab.open:
            address.keep(SECTION, "" if name == own else name, "")
            with tab:
                figures |= draw()
    return figures
