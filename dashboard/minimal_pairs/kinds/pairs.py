"""The page of pairs, and of benchmarks of stereotypes, of which accuracy is the wrong word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.accuracy_cards import accuracy_cards, cluster_caption, item_caption
from dashboard.minimal_pairs.benchmark.challenge import challenge_section, challenge_table
from dashboard.minimal_pairs.benchmark.checkpoints import checkpoints_section
from dashboard.minimal_pairs.benchmark.columns import columns_of, own_column
from dashboard.minimal_pairs.benchmark.further_checkpoints import further_checkpoints
from dashboard.minimal_pairs.benchmark.levels import level_tables, levels_section
from dashboard.minimal_pairs.browser import Listed, pair_browser
from dashboard.minimal_pairs.categories import CATEGORIES as BY_CATEGORY
from dashboard.minimal_pairs.categories import category_section, stereotype_section
from dashboard.minimal_pairs.charts import category_figure, difference_figure, fair_figure
from dashboard.minimal_pairs.editing import edit_form, edited_pair, scored_again
from dashboard.minimal_pairs.fair_subsets import FAIR as FAIR_FIGURE
from dashboard.minimal_pairs.fair_subsets import default_subset, fair_section
from dashboard.minimal_pairs.guide import guide
from dashboard.minimal_pairs.kinds.kind_page import Browsed, Figures, KindPage, Sections
from dashboard.minimal_pairs.length.charts import correlation_figure, points_figure, slope_figure
from dashboard.minimal_pairs.length.sections import (
    CORRELATION,
    SLOPE,
    by_score,
    correlation_caption,
    length_section,
    scores_section,
)
from dashboard.minimal_pairs.models import models_section
from dashboard.minimal_pairs.pair_table import first_pairs
from dashboard.minimal_pairs.scoring import scoring_section
from dashboard.minimal_pairs.tokens.contributions import token_contributions_view
from dashboard.minimal_pairs.view import (
    CATEGORIES,
    CHALLENGE,
    CHECKPOINTS,
    FAIR,
    LENGTH,
    LEVELS,
    MODELS,
    SCORES,
    SCORING,
    STEREOTYPES,
    ScoredRun,
    table,
    tables,
)
from dashboard.minimal_pairs.words import PAIRS as WORDS
from dashboard.minimal_pairs.words import STEREOTYPES as WORDS_OF_STEREOTYPES
from dashboard.minimal_pairs.words import PairWords
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.headlines import Headline, interval_note, of_models, percent
from dashboard.shared.theme import with_shown_models
from engine.datasets.minimal_pairs import kinds
from engine.evaluations.minimal_pairs import views
from engine.evaluations.minimal_pairs.babylm.tasks import may_have_tasks
from engine.evaluations.minimal_pairs.kinds.analysis import PAIRS, PROMPTED
from engine.evaluations.minimal_pairs.prompts.tables import by_template
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series
from engine.evaluations.minimal_pairs.views import available
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import mark, tr
from engine.messages.message import Message
from engine.models.sources.names import shown_name

MEASURES = (
    "accuracy",
    *(score.card for score in NORMALIZATIONS.values()),
    "length_slope",
    "accuracy_difference",
)
NOTE = mark("""A and U are the numbers of tokens of the acceptable and the unacceptable sentence; they depend on the
tokenizer, so on the model. A model that only preferred fewer tokens would be correct where A < U and incorrect where
A > U: compare those two before you rely on the overall accuracy. Where A = U, LP, MeanLP and PenLP prefer the same sentence.

**Point size**: number of pairs; **bands and lines**: 95% intervals (Wilson, or over clusters as chosen);
**dotted**: chance, or LP for comparison.
A tie counts as a pair, never as correct. Outer differences with fewer than 5 pairs are merged into one point. Scores of
different normalisations have different units.""")
NOTE_ON_STEREOTYPES = mark("""A and U are the numbers of tokens of sent_more and of sent_less; they depend on the
tokenizer, so on the model. A model that only preferred fewer tokens would prefer sent_more where A < U and sent_less where
A > U: compare those two before you rely on the overall share. Where A = U, LP, MeanLP and PenLP prefer the same sentence.

