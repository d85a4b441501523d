"""Running text: the corpus and its categories under each model, two models, checkpoints, and the documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.benchmark.checkpoints import Curve, checkpoint_figure, grouping_input
from dashboard.minimal_pairs.benchmark.columns import columns_of
from dashboard.minimal_pairs.benchmark.further_checkpoints import further_checkpoints, join_button
from dashboard.minimal_pairs.charts import interval_texts
from dashboard.minimal_pairs.view import ScoredRun, SectionChoices, table
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.theme import (
    axis_title,
    laid_out,
    measure_name,
    plain,
    short_names,
    symbol,
    template_safe,
    with_shown_models,
)
from dashboard.shared.wording import measure_help, number_column, verbatim
from engine.datasets.minimal_pairs.texts import title_column
from engine.evaluations.minimal_pairs.records import CATEGORY
from engine.evaluations.minimal_pairs.running_text.tables import MEASURES
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import mark, tr, translated

CORPUS = mark("Running text under each model")
CURVES = mark("Running text along the checkpoints")
HEIGHT, FEW = 420, 12
MOST_CATEGORIES = 24
ENDS = {
    name: ("ci_low", "ci_high") if name == "bits_per_byte" else (f"{name}_low", f"{name}_high") for name in MEASURES
}


def running_text_section(
    view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices
) -> dict[str, go.Figure]:
    """Draw a measure of all documents or of each category, its table, tests of models, and the documents.

    Returns the figure by its caption.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        measure = _measure_input(choices, "text-measure")
        column = grouping_input(_groups(view), choices, "by-text", tr("all documents"))
    every = table(view, "corpus", column or CATEGORY)
    shown = every[(every["category"] != "").to_numpy()] if column else every[(every["category"] == "").to_numpy()]
    figure = corpus_figure(shown, measure, by_category=bool(column))
    draw_figure(
        figure,
        key=f"minimal-running-text-{view.run_id}",
        config=camera("running-text", signature),
        alt=tr("{measure} of running text under each model", measure=measure_name(measure)),
    )
    if column and shown["category"].nunique() > MOST_CATEGORIES:
        st.caption(tr("The categories with the most text are drawn; all are in the table."))
    _corpus_table(shown, by_category=bool(column))
    for reason in dict.fromkeys(shown.loc[(shown["reason"] != "").to_numpy(), "reason"]):
        st.caption(
            tr(
                ":material/info: A number that is shown as – is undefined: {reason}.",
                reason=verbatim(translated(str(reason))),
            )
        )
    tests = table(view, "corpus_comparisons")
    if len(tests):
        st.markdown(
            tr("**Models compared** :gray[by bits per byte, over documents]"), help=measure_help("bits_per_byte")
        )
        _tests_table(tests)
    st.markdown(tr("**Documents**"))
    model = choices.model(view, "documents")
    each = table(view, "documents")
    _documents_table(each[(each["model"] == model).to_numpy()])
    return {CORPUS: figure}


def text_checkpoints_section(
    view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices
) -> dict[str, go.Figure]:
    """Draw a measure along the checkpoints of each training, of all documents or of each category, with 95% intervals.

    Above it what other runs have of these trainings can be joined. Returns the figure by its caption.
    """
    if further := further_checkpoints(view.run_id, view.result):
        join_button(view.run_id, view.result, further)
    if not checkpoint_series(view.result, view.models):
        st.caption(tr("This run has one checkpoint of a training. Joined with those of other runs it is a curve."))
        return {}
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        measure = _measure_input(choices, "checkpoints-measure")
        column = grouping_input(_groups(view), choices, "by-text-checkpoints", tr("all documents"))
    points = table(view, "corpus_checkpoints", column or CATEGORY)
    points = points[((points["category"] != "") if column else (points["category"] == "")).to_numpy()]
    points = points[np.isfinite(points[measure]).to_numpy()]
    if points.empty:
        st.caption(tr("No document can be shown: this measure is not defined for them."))
        return {}
    figure, n_left_out = checkpoint_figure(points, curve_of(measure))
    draw_figure(
        figure,
        key=f"minimal-text-checkpoints-{view.run_id}",
        config=camera("checkpoints", signature),
        alt=tr("{measure} of running text at each checkpoint of a training", measure=measure_name(measure)),
    )
    if n_left_out:
        st.caption(tr("More lines, in the table corpus_checkpoints.csv: {n:,}.", n=n_left_out))
    return {CURVES: figure}


