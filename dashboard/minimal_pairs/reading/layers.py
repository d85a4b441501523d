"""Reading times by layer: what the surprisal of each layer explains of a column of times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.reading.choosing import chosen_baseline, chosen_time_column
from dashboard.minimal_pairs.view import ScoredRun, SectionChoices, table
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.theme import (
    laid_out,
    list_height,
    plain,
    short_names,
    symbol,
    symbol_title,
    template_safe,
    with_legend_above,
    with_shown_models,
)
from dashboard.shared.wording import measure_help, number_column, verbatim
from engine.messages.languages import mark, tr, translated
from engine.models.sources.names import shown_name

BY_LAYER = mark("Gain of reading times by layer")
HEIGHT, MOST_TICKS = 420, 26
APART = 0.3  # of a layer: how far the points of the first and the last model at one layer are apart


def layers_section(view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices) -> dict[str, go.Figure]:
    """Draw the gain of a column of times at every layer as figure and table; the figure by its caption."""
    found = table(view, "layers")
    measures = list(dict.fromkeys(found["measure"]))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        measure = chosen_time_column(choices, measures, "layers-")
        baseline = chosen_baseline(choices, "layers-")
    st.markdown(
        tr(
            "**Gain by layer** :gray[surprisal by the logit lens, with 95% intervals; the last layer is the model as it is]"
        ),
        help=measure_help("lens_surprisal"),
    )
    shown = found[(found["measure"] == measure) & (found["baseline"] == baseline)]
    figure = layer_figure(shown)
    draw_figure(
        figure,
        key=f"minimal-reading-layers-{view.run_id}",
        config=camera("reading-layers", signature),
        alt=tr("Gain by surprisal at each layer of each model"),
    )
    st.caption(
        tr(
            "Many layers are compared: the highest of them is high by chance, too. *Above the last* is over the same words, "
            "with p by Holm's method for all layers of a model."
        )
    )
    _table(shown)
    for reason in dict.fromkeys(shown.loc[shown["reason"] != "", "reason"]):
        st.caption(f":material/info: {verbatim(translated(str(reason)))}")  # untranslated
    return {BY_LAYER: figure}


def layer_figure(shown: pd.DataFrame) -> go.Figure:
    """The gain at every layer, a line for each model, with 95% intervals; `shown`: rows of one column and baseline."""
    figure = go.Figure()
    models = list(dict.fromkeys(shown["model"]))
    short = short_names(models)
    for index, model in enumerate(models):
        own = shown[shown["model"] == model].sort_values("layer")
        figure.add_trace(
            go.Scatter(
                x=own["layer"] + APART * ((index + 0.5) / len(models) - 0.5),
                y=own["gain"],
                mode="lines+markers",
                name=plain(short[model]),
                line={"width": 1.4},
                marker={"size": 8, "symbol": symbol(index)},
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": own["gain_high"] - own["gain"],
                    "arrayminus": own["gain"] - own["gain_low"],
                    "thickness": 1.2,
                    "width": 0,
                },
                customdata=np.column_stack([own["layer"], own["gain_low"], own["gain_high"], own["n"]]),
                hovertemplate=tr(
                    "layer {layer}: {gain} nats per word [{low}, {high}] (words: {n})",
                    layer="%{customdata[0]:d}",
                    gain="%{y:.4f}",
                    low="%{customdata[1]:.4f}",
                    high="%{customdata[2]:.4f}",
                    n="%{customdata[3]:,d}",
                )
                + f"<extra>{template_safe(shown_name(model))}</extra>",
            )
        )
    last = int(shown["layer"].max()) if len(shown) else 0
    figure.update_xaxes(
        title=tr("Layer (0 = embeddings)"),
        tickmode="linear",
        tick0=0,
        dtick=1 if last < MOST_TICKS else 4,
        range=[-0.5, last + 0.5],
        zeroline=False,
        showgrid=False,
        fixedrange=True,
    )
    figure.update_yaxes(title=symbol_title("reading_gain"), zeroline=True, fixedrange=True)
    return with_legend_above(laid_out(figure, height=340, legend=len(models) > 1))


def _table(shown: pd.DataFrame) -> None:
    st.dataframe(
        with_shown_models(shown),
        hide_index=True,
        height=list_height(len(shown), HEIGHT),
        placeholder="–",
        alt=tr("Gain by surprisal at each layer of each model"),
        column_order=[
            "model",
            "layer",
            "gain",
            "gain_low",
            "gain_high",
            "over_last",
            "over_last_low",
            "over_last_high",
            "p_holm",
            "n",
        ],
        column_config={
            "model": tr("Model"),
            "layer": tr("Layer"),
            "gain": number_column("reading_gain", 4),
            "over_last": st.column_config.NumberColumn(tr("Above the last"), format="%+.4f"),
            **{
                f"{name}_low": st.column_config.NumberColumn(tr("95% from"), format=form)
                for name, form in (("gain", "%.4f"), ("over_last", "%+.4f"))
            },
            **{
                f"{name}_high": st.column_config.NumberColumn(tr("to"), format=form)
                for name, form in (("gain", "%.4f"), ("over_last", "%+.4f"))
            },
            "p_holm": st.column_config.NumberColumn(tr("p (Holm)"), format="%.2g"),
            "n": tr("Words"),
        },
    )