**Point size**: number of pairs; **bands and lines**: 95% intervals (Wilson); **dotted**: no preference, or LP for
comparison. A tie counts as a pair, never as sent_more. Outer differences with fewer than 5 pairs are merged into one point.
Scores of different normalisations have different units.""")


def _headlines(result: Result) -> list[Headline]:
    """Accuracy of each model over all pairs by plain log-likelihood, with its 95% interval."""
    summary = views.summary(result, ("LP",))
    overall = summary[summary["stratum"] == "all"].sort_values("accuracy", ascending=False, kind="stable")
    return of_models(overall, "accuracy", lambda row: percent(row["accuracy"]), interval_note)


def _sections(
    view: ScoredRun, whole: ScoredRun, signature: Mapping[str, Any], words: PairWords, *, grouped: bool
) -> Sections:
    """grouped: whether there is a section of the columns that group the pairs."""
    parts: Sections = {}
    has_curve = bool(checkpoint_series(view.result, view.models))
    if has_curve:
        parts[CHECKPOINTS] = lambda choices: checkpoints_section(view, signature, choices)
    counted = counted_models(view)
    if counted:
        parts[LENGTH] = lambda choices: length_section(view, signature, words, choices)
    if len(counted) == len(view.models):
        parts[SCORES] = lambda choices: scores_section(view, signature, choices, of_pairs=grouped)
    if grouped and columns_of(view.result):
        parts[CATEGORIES] = lambda choices: category_section(view, signature, words.counted, choices)
        parts[LEVELS] = lambda choices: levels_section(view, choices)
    if grouped and may_have_tasks(view.result.format, view.result.items):
        parts[CHALLENGE] = lambda _: challenge_section(view)
    if counted:
        parts[FAIR] = lambda choices: fair_section(view, whole, signature, choices, words)
    if len(view.models) > 1:
        parts[MODELS] = lambda choices: models_section(view, choices, words)
    if not has_curve and further_checkpoints(view.run_id, view.result):
        parts[CHECKPOINTS] = lambda choices: checkpoints_section(view, signature, choices)
    parts[SCORING] = lambda _: scoring_section(view.result, view.clustered_by)
    return parts


def _makers(
    view: ScoredRun, whole: ScoredRun, words: PairWords, *, grouped: bool
) -> dict[str, Callable[[], go.Figure]]:
    counted, columns, card = counted_models(view), columns_of(view.result), NORMALIZATIONS[view.normalization].card
    if not counted:
        return (
            {BY_CATEGORY: lambda: category_figure(table(view, "categories", columns[0]), word=words.counted)}
            if grouped and columns
            else {}
        )
    model = counted[0]
    made: dict[str, Callable[[], go.Figure]] = {
        words.by_difference: lambda: difference_figure(
            with_shown_models(table(view, "differences")),
            with_shown_models(table(view, "differences", normalization="LP")) if view.normalization != "LP" else None,
            words.counted,
        ),
        SLOPE: lambda: slope_figure(tables(view, "slopes")),
        CORRELATION: lambda: points_figure(table(view, "points", model), card, model),
        correlation_caption("spearman"): lambda: correlation_figure(tables(view, "correlations")),
    }
    if len(available(view.result.pairs)) > 1:
        for name in counted:
            caption = Message("{caption}, scores of {model}", caption=words.by_difference, model=shown_name(name))
            made[caption] = partial(_of_scores, view, name, words.counted)
    if grouped and columns:
        made[BY_CATEGORY] = lambda: category_figure(table(view, "categories", columns[0]), word=words.counted)
    column = columns[0] if columns else "category"
    made[FAIR_FIGURE] = lambda: fair_figure(table(whole, "beside", default_subset(view), column), model)
    return made


def counted_models(view: ScoredRun) -> list[str]:
    """The models whose numbers of tokens are known, so that length can be seen."""
    uncounted = views.without_token_counts(view.result)
    return [model for model in view.models if model not in uncounted]


def _of_scores(view: ScoredRun, model: str, word: str) -> go.Figure:
    return difference_figure(by_score(view, model), None, word)


def _tables(
    view: ScoredRun, by: str, levels: tuple[str, ...], _: tuple[str, ...]
) -> dict[str, Callable[[], pd.DataFrame]]:
    """Those of the command under the score and the pairs on show; summary, slopes and differences under every score.

    Every difference has a row; the figure alone merges outer ones.
    """
    made: dict[str, Callable[[], pd.DataFrame]] = {
        "pairs": lambda: PAIRS.selected(view.result.pairs),
        "summary": partial(tables, view, "summary"),
        **{name: partial(_of_score, view, name) for name in ("ranking", "comparisons")},
        "differences": partial(tables, view, "each_difference"),
        "bias": partial(tables, view, "slopes"),
        **({"linking": partial(tables, view, "linking")} if len(table(view, "linking")) else {}),
        "pairing": partial(tables, view, "pairing"),
        "categories": partial(table, view, "categories", by),
        **(
            {
                "templates": partial(by_template, view.result, view.clustered_by),
                PROMPTED.name: lambda: PROMPTED.selected(view.result.prompted),
            }
            if len(view.result.prompted)
            else {}
        ),
        **({"items": partial(tables, view, "items")} if len(table(view, "items")) else {}),
        **(
            {"checkpoints": partial(table, view, "checkpoints", by)}
            if checkpoint_series(view.result, view.models)
            else {}
        ),
        **(
            {"babylm": partial(challenge_table, view.run_id)}
            if may_have_tasks(view.result.format, view.result.items)
            else {}
        ),
        "excluded": lambda: view.result.excluded,
    }
    return made | level_tables(view, levels)


def _of_score(view: ScoredRun, name: str) -> pd.DataFrame:
    return table(view, name).assign(normalization=view.normalization)


def _draw_summary(view: ScoredRun, words: PairWords) -> None:
    accuracy_cards(table(view, "summary"), words)
    cluster_caption(table(view, "summary"), view.result)
    item_caption(table(view, "items"))


def _browse(view: ScoredRun, address: PageAddress, first: Listed, words: PairWords) -> Browsed | None:
    st.markdown(tr("**Pairs** :gray[under the selected score]"))
    return pair_browser(view, address, first, words)


def _draw_pair(
    view: ScoredRun, of_sentences: Result, browsed: Browsed | None, signature: Mapping[str, Any], words: PairWords
) -> Figures:
    if browsed is None:
        edited_pair(view, None, view.models[0], signature)
        return {}
    model, pair = browsed
    figures = token_contributions_view(
        view.run_id,
        of_sentences,
        model,
        pair,
        view.normalization,
        view.alpha,
        signature,
        words=words,
        region=view.region,
    )
    if scored_again(view):
        edit_form(view, pair)
    edited_pair(view, pair, model, signature)
    return figures


def _compared(view: ScoredRun) -> dict[str, Any]:
    return {
        "normalization": view.normalization,
        "alpha": view.alpha,
        "unigrams": view.unigrams,
        "region": view.region,
    }


OF_PAIRS = KindPage(
    kinds.PAIRS,
    MEASURES,
    NOTE,
    _headlines,
    first_pairs,
    partial(_sections, words=WORDS, grouped=True),
    partial(_makers, words=WORDS, grouped=True),
    _tables,
    frozenset(("normalization", "alpha", "unigrams", "subset", "region", "clustered_by")),
    own_column=own_column,
    reading=lambda view: guide(table(view, "summary"), view.normalization, available(view.result.pairs)),
    draw_summary=partial(_draw_summary, words=WORDS),
    browse=partial(_browse, words=WORDS),
    draw_pair=partial(_draw_pair, words=WORDS),
    compared=_compared,
)
OF_STEREOTYPES = replace(
    OF_PAIRS,
    data=kinds.STEREOTYPES,
    note=NOTE_ON_STEREOTYPES,
    measures=(*MEASURES, "stereotype_preference", "shared_token_preference"),
    sections=lambda view, whole, signature: {
        STEREOTYPES: lambda choices: stereotype_section(view, signature, choices),
        **_sections(view, whole, signature, WORDS_OF_STEREOTYPES, grouped=False),
    },
    makers=partial(_makers, words=WORDS_OF_STEREOTYPES, grouped=False),
    choices=OF_PAIRS.choices - {"clustered_by"},
    reading=lambda view: (),
    draw_summary=partial(_draw_summary, words=WORDS_OF_STEREOTYPES),
    browse=partial(_browse, words=WORDS_OF_STEREOTYPES),
    draw_pair=partial(_draw_pair, words=WORDS_OF_STEREOTYPES),
)
