"""Accuracy by category of a minimal-pairs run, or the share of stereotypes preferred, by any column of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.accuracy_cards import ORDER
from dashboard.minimal_pairs.benchmark.columns import column_word, columns_of
from dashboard.minimal_pairs.charts import category_figure
from dashboard.minimal_pairs.figure_selection import PointDecoder, PointSelection, clickable
from dashboard.minimal_pairs.view import DIRECTIONS, ScoredRun, SectionChoices, table
from dashboard.minimal_pairs.words import STEREOTYPES
from dashboard.shared.wording import measure_help, model_name
from engine.evaluations.minimal_pairs.stereotypes import CARD_KEYS, SHARED_TOKENS, WHOLE_SENTENCE
from engine.messages.languages import mark, tr, translated
from engine.messages.message import Message

CATEGORIES = mark("Accuracy by category")


def column_input(view: ScoredRun, section: str, choices: SectionChoices) -> str:
    """Draws the choice of a column, if there is a choice, and returns it."""
    columns = columns_of(view.result)
    if len(columns) < 2:
        return columns[0] if columns else "category"
    column = str(
        st.selectbox(
            tr("By"),
            columns,
            index=columns.index(choices.first("by", columns[0], columns)),
            format_func=column_word,
            key=choices.key(f"by-{section}"),
            width=240,
            label_visibility="collapsed",
        )
    )
    choices.keep("by", column, columns[0])
    return column


def category_section(
    view: ScoredRun, signature: Mapping[str, Any], word: str, choices: SectionChoices
) -> dict[str, go.Figure]:
    """Draw accuracy by category with intervals; returns the figure by its caption."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(tr("**Accuracy by category** :gray[with 95% intervals]"), width="content")
        column = column_input(view, "categories", choices)
        stratum = str(
            st.segmented_control(
                tr("Pairs"),
                list(ORDER),
                format_func=lambda name: tr(ORDER[name]),
                required=True,
                wrap=True,
                default=choices.first("stratum", "all"),
                key=choices.key("stratum"),
                label_visibility="collapsed",
            )
        )
        choices.keep("stratum", stratum, "all")
    shown = table(view, "categories", column)
    if not (shown["stratum"].eq(stratum) & shown["n"].gt(0)).any():
        st.caption(tr("No pair is in this stratum."))
        return {}
    figure = category_figure(shown, stratum, word)
    clickable(
        figure,
        "categories",
        view.run_id,
        signature,
        _category(view.models, column, "" if stratum == "all" else stratum),
        tr("Accuracy in each category, a point for each model; click one to see its pairs"),
    )
    return {CATEGORIES: figure}


def stereotype_section(view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices) -> dict[str, go.Figure]:
    """Draw the share of stereotypes preferred, by either measure, against 50%; returns the figures by caption."""
    st.caption(
        tr(
            "Share of pairs in which the more stereotyping sentence (`sent_more`) is more probable under the "
            "model. **50%** is no preference; neither end is better."
        )
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        column = column_input(view, "stereotypes", choices)
        preferences = table(view, "stereotypes", column)
        directions = [name for name in DIRECTIONS if name in set(preferences["direction"])]
        direction = ""
        if len(directions) > 1:
            direction = str(
                st.segmented_control(
                    tr("Rows counted"),
                    directions,
                    format_func=lambda name: tr(DIRECTIONS[name]),
                    default=choices.first("direction", "", directions),
                    key=choices.key("direction"),
                    help=tr("stereo: sent_more states a stereotype. antistereo: sent_less states the opposite of one."),
                )
                or ""
            )
            choices.keep("direction", direction, "")
    figures: dict[str, go.Figure] = {}
    for measure in (WHOLE_SENTENCE, SHARED_TOKENS):
        shown = preferences[(preferences["measure"] == measure) & (preferences["direction"] == direction)]
        if shown.empty:
            continue
        named = Message("Stereotypes preferred, by {measure}", measure=Message(measure))
        caption = translated(named)
        st.markdown(
            tr("**{caption}** :gray[under {score}; 95% intervals]", caption=caption, score=view.normalization)
            if measure == WHOLE_SENTENCE
            else tr("**{caption}** :gray[the benchmark's own measure; 95% intervals]", caption=caption),
            help=measure_help(CARD_KEYS[measure]),
        )
        overall = shown[shown["category"] == ""]
        for row in overall.to_dict("records"):
            st.markdown(
                tr(
                    "{model}: **{share:.1%}** :gray[{low:.1f}–{high:.1f}, n = {n:,}, p = {p:.2g} against 50%]",
                    model=model_name(row["model"]),
                    share=row["share"],
                    low=100 * row["ci_low"],
                    high=100 * row["ci_high"],
                    n=row["n"],
                    p=row["p_value"],
                )
            )
        by_category = shown[shown["category"] != ""].rename(columns={"share": "accuracy"}).assign(stratum="all")
        if by_category.empty:
            continue
        models = list(dict.fromkeys(by_category["model"]))
        figures[named] = category_figure(by_category, word=STEREOTYPES.counted)
        clickable(
            figures[named],
            f"stereotypes-{CARD_KEYS[measure]}",
            view.run_id,
            signature,
            _category(models, column, ""),
            tr("{caption}, by {column}; click a point to see its pairs", caption=caption, column=column),
        )
    if SHARED_TOKENS not in set(preferences["measure"]):
        st.caption(
            tr(
                "The benchmark's own measure, over the tokens that both sentences share, is a separate measure: "
                "switch it on in a new evaluation, under **Advanced options** (masked models)."
            )
        )
    return figures


def _category(models: Sequence[str], column: str, stratum: str) -> PointDecoder:
    def decode(point: Mapping[str, Any]) -> PointSelection | None:
        trace, data = point.get("curve_number", -1), point.get("customdata")
        if not data or not 0 <= trace < len(models):
            return None
        return PointSelection(models[trace], field=column, value=str(data[-1]), stratum=stratum)

    return decode
