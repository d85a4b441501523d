"""The annotators of a metric study: their scales, and how well they agree with each other."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.metric_study.labels import INTERVALS, MEASURES, interval, number
from dashboard.shared.wording import measure_help, verbatim
from engine.evaluations.metric_study.records import Result
from engine.messages.languages import tr, translated


def annotators_view(result: Result) -> None:
    """Draw a row for each annotator and, of several, a row for every two."""
    table = result.annotators.assign(
        scale=result.annotators["scale"].map(translated), reason=result.annotators["reason"].map(translated)
    )
    st.dataframe(
        table,
        hide_index=True,
        placeholder="–",
        alt=tr("The annotators and their scores"),
        column_config={
            "annotator": tr("Annotator"),
            "n": tr("Pairs scored"),
            "missing": tr("Missing"),
            "scale": tr("Scale"),
            "minimum": st.column_config.NumberColumn(tr("Minimum"), format="%.4g"),
            "maximum": st.column_config.NumberColumn(tr("Maximum"), format="%.4g"),
            "mean": st.column_config.NumberColumn(tr("Mean"), format="%.4g"),
            "deviation": st.column_config.NumberColumn(tr("Standard deviation"), format="%.4g"),
            "agreement": st.column_config.NumberColumn(
                tr("Mean r with the others"), format="%.3f", help=measure_help("annotator_agreement")
            ),
            "reason": st.column_config.TextColumn(tr("Reason for exclusion")),
        },
        column_order=[name for name in table.columns if name != "reason" or table["reason"].any()],
    )
    if len(result.agreement):
        st.dataframe(
            pd.DataFrame(
                {
                    tr("Annotator"): result.agreement["annotator"],
                    tr("Other annotator"): result.agreement["other"],
                    "r": result.agreement["pearson"].map(number),
                    tr("95% interval"): [
                        interval(low, high)
                        for low, high in zip(result.agreement["ci_low"], result.agreement["ci_high"], strict=True)
                    ],
                    tr("Pairs both scored"): result.agreement["n"],
                    "": result.agreement["reason"].map(translated),
                }
            ),
            hide_index=True,
            width="content",
            placeholder="–",
            alt=tr("Pearson's correlation of every two annotators"),
        )
    _ceiling(result.human_ceiling)
    st.caption(
        tr(
            "Each annotator's scores are z-normalised (mean 0 and standard deviation 1 over the pairs that the "
            "annotator scored, divided by n); every method is correlated with the mean of the z-scores."
        )
    )
    if len(table) > 1:
        st.caption(
            verbatim(tr("Mean correlation of every two annotators: {value}.", value=number(result.mean_agreement)))
        )


def _ceiling(table: pd.DataFrame) -> None:
    if table.empty:
        return
    columns = {tr("Annotator"): [name or tr("Mean, the human ceiling") for name in table["annotator"]]}
    for name, label in MEASURES.items():
        columns[label] = table[name].map(number).tolist()
        columns[f"{label}: {tr('95% interval')}"] = [
            interval(low, high) for low, high in table[list(INTERVALS[name])].itertuples(index=False, name=None)
        ]
    st.dataframe(
        pd.DataFrame(
            {**columns, tr("Pairs"): table["n"], tr("Missing"): table["missing"], "": table["reason"].map(translated)}
        ),
        hide_index=True,
        width="content",
        placeholder="–",
        alt=tr("Each annotator against the mean of the others"),
    )
    st.caption(
        tr(
            "Each annotator's z-scores against the mean of the others', over the pairs that both have. The mean "
            "over annotators is the human ceiling: no strict bound, because metrics are compared with the mean "
            "of all annotators, which has less noise."
        )
    )
