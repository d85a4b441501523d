"""Accuracy over all pairs and in each stratum as cards, a row for each model; many models as a table."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.minimal_pairs.benchmark.columns import column_word
from dashboard.minimal_pairs.view import STRATA
from dashboard.minimal_pairs.words import PAIRS, PairWords
from dashboard.shared.wording import measure_help, model_name, verbatim
from engine.evaluations.minimal_pairs.clustered.intervals import few_clusters, unnamed_clusters
from engine.evaluations.minimal_pairs.length_effects import misleads
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import categories_of, of_model
from engine.messages.languages import sentences, tr, tr_n, translated
from engine.models.sources.names import shown_name

ORDER = STRATA
ROWS_OF_CARDS = 3


def accuracy_cards(summary: pd.DataFrame, words: PairWords = PAIRS) -> None:
    """Draw `views.summary` of one normalisation; where length misleads, A > U is warm."""
    models = list(dict.fromkeys(summary["model"]))
    if len(models) > ROWS_OF_CARDS:
        _table(summary, models)
    else:
        for model in models:
            _row(model, summary[summary["model"] == model], words)
    st.caption(tr(words.strata_help))
    if words.intro:
        st.markdown(tr(words.intro))


def cluster_caption(summary: pd.DataFrame, result: Result) -> None:
    """Draw over which clusters the intervals of `views.summary` are, and what few of them mean; nothing of pairs."""
    over = summary[(summary["clustered_by"] != "").to_numpy() & (summary["stratum"] == "all").to_numpy()]
    if len(over):
        column = str(over["clustered_by"].iloc[0])
        said = translated(few_clusters(over)) or tr(
            "Intervals of accuracies and slopes, and the ranks of models, are over {n:,} clusters of pairs: the "
            "values of {column}.",
            n=int(over["n_clusters"].max()),
            column=verbatim(column_word(column)),
        )
        values = categories_of(result, of_model(result, str(over["model"].iloc[0])), column)
        st.caption(sentences(said, translated(unnamed_clusters(values, column))))


def item_caption(items: pd.DataFrame) -> None:
    """Draw `levels.item_accuracy` of one normalisation in a line; nothing where pairs are of no items."""
    lines = [
        tr(
            "{model} {accuracy:.1%} ({low:.1f}–{high:.1f}, chance {chance:.0%})",
            model=model_name(row["model"]),
            accuracy=row["accuracy"],
            low=100 * row["ci_low"],
            high=100 * row["ci_high"],
            chance=row["chance"],
        )
        for row in items[items["n_items"] > 0].to_dict("records")
    ]
    if lines:
        st.caption(
            tr("Items whose acceptable sentence is above all others: {lines}.", lines=" · ".join(lines)),
            help=measure_help("accuracy"),
        )


def interval(stratum: Mapping[Any, Any]) -> str:
    """The 95% interval in per cent, and the number of ties where there are any."""
    if not stratum["n"]:
        return tr("no such pair")
    bounds = (
        f"{100 * stratum['ci_low']:.1f}–{100 * stratum['ci_high']:.1f}"
        if isfinite(stratum["ci_low"])
        else tr("no 95% interval")
    )
    return (
        tr_n("{bounds} · {n} tie", "{bounds} · {n:,} ties", stratum["n_tied"], bounds=bounds)
        if stratum["n_tied"]
        else bounds
    )


def _row(model: str, strata: pd.DataFrame, words: PairWords) -> None:
    length_misleads = misleads(strata)
    st.markdown(f":gray[{model_name(model)}]")  # untranslated
    with st.grid(4, min_column_width=140, gap="small"):
        by_name = {stratum["stratum"]: stratum for stratum in strata.to_dict("records")}
        for name, title in ORDER.items():
            if name not in by_name:
                st.metric(
                    tr(title), "–", tr("numbers of tokens not known"), delta_color="off", delta_arrow="off", border=True
                )
                continue
            stratum, is_warm = by_name[name], length_misleads and name == "A>U"
            value = "–" if not stratum["n"] else f"{stratum['accuracy']:.1%}"
            label = tr("{stratum} · {n:,}", n=stratum["n"], stratum=verbatim(tr(title)))  # fits on a phone
            if name == "all":
                label = tr_n("{stratum} · {n} pair", "{stratum} · {n:,} pairs", stratum["n"], stratum=tr(title))
            st.metric(
                label,
                f":orange[{value}]" if is_warm else value,
                interval(stratum),
                delta_color="orange" if is_warm else "off",
                delta_arrow="off",
                border=True,
                help=measure_help(words.measure) if name == "all" else None,
            )


def _table(summary: pd.DataFrame, models: list[str]) -> None:
    rows = []
    for model in models:
        row = {"model": shown_name(model)}
        for stratum in summary[summary["model"] == model].to_dict("records"):
            accuracy = "–" if not stratum["n"] else f"{stratum['accuracy']:.1%}"
            row[stratum["stratum"]] = tr(
                "{accuracy} ({interval}), n = {n:,}", accuracy=accuracy, interval=interval(stratum), n=stratum["n"]
            )
        rows.append(row)
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        column_order=["model", *ORDER],
        placeholder="–",
        alt=tr("Accuracy of each model by stratum"),
        column_config={"model": tr("Model"), **{name: tr(title) for name, title in ORDER.items()}},
    )
