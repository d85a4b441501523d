"""The effect of length on a minimal-pairs result: accuracy against token difference, its slope, scores against |S|."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.accuracy_cards import ORDER, interval
from dashboard.minimal_pairs.benchmark.columns import judgement_columns
from dashboard.minimal_pairs.charts import difference_figure
from dashboard.minimal_pairs.figure_selection import PointSelection, clickable
from dashboard.minimal_pairs.length.charts import correlation_figure, points_figure, slope_figure
from dashboard.minimal_pairs.view import TABLES_KEPT, ScoredRun, SectionChoices, table, tables
from dashboard.minimal_pairs.words import PairWords
from dashboard.shared import session
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.theme import list_height, with_shown_models
from dashboard.shared.wording import measure_help, verbatim
from engine.evaluations.minimal_pairs.length_effects import number_of_sentences
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import available
from engine.measures.minimal_pairs.judged_sentences import PARTITIONS
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import mark, tr, translated
from engine.messages.message import Message, list_of
from engine.models.sources.names import shown_name

MODELS, SCORES, FILES = "models", "scores", "files"
LINES = {MODELS: mark("models"), SCORES: mark("scores"), FILES: mark("files")}
TABLE_HEIGHT = 560  # of a row for each model and score
MAX_SOURCES = 10  # more lines cannot be distinguished
SLOPE, CORRELATION = mark("Effect of length by score"), mark("Score against the number of tokens")


def length_section(
    view: ScoredRun, signature: Mapping[str, Any], words: PairWords, choices: SectionChoices
) -> dict[str, go.Figure]:
    """Draw the section; returns its figures by caption."""
    figures: dict[str, go.Figure] = {}
    left, right = st.columns([3, 2], gap="medium")
    with left:
        caption = words.by_difference
        figures[caption] = _differences(view, signature, words.counted, tr(caption), choices)
    with right:
        st.markdown(
            tr(words.slopes),
            help=measure_help("length_slope"),
        )
        slopes = tables(view, "slopes")
        figures[SLOPE] = figure = slope_figure(slopes)
        draw_figure(
            figure,
            key=f"minimal-slopes-{view.run_id}",
            config=camera("slopes", signature),
            alt=tr("The length slope of each model under each score, with 95% intervals"),
        )
        for note in undefined_slopes(slopes):
            st.caption(note)
    _counts(view, words)
    return figures


def undefined_slopes(slopes: pd.DataFrame) -> list[str]:
    """Which models have no slope under which scores and why, a text for each reason; slopes: as `slope_figure` has."""
    notes = []
    for _, undefined in slopes[slopes["reason"] != ""].groupby("reason", sort=False):
        reason = undefined["reason"].iloc[0]  # the keys of groups are plain texts, which have lost their values
        names = translated(
            list_of(f"{shown_name(row['model'])} ({tr(row['normalization'])})" for row in undefined.to_dict("records"))
        )
        values = {"names": verbatim(names), "reason": verbatim(translated(reason))}
        notes.append(
            tr(
                ":material/info: No slope for {names}: {reason}. Drawn in its place: Firth's penalised estimate.",
                **values,
            )
            if undefined["firth_slope"].notna().all()
            else tr(":material/info: No slope for {names}: {reason}.", **values)
        )
    return notes


def correlation_caption(measure: str) -> Message:
    """The caption of the correlations by "spearman" or "pearson"."""
    return Message("{coefficient} correlation of score and number of tokens", coefficient=measure.capitalize())


def _differences(
    view: ScoredRun, signature: Mapping[str, Any], word: str, caption: str, choices: SectionChoices
) -> go.Figure:
    sources, scores = view.result.items["source"].unique(), available(view.result.pairs)
    offered = [MODELS, *([SCORES] if len(scores) > 1 else []), *([FILES] if 1 < len(sources) <= MAX_SOURCES else [])]
    lines = MODELS
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(tr("**{caption}** :gray[|A| − |U|, with 95% bands]", caption=verbatim(caption)), width="content")
        if len(offered) > 1:
            lines = str(
                st.segmented_control(
                    tr("Lines"),
                    offered,
                    default=choices.first("lines", MODELS, offered),
                    required=True,
                    format_func=lambda name: tr(LINES[name]),
                    help=tr(
                        "A line for each model under the chosen score; or, of one model, for "
                        "each score, as in the paper's figures 2 and 3, or for each file."
                    ),
                    key=choices.key("lines"),
                    label_visibility="collapsed",
                )
            )
            choices.keep("lines", lines, MODELS)
        with_lp = view.normalization != "LP" and lines == MODELS
        if with_lp:
            with_lp = st.toggle(
                tr("Show LP"),
                choices.first("beside_lp", True),
                key=choices.key("beside"),
                help=tr("Dotted: the same pairs under LP, as in the paper's figure 2."),
            )
            choices.keep("beside_lp", with_lp, True)
    model = choices.model(view, "lines") if lines != MODELS else view.models[0]
    points = {
        MODELS: lambda: table(view, "differences"),
        FILES: lambda: table(view, "by_source", model),
        SCORES: lambda: by_score(view, model),
    }[lines]()
    before = table(view, "differences", normalization="LP") if with_lp else None
    is_of_models = lines == MODELS  # else the lines are scores or files
    figure = difference_figure(
        with_shown_models(points) if is_of_models else points,
        None if before is None else with_shown_models(before),
        word,
    )
    names = list(dict.fromkeys(points["model"]))

    def decode(point: Mapping[str, Any]) -> PointSelection | None:
        trace, data = point.get("curve_number", -1), point.get("customdata")
        if not data or not 0 <= trace < len(names):
            return None
        source = {"field": "source", "value": names[trace]} if lines == FILES else {}
        return PointSelection(names[trace] if lines == MODELS else model, int(data[-2]), bool(data[-1]), **source)

    clickable(
        figure,
        "difference",
        view.run_id,
        signature,
        decode,
        tr(
            "{caption}, a line for each of the {lines}; click a point to see its pairs",
            caption=caption,
            lines=tr(LINES[lines]),
        ),
    )
    st.caption(tr("Click a point to list its pairs below."))
    return figure


def by_score(view: ScoredRun, model: str) -> pd.DataFrame:
    """`views.by_difference` of one model, a row for each score, by its label, in place of each model."""
    parts = []
    for score in available(view.result.pairs):
        differences = table(view, "differences", normalization=score)
        parts.append(differences[differences["model"] == model].assign(model=tr(score)))
    return pd.concat(parts, ignore_index=True)


def _counts(view: ScoredRun, words: PairWords) -> None:
    """Draw the number of pairs and the accuracy in each stratum (the paper's table 2)."""
    columns = {"model": tr("Model"), "score": tr("Score")}
    for name, title in ORDER.items():
        columns[f"{name} n"] = tr("{stratum}: pairs", stratum=tr(title))
        columns[f"{name} share"] = tr(words.of_stratum, stratum=tr(title))
    rows = []
    for (model, score), strata in tables(view, "summary").groupby(["model", "normalization"], sort=False):
        row: dict[str, Any] = {"model": shown_name(str(model)), "score": tr(str(score))}
        for stratum in strata.to_dict("records"):
            name = stratum["stratum"]
            row[f"{name} n"] = stratum["n"]
            row[f"{name} share"] = "–" if not stratum["n"] else f"{100 * stratum['accuracy']:.1f} ({interval(stratum)})"
        rows.append(row)
    with st.expander(
        tr(words.counts),
        icon=":material/table_chart:",
        key=f"minimal-counts-{view.run_id}",
    ):
        st.dataframe(
            pd.DataFrame(rows),
            hide_index=True,
            column_order=list(columns),
            column_config=columns,
            placeholder="–",
            alt=tr("Number of pairs and share in each stratum, for each model and score"),
        )
        st.caption(tr("Shares in per cent, with their 95% intervals."))


def scores_section(
    view: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices, *, of_pairs: bool = False
) -> dict[str, go.Figure]:
    """Draw score against |S| and its correlation under every score; returns the figures by caption.

    of_pairs: whether the sentences are acceptable and unacceptable ones in pairs, whose pairing is looked at too.
    """
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(
            tr(
                "**Score against the number of tokens** :gray[all sentences; a correlation of 0 means no effect "
                "of length]"
            ),
            width="content",
        )
        model = choices.model(view, "points")
    left, right = st.columns([3, 2], gap="medium")
    points = table(view, "points", model)
    with left:
        figure = points_figure(points, NORMALIZATIONS[view.normalization].card, model)
        clickable(
            figure,
            "points",
            view.run_id,
            signature,
            lambda point: _row(point, model),
            tr("Scores of sentences against their numbers of tokens; click one to see its pair"),
        )
        n = number_of_sentences(view.result, model)
        if len(points) < n:
            st.caption(
                tr("{shown:,} of {n:,} sentences, sampled; the correlations are over all.", shown=len(points), n=n)
            )
    with right:
        measure = str(
            st.segmented_control(
                tr("Correlation"),
                ["spearman", "pearson"],
                default=choices.first("correlation", "spearman"),
                required=True,
                label_visibility="collapsed",
                format_func=str.capitalize,
                key=choices.key("correlation"),
            )
        )
        choices.keep("correlation", measure, "spearman")
        correlations = correlation_figure(tables(view, "correlations"), measure)
        draw_figure(
            correlations,
            key=f"minimal-correlations-{view.run_id}",
            config=camera("correlations", signature),
            alt=tr("Correlation of score and number of tokens, for each model and score"),
        )
    _judgements(view)
    if of_pairs:
        _pairing(view)
    return {CORRELATION: figure, correlation_caption(measure): correlations}


def _pairing(view: ScoredRun) -> None:
    """Draw how alike the scores within pairs are, and how well they separate the sentences without their pairs."""
    with st.expander(
        tr("Scores within pairs and without them, under every score"),
        icon=":material/join_inner:",
        key=f"minimal-pairing-{view.run_id}",
        on_change="rerun",
    ) as opened:
        if not opened.open:
            return
        st.caption(
            tr(
                "Hu et al. (2026) predict that what the two sentences of a pair share makes their scores alike, and that "
                "sentences of different pairs are hard to separate by their scores. AUC is of all sentences, accuracy of "
                "pairs."
            )
        )
        three, pairing = "%.3f", tables(view, "pairing")
        pairing = pairing.assign(normalization=pairing["normalization"].map(tr))
        st.dataframe(
            with_shown_models(pairing if (pairing["reason"] != "").any() else pairing.drop(columns="reason")),
            hide_index=True,
            height=list_height(len(pairing), TABLE_HEIGHT),
            placeholder="–",
            column_config={
                "model": tr("Model"),
                "normalization": tr("Score"),
                "n": tr("Pairs"),
                "pearson": st.column_config.NumberColumn(
                    tr("Pearson within pairs"), format=three, help=measure_help("pearson")
                ),
                "accuracy": st.column_config.NumberColumn(tr("Accuracy"), format=three, help=measure_help("accuracy")),
                "auc": st.column_config.NumberColumn(tr("AUC"), format=three, help=measure_help("judgement_auc")),
                **{name: st.column_config.NumberColumn(tr("95% from"), format=three) for name in ("ci_low", "auc_low")},
                **{name: st.column_config.NumberColumn(tr("95% to"), format=three) for name in ("ci_high", "auc_high")},
                "reason": tr("Reason"),
            },
            alt=tr("Correlation of scores within pairs, accuracy and AUC, for each model and score"),
        )


def _judgements(view: ScoredRun) -> None:
    """Draw how well every score follows human judgements, where the data has them."""
    linking = tables(view, "linking")
    if linking.empty:
        return
    with st.expander(
        tr("Correlation with human judgements, under every score"),
        icon=":material/groups:",
        key=f"minimal-linking-{view.run_id}",
    ):
        of_sentences = () if linking["n"].any() else ("n", "pearson", "ci_low", "ci_high")  # differences alone
        fitted = linking["beta"].notna().any()
        spread = {
            f"{name}_deviation": f"{label} ±"
            for name, label in (("beta", "β"), ("gamma", "γ"), ("accuracy", tr("Accuracy")), ("pearson", "Pearson"))
        }
        hidden = (*of_sentences, *(() if fitted else ("beta", "gamma", *spread)), "difference_deviation")
        st.dataframe(
            with_shown_models(
                linking.drop(columns=list(hidden)).assign(normalization=linking["normalization"].map(tr))
            ),
            hide_index=True,
            placeholder="–",
            column_config={
                **{
                    name: st.column_config.NumberColumn(
                        label,
                        format="%.3f",
                        help=tr(
                            "Standard deviation over {n} partitions of the pairs into parts, that is over seeds",
                            n=PARTITIONS,
                        ),
                    )
                    for name, label in spread.items()
                },
                "model": tr("Model"),
                "normalization": tr("Score"),
                "n": tr("Sentences"),
                "reason": tr("Reason"),
                "pearson": st.column_config.NumberColumn(
                    "Pearson",  # untranslated
                    format="%.3f",  # untranslated
                    help=measure_help("pearson"),
                ),
                "ci_low": st.column_config.NumberColumn(tr("95% from"), format="%.3f"),
                "ci_high": st.column_config.NumberColumn(tr("95% to"), format="%.3f"),
                "beta": st.column_config.NumberColumn("β", format="%.2f"),
                "gamma": st.column_config.NumberColumn("γ", format="%.2f"),
                "n_pairs": tr("Pairs"),
                "difference_pearson": st.column_config.NumberColumn(
                    tr("Pearson of differences"),
                    format="%.3f",
                    help=tr(
                        "Correlation of the difference of scores inside a pair with the difference of judgements, or "
                        "with the judgement of the difference."
                    ),
                ),
                "difference_low": st.column_config.NumberColumn(tr("95% from"), format="%.3f"),
                "difference_high": st.column_config.NumberColumn(tr("95% to"), format="%.3f"),
            },
            alt=tr("Correlation of each score with the human judgements of the sentences, for each model"),
        )
        st.caption(
            tr(
                "The judgements are those in {columns}; `--ratings` on the command line names other columns.",
                columns=verbatim(translated(list_of(_judged_in(view.run_id, view.result)))),
            )
        )
        if not fitted:
            return
        st.caption(
            tr(
                "MORCELA takes off β times the word frequency and adds γ before dividing by the length; both are "
                "fitted to the judgements of other pairs (cross-validation in 5 parts). SLOR is β = 1, γ = 0."
            )
        )


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner=False)
def _judged_in(run_id: str, _result: Result) -> tuple[str, ...]:
    return judgement_columns(_result, session.access().dataset(run_id))


def _row(point: Mapping[str, Any], model: str) -> PointSelection | None:
    data = point.get("customdata")
    return PointSelection(model, row=int(data[0])) if data else None
