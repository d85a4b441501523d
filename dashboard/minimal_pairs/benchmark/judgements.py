"""Single judged sentences: how well the scores of a run agree with judgements, the reliability curve, the sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.view import ScoredRun, SectionChoices, table, tables
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.theme import (
    GREY,
    laid_out,
    list_height,
    plain,
    short_names,
    symbol,
    template_safe,
    with_legend_below,
    with_shown_models,
)
from dashboard.shared.wording import measure_help, verbatim
from engine.evaluations.minimal_pairs.kinds.analysis import PAIRS
from engine.evaluations.minimal_pairs.records import CATEGORY
from engine.measures.minimal_pairs.judged_sentences import PARTITIONS
from engine.messages.languages import mark, tr, translated

CURVE = mark("Reliability curve")
HEIGHT, FEW = 420, 12


def judgements_section(view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices) -> dict[str, go.Figure]:
    """Draw AUC, MCC and calibration under every score, the curve of the one shown, categories and sentences.

    Returns the figure by its caption.
    """
    every = tables(view, "judgements", CATEGORY)
    st.markdown(
        tr("**Agreement with judgements** :gray[of all sentences, under every score]"),
        help=measure_help("judgement_auc"),
    )
    _table(every[every["field"] == ""], tr("AUC, MCC and calibration of each score, for each model"))
    for reason in dict.fromkeys(every.loc[(every["field"] == "") & (every["reason"] != ""), "reason"]):
        st.caption(
            tr(
                ":material/info: A number that is shown as – is undefined: {reason}.",
                reason=verbatim(translated(str(reason))),
            )
        )
    st.caption(
        tr(
            "Threshold and probabilities are fitted to the other parts of the sentences (cross-validation in 5 "
            "parts). Majority: accuracy of always choosing the more frequent judgement. ±: standard deviation "
            "over {n} such partitions.",
            n=PARTITIONS,
        )
    )
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.markdown(tr("**Reliability curve** :gray[with 95% intervals]"), help=measure_help("calibration_error"))
        figure = reliability_figure(table(view, "reliability"))
        if figure.data:
            draw_figure(
                figure,
                key=f"minimal-reliability-{view.run_id}",
                config=camera("reliability", signature),
                alt=tr("Share of acceptable sentences against their predicted probability, for each model"),
            )
        else:
            st.caption(tr("There is no curve: no probabilities were fitted, for the reason given above."))
    categories = every[(every["field"] != "") & (every["normalization"] == view.normalization)]
    with right:
        st.markdown(tr("**By category** :gray[under the selected score]"))
        if len(categories):
            _table(categories, tr("AUC, MCC and calibration in each category, for each model"), by_category=True)
        else:
            st.caption(tr("The file has no column that sorts the sentences."))
    st.markdown(tr("**Sentences** :gray[under the selected score]"))
    model = choices.model(view, "judged")
    sentences = table(view, "sentences", model)
    fitted = sentences["part"].astype("Int64").where(sentences["part"] >= 0)  # -1: nothing was fitted
    st.dataframe(
        sentences.assign(part=fitted),
        hide_index=True,
        height=list_height(len(sentences), HEIGHT),
        placeholder="–",
        alt=tr("Each sentence with its judgement, score and predicted probability"),
        column_config={
            "row": tr("Row"),
            "sentence": tr("Sentence"),
            "label": tr("Judgement"),
            "score": st.column_config.NumberColumn(tr("Score"), format="%.3f"),
            "probability": st.column_config.NumberColumn(tr("Probability"), format="%.3f"),
            "part": tr("Part"),
            "predicted": tr("Verdict"),
        },
    )
    return {CURVE: figure}


def judged_tables(view: ScoredRun) -> dict[str, Callable[[], pd.DataFrame]]:
    """What makes the tables that the page of judged sentences offers to download: those of the command."""
    return {
        "pairs": lambda: PAIRS.selected(view.result.pairs),
        "judgements": partial(tables, view, "judgements", CATEGORY),
        **{name: partial(tables, view, name) for name in ("reliability", "correlations")},
        "excluded": lambda: view.result.excluded,
    }


def reliability_figure(curve: pd.DataFrame) -> go.Figure:
    """The share of acceptable sentences against the mean probability in each bin, a line for each model.

    `curve` is `single_sentences.reliability_curves` of one score; empty bins are left out. The diagonal is dotted.
    """
    figure = go.Figure()
    filled = curve[curve["n"] > 0]
    models = list(dict.fromkeys(filled["model"]))
    short = short_names(models)
    for index, model in enumerate(models):
        shown = filled[filled["model"] == model]
        figure.add_trace(
            go.Scatter(
                x=shown["probability"],
                y=shown["share"],
                mode="lines+markers",
                name=plain(short[model]),
                marker={"size": 8, "symbol": symbol(index)},
                line={"width": 1.4},
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": shown["ci_high"] - shown["share"],
                    "arrayminus": shown["share"] - shown["ci_low"],
                    "thickness": 1.2,
                    "width": 0,
                },
                customdata=shown[["n", "n_acceptable"]].to_numpy(),
                hovertemplate=tr(
                    "probability {probability}: {acceptable} of {n} acceptable",
                    probability="%{x:.2f}",
                    acceptable="%{customdata[1]:,}",
                    n="%{customdata[0]:,}",
                )
                + f"<extra>{template_safe(model)}</extra>",
            )
        )
    figure.add_shape(type="line", x0=0, y0=0, x1=1, y1=1, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_xaxes(title=tr("Predicted probability"), range=[-0.02, 1.02], zeroline=False, fixedrange=True)
    figure.update_yaxes(title=tr("Share acceptable"), range=[-0.02, 1.02], zeroline=False, fixedrange=True)
    figure = laid_out(figure, height=340, legend=len(models) > 1)
    return with_legend_below(figure.update_layout(margin={"t": 12}))


def _table(shown: pd.DataFrame, alt: str, *, by_category: bool = False) -> None:
    names = ["field", "value"] if by_category else ["normalization"]
    st.dataframe(
        with_shown_models(shown.assign(normalization=shown["normalization"].map(tr))),
        hide_index=True,
        height="auto" if len(shown) < FEW else HEIGHT,
        placeholder="–",
        alt=alt,
        column_order=[
            "model",
            *names,
            "n",
            "n_acceptable",
            "auc",
            "ci_low",
            "ci_high",
            "mcc",
            "mcc_low",
            "mcc_high",
            "accuracy",
            "majority",
            "brier",
            "ece",
            "mcc_deviation",
            "accuracy_deviation",
            "brier_deviation",
            "ece_deviation",
        ],
        column_config={
            "model": tr("Model"),
            "field": tr("Column"),
            "value": tr("Value"),
            "normalization": tr("Score"),
            "n": tr("Sentences"),
            "n_acceptable": tr("Acceptable"),
            "majority": st.column_config.NumberColumn(tr("Majority"), format="%.3f"),
            **{
                f"{name}_deviation": st.column_config.NumberColumn(f"{label} ±", format="%.3f")
                for name, label in (
                    ("mcc", "MCC"),
                    ("accuracy", tr("Accuracy")),
                    ("brier", "Brier"),  # untranslated
                    ("ece", "ECE"),
                )
            },
            **{
                name: st.column_config.NumberColumn(label, format="%.3f", help=measure_help(card))
                for name, label, card in (
                    ("auc", "AUC", "judgement_auc"),
                    ("mcc", "MCC", "judgement_mcc"),  # untranslated
                    ("accuracy", tr("Accuracy"), "judgement_accuracy"),
                    ("brier", "Brier", "brier_score"),
                    ("ece", "ECE", "calibration_error"),
                )
            },
            **{name: st.column_config.NumberColumn(tr("95% from"), format="%.3f") for name in ("ci_low", "mcc_low")},
            **{name: st.column_config.NumberColumn(tr("to"), format="%.3f") for name in ("ci_high", "mcc_high")},
        },
    )
