"""Comparison of models on minimal pairs: ranks, McNemar's test, the pairs with the largest differences."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.benchmark.levels import tested_table
from dashboard.minimal_pairs.figure_selection import PointSelection, select
from dashboard.minimal_pairs.pair_table import OUTCOMES
from dashboard.minimal_pairs.view import ScoredRun, SectionChoices, table
from dashboard.minimal_pairs.words import PairWords
from dashboard.shared.ranks import rank_labels
from dashboard.shared.theme import with_shown_models
from dashboard.shared.wording import measure_help, verbatim
from engine.evaluations.minimal_pairs.comparison import margin_unit
from engine.messages.languages import tr, tr_n, translated
from engine.models.sources.names import shown_name

HEIGHT, FEW = 320, 8
EXAMPLES = 50


def models_section(view: ScoredRun, choices: SectionChoices, words: PairWords) -> dict[str, go.Figure]:
    """Draw the section, which has no figure; a pair chosen among those with the largest differences is listed below."""
    if words.ranks:
        _ranking(view)
    if view.clustered_by:
        _over_clusters(view)
    else:
        _comparisons(view, words)
    _differing(view, choices, words)
    return {}


def _ranking(view: ScoredRun) -> None:
    ranking = table(view, "ranking")
    st.markdown(
        tr_n(
            "**Ranking** :gray[on the {n} pair that all models scored]",
            "**Ranking** :gray[on the {n:,} pairs that all models scored]",
            int(ranking["n"].max()),
        )
    )
    st.dataframe(
        with_shown_models(ranking)[["rank", "model", "accuracy", "ci_low", "ci_high", "n_correct"]].assign(
            rank=rank_labels(ranking), **{name: 100 * ranking[name] for name in ("accuracy", "ci_low", "ci_high")}
        ),
        hide_index=True,
        placeholder="–",
        alt=tr("Ranks and accuracies of the models"),
        column_config={
            "rank": st.column_config.TextColumn(
                tr("Rank"),
                width="small",
                help=tr(
                    "From 1 + the number of models that are significantly better, to the number of models less those that "
                    "are significantly worse."
                ),
            ),
            "model": tr("Model"),
            "accuracy": st.column_config.NumberColumn(tr("Accuracy %"), format="%.1f"),
            "ci_low": st.column_config.NumberColumn(tr("95% from"), format="%.1f"),
            "ci_high": st.column_config.NumberColumn(tr("to"), format="%.1f"),
            "n_correct": tr("Correct"),
        },
    )


def _over_clusters(view: ScoredRun) -> None:
    st.markdown(
        tr("**Pairwise comparisons** :gray[Student's paired test over clusters, Holm's correction]"),
        help=measure_help("accuracy_difference"),
    )
    tested_table(
        table(view, "clustered_comparisons"),
        {"other": tr("Other model")},
        tr("Every two models compared over clusters of pairs"),
    )


def _comparisons(view: ScoredRun, words: PairWords) -> None:
    comparisons = table(view, "comparisons")
    st.markdown(
        tr("**Pairwise comparisons** :gray[McNemar's exact test with Holm's correction]"),
        help=measure_help("accuracy_difference"),
    )
    st.dataframe(
        with_shown_models(comparisons).assign(
            **{name: 100 * comparisons[name] for name in ("difference", "ci_low", "ci_high")},
            verdict=comparisons["separable"].map({True: tr("yes"), False: tr("no")}),
        ),
        hide_index=True,
        placeholder="–",
        alt=tr("Every two models compared on the same pairs"),
        column_config={
            "model": tr("Model"),
            "other": tr("Other model"),
            "n_only_model": tr(words.only_model),
            "n_only_other": tr(words.only_other),
            "difference": st.column_config.NumberColumn(tr("Δ points"), format="%+.1f"),
            "ci_low": st.column_config.NumberColumn(tr("95% from"), format="%+.1f"),
            "ci_high": st.column_config.NumberColumn(tr("to"), format="%+.1f"),
            "p_holm": st.column_config.NumberColumn(tr("p (Holm)"), format="%.2g"),
            "verdict": tr("Significant"),
        },
        column_order=[
            "model",
            "other",
            "n_only_model",
            "n_only_other",
            "difference",
            "ci_low",
            "ci_high",
            "p_holm",
            "verdict",
        ],
    )


def _differing(view: ScoredRun, choices: SectionChoices, words: PairWords) -> None:
    st.markdown(
        tr(
            "**Largest differences between two models** :gray[decided differently first, then by the difference of the "
            "margins, each divided by its model's root mean square; select a pair to see its tokens below]"
        )
    )
    names = list(permutations(view.models, 2)) if len(view.models) > 2 else [view.models[:2]]
    model, other = names[0]
    if len(names) > 1:
        two = choices.first("two", names[0], view.models)
        model, other = st.selectbox(
            tr("Two models"),
            names,
            index=names.index(two) if two in names else 0,
            format_func=lambda models: tr(
                "{model} vs. {other}", model=shown_name(models[0]), other=shown_name(models[1])
            ),
            key=choices.key("two"),
            label_visibility="collapsed",
        )
        choices.keep("two", (model, other), names[0])
    differing = table(view, "differing", model, other).head(EXAMPLES)
    outcomes = [tr(words.outcomes[name]) for name in OUTCOMES]
    shown = differing.assign(
        **{name: [outcomes[decision + 1] for decision in differing[name]] for name in ("decision", "other_decision")}
    )
    unit = translated(margin_unit(view.normalization))
    key = f"minimal-differing-{view.run_id}-{model}-{other}-{view.normalization}-{view.alpha}-{view.subset}"
    st.dataframe(
        shown,
        hide_index=True,
        height=HEIGHT if len(shown) > FEW else "auto",
        selection_mode="single-row",
        key=key,
        on_select=lambda: _pair_chosen(key, view.run_id, model, differing),
        placeholder="–",
        alt=tr("The pairs with the largest differences between two models"),
        column_order=["row", "decision", "margin", "other_decision", "other_margin", "acceptable", "unacceptable"],
        column_config={
            "row": st.column_config.NumberColumn(tr("Row"), width="small"),
            "decision": shown_name(model),
            "other_decision": shown_name(other),
            "margin": st.column_config.NumberColumn(tr("Margin"), format="%+.3f", help=verbatim(unit)),
            "other_margin": st.column_config.NumberColumn(tr("Margin"), format="%+.3f", help=verbatim(unit)),
            "acceptable": tr(words.acceptable),
            "unacceptable": tr(words.unacceptable),
        },
    )


def _pair_chosen(key: str, run_id: str, model: str, differing: pd.DataFrame) -> None:
    state: Any = st.session_state.get(key)
    rows = state["selection"]["rows"] if state else []
    if rows and rows[0] < len(differing):
        select(run_id, PointSelection(model, row=int(differing["row"].iloc[rows[0]])))