def text_tables(view: ScoredRun, by: str) -> dict[str, Callable[[], pd.DataFrame]]:
    """What makes the tables that the page of running text offers to download: those of the command."""
    return {
        "documents": partial(table, view, "documents"),
        "corpus": partial(table, view, "corpus", by),
        **(
            {"corpus_comparisons": partial(table, view, "corpus_comparisons")}
            if len(table(view, "corpus_comparisons"))
            else {}
        ),
        **(
            {"corpus_checkpoints": partial(table, view, "corpus_checkpoints", by)}
            if checkpoint_series(view.result, view.models)
            else {}
        ),
        "excluded": lambda: view.result.excluded,
    }


def curve_of(measure: str) -> Curve:
    """What is drawn of a measure along checkpoints."""
    form = f".{CARDS[measure].digits}f"
    return Curve(
        measure,
        *ENDS[measure],
        "n_documents",
        mark("step {step}: {value} (documents: {n})"),
        measure,
        form=form,
        ticks="~g",
    )


def corpus_figure(shown: pd.DataFrame, measure: str, *, by_category: bool) -> go.Figure:
    """The measure of each model with its 95% interval; a colour for each model, a row for each category, or model.

    shown: `tables.corpus`, all documents or the categories. The categories with the most text are drawn.
    """
    shown = shown[np.isfinite(shown[measure]).to_numpy()]
    models = list(dict.fromkeys(shown["model"]))
    short = short_names(models)
    sizes = shown.groupby("category", sort=False)["n_bytes"].max().sort_values(ascending=False, kind="stable")
    kept = [name for name in dict.fromkeys(shown["category"]) if name in set(sizes.index[:MOST_CATEGORIES])]
    rows = kept if by_category else models
    low, high = ENDS[measure]
    digits, figure = CARDS[measure].digits, go.Figure()
    for index, model in enumerate(models):
        own = shown[((shown["model"] == model) & shown["category"].isin(kept)).to_numpy()]
        places = [rows.index(name) for name in (own["category"] if by_category else own["model"])]
        # Side by side, so that the intervals of two models can be told apart.
        beside = 0.5 * ((index + 0.5) / len(models) - 0.5) if by_category else 0.0
        figure.add_trace(
            go.Scatter(
                x=own[measure],
                y=[place + beside for place in places],
                mode="markers",
                name=plain(short[model]),
                marker={"size": 10, "symbol": symbol(index)},
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": own[high] - own[measure],
                    "arrayminus": own[measure] - own[low],
                    "thickness": 1.4,
                    "width": 0,
                },
                customdata=own[["n_documents"]]
                .assign(
                    category=own["category"].map(template_safe),
                    interval=interval_texts(own[low], own[high], f".{digits}f"),
                )
                .to_numpy(dtype=object),
                hovertemplate=tr("{value} (documents: {n})", value=f"%{{x:.{digits}f}}", n="%{customdata[0]:,}")
                + f"<br>%{{customdata[1]}}<br>%{{customdata[2]}}<extra>{template_safe(model)}</extra>",
                showlegend=by_category,
            )
        )
    names = [plain(name if by_category else short[name]) for name in rows]
    figure.update_xaxes(title=axis_title(measure), zeroline=False, fixedrange=True)
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=names,
        range=[len(rows) - 0.4, -0.6],
        zeroline=False,
        fixedrange=True,
        automargin=True,
    )
    figure = laid_out(figure, height=130 + 44 * max(len(rows), 1), legend=by_category and len(models) > 1)
    figure.update_layout(margin={"t": 40 if by_category else 12, "b": 56}, legend={"y": 1.0, "yanchor": "bottom"})
    return figure


