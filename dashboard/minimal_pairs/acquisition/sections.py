"""Ages of acquisition: the order in which a model learns words beside that of children, and the curve of each word."""

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
from dashboard.shared.theme import laid_out, list_height, plain, symbol, symbol_title, template_safe, with_legend_above
from dashboard.shared.wording import measure_help, number_column, verbatim
from engine.evaluations.minimal_pairs.acquisition.curves import NO_SERIES, acquisition_ages
from engine.evaluations.minimal_pairs.kinds.analysis import PAIRS
from engine.measures.word_acquisition import FEWEST_POINTS
from engine.messages.languages import mark, tr, translated

BY_AGE = mark("Ages of acquisition of model and children")
CURVE = mark("Surprisal of a word over training")
HEIGHT, FEW = 420, 12


def acquisition_section(view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices) -> dict[str, go.Figure]:
    """Draw the correlations of all trainings, and each word by the age of both; the figure by its caption."""
    learned = table(view, "learned_words")
    ages = acquisition_ages(view.result, learned)
    st.markdown(
        tr("**Order of learning** :gray[of model and children, over words, with 95% intervals]"),
        help=measure_help("acquisition_correlation"),
    )
    if ages.empty:
        st.info(translated(NO_SERIES.format(fewest=FEWEST_POINTS)), icon=":material/timeline:")
        return {}
    _correlations(ages)
    for reason in dict.fromkeys(ages.loc[ages["reason"] != "", "reason"]):
        st.caption(f":material/info: {verbatim(translated(str(reason)))}")  # untranslated
    figure = age_figure(learned)
    if not figure.data:
        return {}
    draw_figure(
        figure,
        key=f"minimal-acquisition-{view.run_id}",
        config=camera("acquisition", signature),
        alt=tr("Each word by the age at which children learn it and the step at which the model does"),
    )
    return {BY_AGE: figure}


def curves_section(view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices) -> dict[str, go.Figure]:
    """Draw the mean surprisal of a word over the checkpoints, and the words; the figure by its caption."""
    curves, learned = table(view, "word_curves"), table(view, "learned_words")
    if curves.empty:
        st.info(translated(NO_SERIES.format(fewest=FEWEST_POINTS)), icon=":material/timeline:")
        return {}
    words = list(dict.fromkeys(curves["word"]))
    word = str(choices.first("word", words[0], words))
    word = str(
        st.selectbox(
            tr("Word"), words, index=words.index(word), key=choices.key("word"), width=260, filter_mode="prefix"
        )
    )
    choices.keep("word", word, words[0])
    st.markdown(
        tr("**Surprisal over training** :gray[mean over the contexts of the word]"),
        help=measure_help("region_surprisal"),
    )
    figure = curve_figure(curves[curves["word"] == word])
    draw_figure(
        figure,
        key=f"minimal-acquisition-curve-{view.run_id}",
        config=camera("word-curve", signature),
        alt=tr("Mean surprisal of a word at each checkpoint"),
    )
    st.dataframe(
        learned,
        hide_index=True,
        height=list_height(len(learned), HEIGHT),
        placeholder="–",
        alt=tr("When each word is learned by the model and by children"),
        column_order=[*(["series"] if learned["series"].nunique() > 1 else []), "word", "model_age", "child_age", "n"],
        column_config={
            "series": tr("Training"),
            "word": tr("Word"),
            "model_age": st.column_config.NumberColumn(
                tr("Model, log10 of steps"),
                format="%.2f",
                help=tr(
                    "Where surprisal is half-way from chance to its least; – where that is not within the training."
                ),
            ),
            "child_age": st.column_config.NumberColumn(tr("Children, months"), format="%.1f"),
            "n": tr("Surprisals"),
        },
    )
    return {CURVE: figure}


