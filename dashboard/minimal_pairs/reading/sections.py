"""Reading times: what the surprisal of each model explains of them, and how they change with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
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
    axis_title,
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
from engine.evaluations.minimal_pairs.designs.arrays import mean_with_interval
from engine.evaluations.minimal_pairs.kinds.analysis import PAIRS
from engine.evaluations.minimal_pairs.reading.times import TIME, challenge_scores
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series
from engine.messages.languages import mark, tr, translated
from engine.models.sources.names import shown_name

GAINS = mark("Gain of reading times by surprisal")
CURVE = mark("Reading time by surprisal")
HEIGHT, FEW, BINS = 420, 12, 10


def reading_section(view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices) -> dict[str, go.Figure]:
    """Draw the gains under a baseline as figure and table, and the challenge's two scores; the figure by its caption."""
    found = table(view, "reading_times")
    heading, own = st.columns([3, 2], vertical_alignment="bottom")
    with own:
        baseline = chosen_baseline(
            choices,
            help=tr(
                "What is known without the model's surprisal: frequency, length and position of the word, and of the "
                "word before length and surprisal, with all products of two of them."
            ),
        )
    heading.markdown(
        tr("**Gain by surprisal** :gray[held-out log-likelihood of a word's time, with 95% intervals]"),
        help=measure_help("reading_gain"),
    )
    shown = found[found["baseline"] == baseline]
    figure = gain_figure(shown)
    draw_figure(
        figure,
        key=f"minimal-reading-{view.run_id}",
        config=camera("reading-times", signature),
        alt=tr("Gain of each column of reading times by the surprisal of each model"),
    )
    _gains(shown)
    for reason in dict.fromkeys(shown.loc[shown["reason"] != "", "reason"]):
        st.caption(f":material/info: {verbatim(translated(str(reason)))}")  # untranslated
    _challenge(challenge_scores(found, view.result.format))
    return {GAINS: figure}


def words_section(view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices) -> dict[str, go.Figure]:
    """Draw the mean time against surprisal for a column of times, and the words of a model; the figure by its caption."""
    words = table(view, "word_surprisals")
    measures = measures_of(words)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        measure = chosen_time_column(choices, measures)
        model = choices.model(view, "words")
    st.markdown(
        tr("**Reading time by surprisal** :gray[means of tenths of the words, with 95% intervals]"),
        help=measure_help("region_surprisal"),
    )
    figure = curve_figure(words, measure)
    draw_figure(
        figure,
        key=f"minimal-reading-curve-{view.run_id}",
        config=camera("reading-curve", signature),
        alt=tr("Mean reading time against surprisal for each model"),
    )
    st.dataframe(
        words[words["model"] == model].sort_values("surprisal", ascending=False, kind="stable"),
        hide_index=True,
        height=list_height(int((words["model"] == model).sum()), HEIGHT),
        placeholder="–",
        alt=tr("Each word with its surprisal and reading time"),
        column_order=["word", "surprisal", f"{TIME}{measure}", "item", "row", "frequency", "length", "tokens"],
        column_config={
            "word": tr("Word"),
            "surprisal": number_column("region_surprisal", 2),
            f"{TIME}{measure}": st.column_config.NumberColumn(plain(measure), format="%.1f"),
            "item": tr("Text"),
            "row": tr("Row"),
            "frequency": st.column_config.NumberColumn(tr("Frequency"), format="%.2f"),
            "length": tr("Length"),
            "tokens": tr("Tokens"),
        },
    )
    return {CURVE: figure}


def reading_tables(view: ScoredRun) -> dict[str, Callable[[], pd.DataFrame]]:
    """What makes the tables that the page of reading times offers to download: those of the command."""
    return {
        "reading_times": partial(table, view, "reading_times"),
        **(
            {"reading_checkpoints": partial(table, view, "reading_checkpoints")}
            if checkpoint_series(view.result, view.models)
            else {}
        ),
        **({"layers": partial(table, view, "layers")} if len(view.result.layers) else {}),
        "babylm_reading": lambda: challenge_scores(table(view, "reading_times"), view.result.format),
        "word_surprisals": partial(table, view, "word_surprisals"),
        "pairs": lambda: PAIRS.selected(view.result.pairs),
        "excluded": lambda: view.result.excluded,
    }


def measures_of(words: pd.DataFrame) -> list[str]:
    """The columns of reading times of `times.word_surprisals`, by their names in the file."""
    return [str(name).removeprefix(TIME) for name in words.columns if str(name).startswith(TIME)]


