"""The main results of a metric study as three cards: the best setting, the number of settings not significantly
different from it, and the agreement of the annotators."""

from __future__ import annotations

import streamlit as st

from dashboard.metric_study.labels import interval, number
from dashboard.shared.wording import measure_help, verbatim
from engine.evaluations.metric_study.grid import best_place
from engine.evaluations.metric_study.records import BERTSCORE, Result
from engine.messages.languages import tr, tr_n, translated


def metric_cards(result: Result) -> None:
    """Draw the highest correlation with its interval, how many settings equal it, and the annotators' agreement."""
    table = result.correlations
    best = best_place(table)
    if best is None:
        st.warning(
            verbatim(tr("No setting has a correlation: {reason}.", reason=translated(table["reason"].iloc[0]))),
            icon=":material/block:",
        )
        return
    setting = table.to_dict("records")[best]
    grid = table[(table["kind"] == BERTSCORE) & table["pearson"].notna()]
    n_inseparable = int((~grid["separable"]).sum())
    with st.grid(3, min_column_width=220, gap="small"):
        st.metric(
            tr("Best setting, Pearson's r"),
            number(setting["pearson"]),
            tr_n(
                "{interval}, {n} pair",
                "{interval}, {n:,} pairs",
                setting["n"],
                interval=interval(setting["ci_low"], setting["ci_high"]),
            ),
            delta_color="off",
            delta_arrow="off",
            border=True,
            help=measure_help("pearson"),
        )
        st.metric(
            tr("Not significantly different from the best"),
            tr("{n:,} of {total:,} other settings", n=n_inseparable - 1, total=len(grid) - 1),
            tr("Williams' test, p ≥ 0.05, not corrected"),
            delta_color="off",
            delta_arrow="off",
            border=True,
            help=measure_help("williams"),
        )
        n_annotators = len(result.annotators)
        st.metric(
            tr("Agreement of annotators"),
            number(result.mean_agreement) if n_annotators > 1 else "–",
            tr("mean r of every two of {n}", n=n_annotators) if n_annotators > 1 else tr("one annotator"),
            delta_color="off",
            delta_arrow="off",
            border=True,
            help=measure_help("annotator_agreement"),
        )
