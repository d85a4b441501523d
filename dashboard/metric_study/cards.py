"""The answer of a metric study in three cards: the best setting, what cannot be told from it, the annotators."""

from __future__ import annotations

import streamlit as st

from dashboard.metric_study.words import interval, number, setting_name
from dashboard.shared.wording import measure_help, verbatim
from engine.evaluations.metric_study.grid import best_place
from engine.evaluations.metric_study.records import BERTSCORE, Result


def metric_cards(result: Result) -> None:
    """The greatest correlation with its interval, how many settings share its rank, how well annotators agree."""
    table = result.correlations
    best = best_place(table)
    if best is None:
        st.warning(verbatim(f"No setting has a correlation: {table['reason'].iloc[0]}."), icon=":material/block:")
        return
    line = table.to_dict("records")[best]
    grid = table[(table["kind"] == BERTSCORE) & table["pearson"].notna()]
    alike = int((~grid["separable"]).sum())
    with st.grid(3, min_column_width=220, gap="small"):
        st.metric("Best setting, Pearson's r", number(line["pearson"]),
                  f"{interval(line['ci_low'], line['ci_high'])}, {line['n']:,} pairs", delta_color="off",
                  delta_arrow="off", border=True, help=measure_help("pearson"))
        st.metric("Cannot be told from the best", f"{alike - 1} of {len(grid) - 1}",
                  "settings, Williams' test, p ≥ 0.05", delta_color="off", delta_arrow="off", border=True,
                  help=measure_help("williams"))
        n_annotators = len(result.annotators)
        st.metric("Annotators agree", number(result.mean_agreement) if n_annotators > 1 else "–",
                  f"mean r of every two of {n_annotators}" if n_annotators > 1 else "one annotator",
                  delta_color="off", delta_arrow="off", border=True, help=measure_help("annotator_agreement"))
    st.caption(f"The best: {verbatim(setting_name(line))}.")