def acquisition_tables(view: ScoredRun) -> dict[str, Callable[[], pd.DataFrame]]:
    """What makes the tables that the page of words in contexts offers to download: those of the command."""
    return {
        "acquisition": lambda: acquisition_ages(view.result, table(view, "learned_words")),
        **{name: partial(table, view, name) for name in ("learned_words", "word_curves", "context_surprisals")},
        "pairs": lambda: PAIRS.selected(view.result.pairs),
        "excluded": lambda: view.result.excluded,
    }


def age_figure(learned: pd.DataFrame) -> go.Figure:
    """Each word by the age of children and the step of the model, a trace for each training; words without both are not
    drawn. `learned` is `curves.learned_words`.
    """
    figure = go.Figure()
    both = learned.dropna(subset=["child_age", "model_age"])
    names = list(dict.fromkeys(both["series"]))
    for index, series in enumerate(names):
        own = both[both["series"] == series]
        figure.add_trace(
            go.Scatter(
                x=own["child_age"],
                y=own["model_age"],
                mode="markers",
                name=plain(series),
                marker={"size": 8, "symbol": symbol(index)},
                customdata=own["word"].map(template_safe),
                hovertemplate=tr(
                    "{word}: {age} months, 10^{step} steps", word="%{customdata}", age="%{x:.1f}", step="%{y:.2f}"
                )
                + f"<extra>{template_safe(series)}</extra>",
            )
        )
    figure.update_xaxes(title=tr("Children (months)"), zeroline=False, fixedrange=True)
    figure.update_yaxes(title=tr("Model (log10 of steps)"), zeroline=False, fixedrange=True)
    return with_legend_above(laid_out(figure, height=360, legend=len(names) > 1))


def curve_figure(of_word: pd.DataFrame) -> go.Figure:
    """The mean surprisal of a word over the steps, a line for each training; `of_word`: rows of `curves.word_curves`."""
    figure = go.Figure()
    names = list(dict.fromkeys(of_word["series"]))
    for index, series in enumerate(names):
        own = of_word[of_word["series"] == series].sort_values("step")
        figure.add_trace(
            go.Scatter(
                x=np.log10(own["step"] + 1),
                y=own["surprisal"],
                mode="lines+markers",
                name=plain(series),
                line={"width": 1.4},
                marker={"size": 8, "symbol": symbol(index)},
                customdata=own["step"],
                hovertemplate=tr("step {step}: {surprisal} bits", step="%{customdata:,}", surprisal="%{y:.2f}")
                + f"<extra>{template_safe(series)}</extra>",
            )
        )
    figure.update_xaxes(title=tr("Model (log10 of steps)"), zeroline=False, fixedrange=True)
    figure.update_yaxes(title=symbol_title("region_surprisal"), rangemode="tozero", zeroline=False, fixedrange=True)
    return with_legend_above(laid_out(figure, height=340, legend=len(names) > 1))


def _correlations(ages: pd.DataFrame) -> None:
    st.dataframe(
        ages,
        hide_index=True,
        height="auto" if len(ages) < FEW else HEIGHT,
        placeholder="–",
        alt=tr("Correlation of the ages of acquisition of each training with those of children"),
        column_order=[
            "series",
            "pearson",
            "ci_low",
            "ci_high",
            "spearman",
            "n",
            "challenge",
            "n_challenge",
            "n_checkpoints",
        ],
        column_config={
            "series": tr("Training"),
            "pearson": number_column("acquisition_correlation", 3),
            "ci_low": st.column_config.NumberColumn(tr("95% from"), format="%.3f"),
            "ci_high": st.column_config.NumberColumn(tr("to"), format="%.3f"),
            "spearman": st.column_config.NumberColumn(tr("Spearman"), format="%.3f"),
            "n": tr("Words"),
            "challenge": st.column_config.NumberColumn(
                tr("As BabyLM"),
                format="%.3f",
                help=tr("As the challenge's script counts: surprisals in nats, chance in bits."),
            ),
            "n_challenge": tr("Its words"),
            "n_checkpoints": tr("Checkpoints"),
        },
    )
