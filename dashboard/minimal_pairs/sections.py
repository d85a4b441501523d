"""The sections of the minimal-pairs page as tabs, of which only the open one is computed, and what they offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.benchmark.checkpoints import checkpoints_section
from dashboard.minimal_pairs.benchmark.columns import columns_of, own_column
from dashboard.minimal_pairs.benchmark.judgements import CURVE, judgements_section, reliability_figure
from dashboard.minimal_pairs.benchmark.levels import levels_section
from dashboard.minimal_pairs.benchmark.predictions import CURVES as BY_REGION
from dashboard.minimal_pairs.benchmark.predictions import first_region_figure, predictions_section, regions_section
from dashboard.minimal_pairs.categories import CATEGORIES as BY_CATEGORY
from dashboard.minimal_pairs.categories import category_section, stereotype_section
from dashboard.minimal_pairs.charts import PREFERRED, RIGHT, category_figure, difference_figure, fair_figure
from dashboard.minimal_pairs.fair_subsets import FAIR as FAIR_FIGURE
from dashboard.minimal_pairs.fair_subsets import default_subset, fair_section
from dashboard.minimal_pairs.length.charts import correlation_figure, points_figure, slope_figure
from dashboard.minimal_pairs.length.sections import (
    CORRELATION,
    SLOPE,
    by_score,
    correlation_caption,
    difference_caption,
    length_section,
    scores_section,
)
from dashboard.minimal_pairs.models import models_section
from dashboard.minimal_pairs.scoring import scoring_section
from dashboard.minimal_pairs.view import (
    CATEGORIES,
    CHECKPOINTS,
    FAIR,
    JUDGED,
    LENGTH,
    LEVELS,
    MODELS,
    PREDICTED,
    REGIONS,
    SCORES,
    SCORING,
    SECTION_OPTIONS,
    STEREOTYPES,
    ScoredRun,
    SectionChoices,
    table,
    tables,
)
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.theme import with_shown_models
from engine.evaluations.minimal_pairs.files import PAIRS
from engine.evaluations.minimal_pairs.judgements import is_design, is_judged
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series
from engine.evaluations.minimal_pairs.views import available
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import in_all_languages, tr
from engine.models.sources.names import shown_name

Figures = dict[str, go.Figure]
SECTION = SECTION_OPTIONS["section"]


def makers(view: ScoredRun, whole: ScoredRun, *, stereotypes: bool) -> dict[str, Callable[[], go.Figure]]:
    """What draws the figures of all sections as each is before the user changes a choice in it, by caption."""
    word, model, columns = _word(stereotypes), view.models[0], columns_of(view.result)
    if is_design(view.result):
        return {tr(BY_REGION): lambda: first_region_figure(view)}
    card = NORMALIZATIONS[view.normalization].card
    if is_judged(view.result):
        return {
            tr(CURVE): lambda: reliability_figure(table(view, "reliability")),
            tr(CORRELATION): lambda: points_figure(table(view, "points", model), card),
            correlation_caption("spearman"): lambda: correlation_figure(tables(view, "correlations")),
        }
    made: dict[str, Callable[[], go.Figure]] = {
        difference_caption(word): lambda: difference_figure(
            with_shown_models(table(view, "differences")),
            with_shown_models(table(view, "differences", normalization="LP")) if view.normalization != "LP" else None,
            word,
        ),
        tr(SLOPE): lambda: slope_figure(tables(view, "slopes")),
        tr(CORRELATION): lambda: points_figure(table(view, "points", model), card),
        correlation_caption("spearman"): lambda: correlation_figure(tables(view, "correlations")),
    }
    if len(available(view.result.pairs)) > 1:
        for name in view.models:
            caption = tr("{caption}, scores of {model}", caption=difference_caption(word), model=shown_name(name))
            made[caption] = partial(_of_scores, view, name, word)
    if columns and not stereotypes:
        made[tr(BY_CATEGORY)] = lambda: category_figure(table(view, "categories", columns[0]), word=word)
    column = columns[0] if columns else "category"
    made[tr(FAIR_FIGURE)] = lambda: fair_figure(table(whole, "beside", default_subset(view), column), model)
    return made


def offered_tables(view: ScoredRun, by: str) -> dict[str, Callable[[], pd.DataFrame]]:
    """What makes the tables to download: those of the command, under the score and the pairs shown.

    Summary, slopes and differences come under every score that the run has. by: the column that the categories are
    grouped by. Every difference has a row; the figure alone merges outer ones.
    """
    return {
        "pairs": lambda: PAIRS.selected(view.result.pairs),
        "summary": partial(tables, view, "summary"),
        **{name: partial(_of_score, view, name) for name in ("ranking", "comparisons")},
        "differences": partial(tables, view, "each_difference"),
        "bias": partial(tables, view, "slopes"),
        **({"linking": partial(tables, view, "linking")} if len(table(view, "linking")) else {}),
        "categories": partial(table, view, "categories", by),
        **({"items": partial(tables, view, "items")} if len(table(view, "items")) else {}),
        **(
            {"checkpoints": partial(table, view, "checkpoints", by)}
            if checkpoint_series(view.result, view.models)
            else {}
        ),
        "excluded": lambda: view.result.excluded,
    }


def _of_score(view: ScoredRun, name: str) -> pd.DataFrame:
    return table(view, name).assign(normalization=view.normalization)


def _of_scores(view: ScoredRun, model: str, word: str) -> go.Figure:
    return difference_figure(by_score(view, model), None, word)


def _word(stereotypes: bool) -> str:
    """What is counted."""
    return PREFERRED if stereotypes else RIGHT


def sections(
    view: ScoredRun,
    whole: ScoredRun,
    signature: Mapping[str, Any],
    address: PageAddress,
    first: str,
    *,
    stereotypes: bool,
) -> tuple[Figures, str]:
    """Draw the tabs that apply to the run, at first `first` open; returns the figures of the open one by caption.

    With them the column that the open one groups the pairs by, as in the command.

    The address names it, with the section's own choices.
    """
    address.own(SECTION_OPTIONS.values())
    word = _word(stereotypes)
    parts: dict[str, Callable[[SectionChoices], Figures]] = {}
    judged, design = is_judged(view.result), is_design(view.result)
    single = judged or design
    if stereotypes:
        parts[STEREOTYPES] = lambda choices: stereotype_section(view, signature, choices)
    if design:
        parts[PREDICTED] = lambda choices: predictions_section(view, signature, choices)
        parts[REGIONS] = lambda choices: regions_section(view, signature, choices)
    if checkpoint_series(view.result, view.models) and not single:
        parts[CHECKPOINTS] = lambda choices: checkpoints_section(view, signature, choices)
    if judged:
        parts[JUDGED] = lambda choices: judgements_section(view, signature, choices)
    if not single:
        parts[LENGTH] = lambda choices: length_section(view, signature, word, choices)
    if not design:
        parts[SCORES] = lambda choices: scores_section(view, signature, choices)
    if columns_of(view.result) and not stereotypes and not single:
        parts[CATEGORIES] = lambda choices: category_section(view, signature, word, choices)
        parts[LEVELS] = lambda choices: levels_section(view, choices)
    if not single:
        parts[FAIR] = lambda choices: fair_section(view, whole, signature, choices, stereotypes=stereotypes)
    if len(view.models) > 1 and not single:
        parts[MODELS] = lambda choices: models_section(view, choices, stereotypes=stereotypes)
    parts[SCORING] = lambda _: scoring_section(view.result)
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
    return figures, address.kept(SECTION_OPTIONS["by"], own_column(view.result))