def _groups(view: ScoredRun) -> tuple[str, ...]:
    """The columns that group documents, after "" for none: not what each is called."""
    columns = columns_of(view.result)
    named = title_column(columns)
    return ("", *(name for name in columns if name != named))


def _measure_input(choices: SectionChoices, key: str) -> str:
    measure = str(
        st.segmented_control(
            tr("Measure"),
            list(MEASURES),
            format_func=lambda name: translated(CARDS[name].name),
            required=True,
            wrap=True,
            default=choices.first("measure", "bits_per_byte", MEASURES),
            key=choices.key(key),
            label_visibility="collapsed",
        )
    )
    choices.keep("measure", measure, "bits_per_byte")
    return measure


def _corpus_table(shown: pd.DataFrame, *, by_category: bool) -> None:
    st.dataframe(
        with_shown_models(shown),
        hide_index=True,
        height="auto" if len(shown) < FEW else HEIGHT,
        placeholder="–",
        alt=tr("Perplexity and bits of running text, for each model"),
        column_order=[
            "model",
            *(["category"] if by_category else []),
            "n_documents",
            *(column for name in MEASURES for column in (name, *ENDS[name])),
            "n_tokens",
            "n_characters",
            "n_bytes",
        ],
        column_config={
            "model": tr("Model"),
            "category": tr("Category"),
            "n_documents": tr("Documents"),
            **{name: number_column(name, CARDS[name].digits or 0) for name in MEASURES},
            **_of_ends(),
            **_of_extent(),
        },
    )


def _tests_table(tests: pd.DataFrame) -> None:
    st.dataframe(
        with_shown_models(tests),
        hide_index=True,
        height="auto" if len(tests) < FEW else HEIGHT,
        placeholder="–",
        alt=tr("Difference in bits per byte of each two models"),
        column_config={
            "model": tr("Model"),
            "other": tr("Other model"),
            "n": tr("Documents"),
            "difference": st.column_config.NumberColumn(tr("Difference"), format="%.3f"),
            "ci_low": st.column_config.NumberColumn(tr("95% from"), format="%.3f"),
            "ci_high": st.column_config.NumberColumn(tr("to"), format="%.3f"),
            "p_value": st.column_config.NumberColumn("p", format="%.3g"),  # untranslated
            "p_holm": st.column_config.NumberColumn(tr("p, by Holm"), format="%.3g"),
            "separable": tr("Significant"),
        },
    )


def _documents_table(shown: pd.DataFrame) -> None:
    st.dataframe(
        shown,
        hide_index=True,
        height="auto" if len(shown) < FEW else HEIGHT,
        placeholder="–",
        alt=tr("Perplexity and bits of each document"),
        column_order=[
            "row",
            *(["title"] if (shown["title"] != "").any() else []),
            *(["category"] if (shown["category"] != "").any() else []),
            *MEASURES,
            "n_tokens",
            "n_characters",
            "n_bytes",
            "n_windows",
        ],
        column_config={
            "row": tr("Row"),
            "title": tr("Document"),
            "category": tr("Category"),
            **{name: number_column(name, CARDS[name].digits or 0) for name in MEASURES},
            **_of_extent(),
            "n_windows": tr("Windows"),
        },
    )


def _of_ends() -> dict[str, Any]:
    return {
        end: st.column_config.NumberColumn(label, format=f"%.{CARDS[name].digits}f")
        for name, ends in ENDS.items()
        for end, label in zip(ends, (tr("95% from"), tr("to")), strict=True)
    }


def _of_extent() -> dict[str, Any]:
    return {
        "n_tokens": st.column_config.NumberColumn(tr("Tokens"), format="localized"),
        "n_characters": st.column_config.NumberColumn(tr("Characters"), format="localized"),
        "n_bytes": st.column_config.NumberColumn(tr("Bytes"), format="localized"),
    }
