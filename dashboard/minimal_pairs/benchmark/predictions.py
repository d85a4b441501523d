"""Sentences in conditions: whether the predictions hold, for which items not, and the surprisal of each region."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.view import ScoredRun, SectionChoices, table
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.theme import (
    axis_title,
    laid_out,
    plain,
    symbol,
    template_safe,
    with_legend_below,
    with_shown_models,
)
from dashboard.shared.wording import measure_help, number_column, show_error, verbatim
from engine.errors import EngineError
from engine.evaluations.minimal_pairs.designs.predictions import EVERY, MEAN, formulas_of
from engine.evaluations.minimal_pairs.kinds.analysis import PAIRS
from engine.evaluations.minimal_pairs.views import of_model
from engine.messages.languages import mark, tr, translated

CURVES = mark("Surprisal by region")
HEIGHT, FEW, MOST_TICK = 420, 12, 24
EXAMPLE = "(2;%mismatch%) > (2;%match%)"  # untranslated


def predictions_section(view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices) -> dict[str, go.Figure]:
    """Draw how often each prediction holds under each model, and for which items it does not; there is no figure."""
    heading, own = st.columns([3, 1], vertical_alignment="bottom")
    with own:
        formulas = _formulas_input(choices)
    try:
        scored = table(view, "predictions", formulas)
        choices.keep("predictions", formulas, ())
    except EngineError as error:
        show_error(error)
        formulas, scored = (), table(view, "predictions", ())
    heading.markdown(
        tr("**Predictions** :gray[how often they hold, with 95% intervals]"), help=measure_help("prediction_accuracy")
    )
    if scored.empty:
        st.info(
            tr(
                "The file has no predictions, and its conditions are not named as those of a 2 × 2 design (a_x, "
                "a_y, b_x, b_y). Enter some under “Other formulas”."
            ),
            icon=":material/function:",
        )
        return {}
    suites = [name for name in dict.fromkeys(scored["suite"]) if name]
    suite = _suite_input(suites, choices, "predictions", whole=True)
    _scores(scored[scored["suite"] == suite] if suite else _of_suites(scored), beside_suites=not suite)
    if not formulas and not formulas_of(view.result):
        st.caption(
            tr(
                "The file has no predictions: shown is the interaction of the two factors over whole sentences, "
                "whose sign depends on the order of the conditions."
            )
        )
    for reason in dict.fromkeys(scored.loc[scored["n"] == 0, "reason"]):
        st.caption(f":material/info: {verbatim(translated(str(reason)))}")  # untranslated
    st.markdown(tr("**Items** :gray[those that a prediction fails for first]"), help=measure_help("prediction_effect"))
    model = choices.model(view, "predictions")
    _items(table(view, "item_predictions", formulas), view, model, suite)
    return {}


def regions_section(view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices) -> dict[str, go.Figure]:
    """Draw the mean surprisal of each region, a line for each condition; returns the figure by its caption."""
    of_regions = table(view, "region_surprisals")
    suites = list(dict.fromkeys(of_regions["suite"]))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        suite = _suite_input(suites, choices, "regions", whole=False)
        model = choices.model(view, "regions")
    st.markdown(
        tr("**Surprisal by region** :gray[mean over items, with 95% intervals]"), help=measure_help("region_surprisal")
    )
    figure = region_figure(of_regions[(of_regions["suite"] == suite) & (of_regions["model"] == model)])
    draw_figure(
        figure,
        key=f"minimal-regions-{view.run_id}",
        config=camera("regions", signature),
        alt=tr("Mean surprisal of each region in each condition"),
    )
    return {CURVES: figure}


def prediction_tables(view: ScoredRun, formulas: tuple[str, ...]) -> dict[str, Callable[[], pd.DataFrame]]:
    """What makes the tables that the page of sentences in conditions offers to download: those of the command."""
    return {
        "predictions": partial(table, view, "predictions", formulas),
        "item_predictions": partial(table, view, "item_predictions", formulas),
        **{name: partial(table, view, name) for name in ("region_surprisals", "surprisals")},
        "pairs": lambda: PAIRS.selected(view.result.pairs),
        "excluded": lambda: view.result.excluded,
    }


def first_region_figure(view: ScoredRun) -> go.Figure:
    """The figure of the first suite under the first model."""
    of_regions = table(view, "region_surprisals")
    first = of_regions["suite"].iloc[0] if len(of_regions) else ""
    return region_figure(of_regions[(of_regions["suite"] == first) & (of_regions["model"] == view.models[0])])


def region_figure(of_regions: pd.DataFrame) -> go.Figure:
    """The mean surprisal against the region, a line for each condition, with 95% intervals.

    `of_regions` is `predictions.region_surprisals` of one suite and model; the whole sentence is not drawn beside its
    regions.
    """
    shown = of_regions[of_regions["region"] > 0]
    conditions = list(dict.fromkeys(shown["condition"]))
    figure = go.Figure()
    for index, condition in enumerate(conditions):
        own = shown[shown["condition"] == condition].sort_values("region")
        # Side by side, so that the intervals of two conditions can be told apart.
        x = own["region"] + 0.16 * ((index + 0.5) / len(conditions) - 0.5)
        figure.add_trace(
            go.Scatter(
                x=x,
                y=own["surprisal"],
                mode="lines+markers",
                name=plain(condition),
                line={"width": 1.4},
                marker={"size": 8, "symbol": symbol(index)},
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": own["ci_high"] - own["surprisal"],
                    "arrayminus": own["surprisal"] - own["ci_low"],
                    "thickness": 1.2,
                    "width": 0,
                },
                customdata=np.column_stack([own["region"], own["region_name"].map(template_safe), own["n"]]).astype(
                    object
                ),
                hovertemplate=tr(
                    "region {region} {name}: {surprisal} bits (items: {n})",
                    region="%{customdata[0]}",
                    name="%{customdata[1]}",
                    surprisal="%{y:.2f}",
                    n="%{customdata[2]:,}",
                )
                + f"<extra>{template_safe(condition)}</extra>",
            )
        )
    labels = shown.drop_duplicates("region").sort_values("region")
    figure.update_xaxes(
        tickvals=labels["region"],
        ticktext=[_label(*line) for line in labels[["region", "region_name"]].itertuples(index=False)],
        title=None,
        zeroline=False,
        showgrid=False,
        fixedrange=True,
        automargin=True,
    )
    figure.update_yaxes(title=axis_title("region_surprisal"), rangemode="tozero", zeroline=False, fixedrange=True)
    figure = laid_out(figure, height=380, legend=len(conditions) > 1, across=tr("Region"))
    return with_legend_below(figure.update_layout(margin={"t": 12}))


def _label(region: int, name: str) -> str:
    text = f"{region} {name}".strip()
    return plain(text if len(text) <= MOST_TICK else f"{text[: MOST_TICK - 1]}…")


def _formulas_input(choices: SectionChoices) -> tuple[str, ...]:
    with st.popover(tr("Other formulas"), icon=":material/function:", width="stretch"):
        text = st.text_area(
            tr("In place of those of the file, one in a line"),
            value="\n".join(choices.first("predictions", ())),
            key=choices.key("predictions"),
            height=140,
            placeholder=EXAMPLE,
            help=tr(
                "(2;%match%) is the surprisal of region 2 in the condition match, in bits, (\\*;%match%) that of the "
                "whole sentence. Numbers, brackets, + and −, comparisons by <, > and =, and & and | go with them, as "
                "in SyntaxGym. A formula without a comparison holds where it is above 0."
            ),
        )
    return tuple(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def _suite_input(suites: list[str], choices: SectionChoices, name: str, *, whole: bool) -> str:
    """Draw the choice among suites, if there is one; whole: whether all together are one, ""."""
    offered = ["", *suites] if whole and len(suites) > 1 else suites
    first = choices.first("suite", offered[0], offered)
    if len(suites) == 1:
        return suites[0]
    suite = str(
        st.selectbox(
            tr("Suite"),
            offered,
            index=offered.index(first),
            width=360,
            key=choices.key(f"{name}-suite"),
            format_func=lambda one: one or tr("all suites"),
        )
    )
    choices.keep("suite", suite, offered[0])
    return suite


def _of_suites(scored: pd.DataFrame) -> pd.DataFrame:
    """Of each suite the row that is its score, the mean of all first."""
    whole = scored[~scored["is_part"]]
    score = whole.groupby(["model", "suite"], sort=False).tail(1)
    return score.assign(order=score["prediction"] != MEAN).sort_values("order", kind="stable")


def _scores(shown: pd.DataFrame, *, beside_suites: bool) -> None:
    names = {EVERY: tr(EVERY), MEAN: tr(MEAN)}
    formulas = [
        names.get(text, f"↳ {text}" if is_part else text)
        for text, is_part in zip(shown["prediction"], shown["is_part"], strict=True)
    ]
    shares = ("accuracy", "ci_low", "ci_high")
    st.dataframe(
        with_shown_models(shown).assign(**{name: 100 * shown[name] for name in shares}, prediction=formulas),
        hide_index=True,
        height="auto" if len(shown) < FEW else HEIGHT,
        placeholder="–",
        alt=tr("How often each prediction holds under each model"),
        # The shares before the formulas, which are long: a phone shows the first columns.
        column_order=[
            "model",
            *(["suite"] if beside_suites else []),
            *shares,
            "prediction",
            "n",
            "effect",
            "effect_low",
            "effect_high",
        ],
        column_config={
            "model": tr("Model"),
            "suite": tr("Suite"),
            "n": tr("Items"),
            "prediction": st.column_config.TextColumn(tr("Prediction"), width="large"),
            "accuracy": st.column_config.NumberColumn(
                tr("Accuracy %"), format="%.1f", help=measure_help("prediction_accuracy")
            ),
            "effect": st.column_config.NumberColumn(
                tr("Effect (bits)"), format="%.2f", help=measure_help("prediction_effect")
            ),
            **{
                name: st.column_config.NumberColumn(tr("95% from"), format=format_)
                for name, format_ in (("ci_low", "%.1f"), ("effect_low", "%.2f"))
            },
            **{
                name: st.column_config.NumberColumn(tr("to"), format=format_)
                for name, format_ in (("ci_high", "%.1f"), ("effect_high", "%.2f"))
            },
        },
    )


def _items(of_items: pd.DataFrame, view: ScoredRun, model: str, suite: str) -> None:
    shown = of_items[(of_items["model"] == model) & ((of_items["suite"] == suite) | (not suite))]
    shown = shown.sort_values(["holds", "effect"], kind="stable")
    pairs = of_model(view.result, model)
    sentences = shown["row"].map(pairs.set_index("row")["acceptable"])
    st.dataframe(
        shown.assign(holds=shown["holds"].astype("boolean"), sentence=sentences),
        hide_index=True,
        placeholder="–",
        height="auto" if len(shown) < FEW else HEIGHT,
        alt=tr("Whether each prediction holds for each item"),
        column_order=[*([] if suite else ["suite"]), "item", "holds", "effect", "prediction", "sentence"],
        column_config={
            "suite": tr("Suite"),
            "item": tr("Item"),
            "holds": st.column_config.CheckboxColumn(tr("Holds")),
            "effect": number_column("prediction_effect", 2),
            "sentence": tr("Its first sentence"),
            "prediction": st.column_config.TextColumn(tr("Prediction"), width="medium"),
        },
    )