def gain_figure(shown: pd.DataFrame) -> go.Figure:
    """The gain of each column of times, side by side for the models, with 95% intervals.

    `shown` is `times.gains` of one baseline.
    """
    models, measures = list(dict.fromkeys(shown["model"])), list(dict.fromkeys(shown["measure"]))
    short, figure = short_names(models), go.Figure()
    for index, model in enumerate(models):
        own = shown[shown["model"] == model]
        place = own["measure"].map({name: number for number, name in enumerate(measures)})
        figure.add_trace(
            go.Scatter(
                x=place + 0.5 * ((index + 0.5) / len(models) - 0.5),
                y=own["gain"],
                mode="markers",
                name=plain(short[model]),
                marker={"size": 9, "symbol": symbol(index)},
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": own["gain_high"] - own["gain"],
                    "arrayminus": own["gain"] - own["gain_low"],
                    "thickness": 1.2,
                    "width": 0,
                },
                customdata=np.column_stack([own["measure"].map(template_safe), own["n"], own["n_items"]]).astype(
                    object
                ),
                hovertemplate=tr(
                    "{measure}: {gain} nats per word (words: {n}, texts: {n_items})",
                    measure="%{customdata[0]}",
                    gain="%{y:.4f}",
                    n="%{customdata[1]:,}",
                    n_items="%{customdata[2]:,}",
                )
                + f"<extra>{template_safe(shown_name(model))}</extra>",
            )
        )
    figure.update_xaxes(
        tickvals=list(range(len(measures))),
        ticktext=[plain(name) for name in measures],
        range=[-0.5, max(len(measures), 1) - 0.5],
        zeroline=False,
        showgrid=False,
        fixedrange=True,
        automargin=True,
    )
    figure.update_yaxes(title=symbol_title("reading_gain"), zeroline=True, fixedrange=True)
    return with_legend_above(laid_out(figure, height=340, legend=len(models) > 1))


def curve_figure(words: pd.DataFrame, measure: str) -> go.Figure:
    """The mean time of the words of each tenth by surprisal, a line for each model.

    `words` is `times.word_surprisals`; fewer points where words are fewer, or many have one surprisal.
    """
    models = list(dict.fromkeys(words["model"]))
    short, figure = short_names(models), go.Figure()
    for index, model in enumerate(models):
        own = words.loc[words["model"] == model, ["surprisal", f"{TIME}{measure}"]].dropna()
        bins = pd.qcut(own["surprisal"], BINS, labels=False, duplicates="drop") if len(own) > BINS else own["surprisal"]
        grouped = own.groupby(bins, sort=True)
        means = np.array([mean_with_interval(group[f"{TIME}{measure}"].to_numpy()) for _, group in grouped]).reshape(
            -1, 3
        )
        mean, low, high = means.T
        figure.add_trace(
            go.Scatter(
                x=grouped["surprisal"].mean(),
                y=mean,
                mode="lines+markers",
                name=plain(short[model]),
                line={"width": 1.4},
                marker={"size": 8, "symbol": symbol(index)},
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": high - mean,
                    "arrayminus": mean - low,
                    "thickness": 1.2,
                    "width": 0,
                },
                customdata=grouped.size(),
                hovertemplate=tr(
                    "{surprisal} bits: {time} (words: {n})",
                    surprisal="%{x:.2f}",
                    time="%{y:.1f}",
                    n="%{customdata:,}",
                )
                + f"<extra>{template_safe(shown_name(model))}</extra>",
            )
        )
    figure.update_xaxes(title=axis_title("region_surprisal"), zeroline=False, fixedrange=True)
    figure.update_yaxes(title=plain(measure), zeroline=False, fixedrange=True)
    return with_legend_above(laid_out(figure, height=340, legend=len(models) > 1))


def _gains(shown: pd.DataFrame) -> None:
    st.dataframe(
        with_shown_models(shown).assign(**{name: 100 * shown[name] for name in ("share", "share_low", "share_high")}),
        hide_index=True,
        height="auto" if len(shown) < FEW else HEIGHT,
        placeholder="–",
        alt=tr("What surprisal explains of each column of reading times under each model"),
        column_order=[
            "model",
            "measure",
            "gain",
            "gain_low",
            "gain_high",
            "share",
            "share_low",
            "share_high",
            "coefficient",
            "coefficient_low",
            "coefficient_high",
            "n",
            "n_items",
            "baseline_r2",
        ],
        column_config={
            "model": tr("Model"),
            "measure": tr("Reading time"),
            "gain": number_column("reading_gain", 4),
            "share": st.column_config.NumberColumn(tr("Share %"), format="%.2f", help=measure_help("reading_share")),
            "coefficient": st.column_config.NumberColumn(
                tr("Per bit"), format="%.2f", help=tr("By how much the time changes with each bit of surprisal.")
            ),
            **{
                f"{name}_low": st.column_config.NumberColumn(tr("95% from"), format=form)
                for name, form in (("gain", "%.4f"), ("share", "%.2f"), ("coefficient", "%.2f"))
            },
            **{
                f"{name}_high": st.column_config.NumberColumn(tr("to"), format=form)
                for name, form in (("gain", "%.4f"), ("share", "%.2f"), ("coefficient", "%.2f"))
            },
            "n": tr("Words"),
            "n_items": tr("Texts"),
            "baseline_r2": st.column_config.NumberColumn(tr("R² of the baseline"), format="%.3f"),
        },
    )


def _challenge(scores: pd.DataFrame) -> None:
    if scores.empty:
        return
    st.markdown(
        tr("**The reading task of the BabyLM challenge** :gray[share in %, as the challenge counts it]"),
        help=measure_help("reading_share"),
    )
    wide = with_shown_models(scores).pivot(index="model", columns="score", values="challenge").reset_index()
    st.dataframe(
        wide,
        hide_index=True,
        placeholder="–",
        alt=tr("The two scores of the reading task of the BabyLM challenge for each model"),
        column_config={
            "model": tr("Model"),
            **{
                str(name): st.column_config.NumberColumn(tr(str(name)), format="%.2f")
                for name in wide.columns
                if name != "model"
            },
        },
    )
