"""The sections of the minimal-pairs page as tabs; only the open one is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.categories import category_section, columns_of, stereotype_section
from dashboard.minimal_pairs.fair_subsets import fair_section
from dashboard.minimal_pairs.length import RIGHT, length_section, scores_section
from dashboard.minimal_pairs.models import models_section
from dashboard.minimal_pairs.scoring import scoring_section
from dashboard.minimal_pairs.view import View

Figures = dict[str, go.Figure]


def sections(view: View, whole: View, signature: Mapping[str, Any], *, stereotypes: bool) -> Figures:
    """Draw the tabs that apply to the run; returns the figures of the open one by caption."""
    word = "sent_more preferred" if stereotypes else RIGHT
    parts: dict[str, Callable[[], Figures]] = {}
    if stereotypes:
        parts["Stereotypes"] = lambda: stereotype_section(view, signature)
    parts["Length"] = lambda: length_section(view, signature, word)
    parts["Scores"] = lambda: scores_section(view, signature)
    if columns_of(view.result) and not stereotypes:
        parts["Categories"] = lambda: category_section(view, signature, word)
    parts["Fair subsets"] = lambda: fair_section(view, whole, signature, stereotypes=stereotypes)
    if len(view.models) > 1:
        parts["Models"] = lambda: models_section(view, stereotypes=stereotypes)
    parts["Scoring"] = lambda: scoring_section(view.result)
    figures: Figures = {}
    tabs = st.tabs(list(parts), key=f"minimal-tabs-{view.run_id}", on_change="rerun")
    for tab, draw in zip(tabs, parts.values(), strict=True):
        if tab.open:
            with tab:
                figures |= draw()
    return figures
