"""A benchmark's table of a minimal-pairs run: accuracy by levels of columns, scores compared, clusters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.benchmark.columns import column_word, columns_of
from dashboard.minimal_pairs.view import ScoredRun, SectionChoices, table
from dashboard.shared.theme import with_shown_models
from dashboard.shared.wording import measure_help, verbatim
from engine.evaluations.minimal_pairs.levels import level_columns, template_column
from engine.evaluations.minimal_pairs.views import cluster_columns
from engine.measures.statistics.clustered import FEW_CLUSTERS, FEWEST_CLUSTERS
from engine.messages.languages import tr, translated

HEIGHT, FEW = 420, 12
SHARES = ("accuracy", "ci_low", "ci_high", "macro_accuracy", "macro_low", "macro_high")
DIFFERENCES = ("difference", "ci_low", "ci_high", "detectable")


def levels_section(view: ScoredRun, choices: SectionChoices) -> dict[str, go.Figure]:
    """Draw the table by levels, and the scores of each model against the one shown; it has no figure."""
    _levels(view, _levels_input(columns_of(view.result), choices))
    conditions = table(view, "conditions")
    shown = conditions[(conditions[["normalization", "other_normalization"]] == view.normalization).any(axis=1)]
    if len(shown):
        st.markdown(
            tr("**Scores of one model** :gray[McNemar's exact test on the same pairs, Holm's correction]")
            if not view.clustered_by
            else tr("**Scores of one model** :gray[Student's paired test over clusters, Holm's correction]"),
            help=measure_help("accuracy_difference"),
        )
        tested_table(
            shown.assign(**{name: shown[name].map(tr) for name in ("normalization", "other_normalization")}),
            {"normalization": tr("Score"), "other_normalization": tr("Other score")},
            tr("Every score of each model compared with the selected one"),
        )
    return {}


def level_tables(view: ScoredRun, levels: tuple[str, ...]) -> dict[str, Callable[[], pd.DataFrame]]:
    """What makes the tables of levels and clusters to download; nothing where no column is named."""
    offered: dict[str, Callable[[], pd.DataFrame]] = {}
    if levels or view.clustered_by:
        offered |= {"levels": partial(table, view, "levels", levels), "conditions": partial(table, view, "conditions")}
    if view.clustered_by and len(view.models) > 1:
        offered["clustered_comparisons"] = partial(table, view, "clustered_comparisons")
    return offered


def _levels_input(columns: tuple[str, ...], choices: SectionChoices) -> tuple[str, ...]:
    base = level_columns(columns) or columns[:1]
    first = [name for name in choices.first("levels", base) if name in columns]
    levels = (
        tuple(
            st.multiselect(
                tr("Levels, the widest first"),
                columns,
                default=first or list(base),
                format_func=column_word,
                key=choices.key("levels"),
            )
        )
        or base
    )
    choices.keep("levels", levels, ())
    return levels


def _levels(view: ScoredRun, columns: tuple[str, ...]) -> None:
    levels = table(view, "levels", columns)
    st.dataframe(
        _with_notes(levels).assign(**{name: 100 * levels[name] for name in SHARES}),
        hide_index=True,
        height="auto" if len(levels) < FEW else HEIGHT,
        placeholder="–",
        alt=tr("Micro and macro averages of accuracy by level"),
        column_order=[
            "model",
            "level",
            "value",
            "n",
            *SHARES[:3],
            *(("n_clusters", "design_effect", "note") if view.clustered_by else ()),
            "n_groups",
            *SHARES[3:],
            "macro_note",
        ],
        column_config={
            "model": tr("Model"),
            "level": tr("Level"),
            "value": tr("Value"),
            "n": tr("Pairs"),
            "accuracy": st.column_config.NumberColumn(tr("Accuracy %"), format="%.1f", help=measure_help("accuracy")),
            "macro_accuracy": st.column_config.NumberColumn(
                tr("Macro %"), format="%.1f", help=tr("The mean of the accuracies of the values of the last level.")
            ),
            **{name: st.column_config.NumberColumn(tr("95% from"), format="%.1f") for name in SHARES[1::3]},
            **{name: st.column_config.NumberColumn(tr("to"), format="%.1f") for name in SHARES[2::3]},
            "design_effect": st.column_config.NumberColumn(
                tr("Design effect"), format="%.1f", help=tr("How many times the variance of independent pairs.")
            ),
            "n_groups": tr("Values"),
            "n_clusters": tr("Number of clusters"),
            "note": tr("Interval"),
            "macro_note": tr("Macro interval"),
        },
    )
    if (levels[["note", "macro_note"]] != "").any(axis=None):
        st.caption(
            tr(
                "Fewer than {fewest} clusters, or values of the last level, have no interval and no test; with "
                "fewer than {few} both are rough.",
                fewest=FEWEST_CLUSTERS,
                few=FEW_CLUSTERS,
            )
        )
    template = template_column(cluster_columns(view.result))
    if view.clustered_by:
        st.caption(
            tr(
                "Intervals take the values of {column} as clusters of pairs; those of the macro average take the "
                "values of the last level as a sample.",
                column=verbatim(column_word(view.clustered_by)),
            )
        )
    elif template:
        st.caption(
            tr(
                "Intervals take the pairs as independent. {column} names what the pairs were made from: choose "
                "it above, under “Intervals over”, for intervals that allow for it.",
                column=verbatim(template),
            )
        )
    else:
        st.caption(tr("Intervals take the pairs as independent."))


def tested_table(tests: pd.DataFrame, names: dict[str, str], alt: str) -> None:
    """Draw rows of `levels.CONDITIONS` or `levels.CLUSTERED`; names: the columns that say what is tested, labelled."""
    shown = _with_notes(tests).assign(
        **{name: 100 * tests[name] for name in DIFFERENCES},
        verdict=tests["separable"].map({True: tr("yes"), False: tr("no")}),
    )
    st.dataframe(
        shown,
        hide_index=True,
        height="auto" if len(shown) < FEW else HEIGHT,
        placeholder="–",
        alt=alt,
        column_order=[
            "model",
            *names,
            "n_only_first",
            "n_only_second",
            *DIFFERENCES[:3],
            "p_holm",
            "verdict",
            "detectable",
            *(("note",) if (shown["note"] != "").any() else ()),
        ],
        column_config={
            "model": tr("Model"),
            **names,
            "n_only_first": tr("Only first correct"),
            "n_only_second": tr("Only second correct"),
            "difference": st.column_config.NumberColumn(tr("Δ points"), format="%+.1f"),
            "ci_low": st.column_config.NumberColumn(tr("95% from"), format="%+.1f"),
            "ci_high": st.column_config.NumberColumn(tr("to"), format="%+.1f"),
            "p_holm": st.column_config.NumberColumn(tr("p (Holm)"), format="%.2g"),
            "verdict": tr("Significant"),
            "detectable": st.column_config.NumberColumn(
                tr("Detectable"),
                format="%.1f",
                help=tr("The smallest true difference, in points, that these pairs show with a power of 80%."),
            ),
            "note": tr("Interval"),
        },
    )


def _with_notes(numbers: pd.DataFrame) -> pd.DataFrame:
    """The table with its models and its notes as the reader sees them."""
    return with_shown_models(numbers).assign(
        **{
            name: [translated(note) for note in numbers[name]]
            for name in ("note", "macro_note")
            if name in numbers.columns
        }
    )
