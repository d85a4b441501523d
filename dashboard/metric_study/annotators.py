"""The annotators of a metric study: their scales, and how well they agree with each other."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.metric_study.labels import interval, number
from dashboard.shared.wording import measure_help, verbatim
from engine.evaluations.metric_study.records import Result


def annotators_view(result: Result) -> None:
    """Draw a row for each annotator and, of several, a row for every two."""
    table = result.annotators
    st.dataframe(table, hide_index=True, placeholder="–", alt="The annotators and their scores", column_config={
        "annotator": "Annotator", "n": "Pairs scored", "missing": "Missing", "scale": "Scale",
        "minimum": st.column_config.NumberColumn("Minimum", format="%.4g"),
        "maximum": st.column_config.NumberColumn("Maximum", format="%.4g"),
        "mean": st.column_config.NumberColumn("Mean", format="%.4g"),
        "deviation": st.column_config.NumberColumn("Standard deviation", format="%.4g"),
        "agreement": st.column_config.NumberColumn("Mean r with the others", format="%.3f",
                                                   help=measure_help("annotator_agreement")),
        "reason": st.column_config.TextColumn("Reason for exclusion"),
    }, column_order=[name for name in table.columns if name != "reason" or table["reason"].any()])
    if len(result.agreement):
        st.dataframe(pd.DataFrame({
            "Annotator": result.agreement["annotator"], "Other": result.agreement["other"],
            "r": result.agreement["pearson"].map(number),
            "95 %": [interval(low, high) for low, high in zip(result.agreement["ci_low"], result.agreement["ci_high"],
                                                             strict=True)],
            "Pairs both scored": result.agreement["n"], "": result.agreement["reason"],
        }), hide_index=True, width="content", placeholder="–", alt="Pearson's correlation of every two annotators")
    st.caption("Each annotator's scores are z-normalised (their own mean 0, standard deviation 1, over the pairs they "
               "scored, divided by n); every method is correlated with the mean of the z-scores. "
               + verbatim("With one annotator that is their z-score." if len(table) == 1 else
                          f"Mean correlation of every two annotators: {number(result.mean_agreement)}."))
