"""How the pairs of a run were scored: the rule for each model, and the precision of the pairs."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.shared.inputs.precision import NAMES
from dashboard.shared.wording import model_name, verbatim
from engine.evaluations.minimal_pairs.records import Result, Settings
from engine.models.sources.names import shown_name
from engine.options import option_of
from engine.precision import DTYPES

OPTION = option_of(Settings, "precision")


def scoring_section(result: Result) -> dict[str, go.Figure]:
    """Draw the rules, the precision and its measured error; there is no figure."""
    for model, rule in result.rules.items():
        st.markdown(f"**{model_name(model)}** :gray[{verbatim(rule)}]")
    precision = result.settings.precision
    name = NAMES.get(precision, precision)
    st.markdown(f"**Precision** {name} :gray[{verbatim(OPTION.choices[precision])}]")
    if "scored_in" in result.pairs.columns:
        st.dataframe(precision_table(result), hide_index=True,
                     placeholder="–", alt="How many pairs were scored in which precision",
                     column_config={"Largest error": st.column_config.NumberColumn(
                         format="%.2g", help="The largest observed difference between bf16 and fp32, in nats per "
                         "square root of |S|."), "Safety": st.column_config.NumberColumn(
                         format="%g ×", help="A pair whose winner would change within so many times that error is "
                         "scored in fp32.")})
        if (result.pairs["scored_in"] != "fp32").any():
            st.caption("The column “Scored in” of the table below shows the precision of each pair.")
    return {}


def precision_table(result: Result) -> pd.DataFrame:
    """A row for each model: Model, the number of pairs in each precision, and how the error bound was measured."""
    pairs = result.pairs
    report_by_model = {report["model"]: report for report in result.precision.to_dict("records")}
    others = [name for name in DTYPES if name != "fp32" and (pairs["scored_in"] == name).any()]
    names = ("fp32", *(others or ["bf16"]))
    rows = []
    for model in result.settings.models:
        scored_in = pairs.loc[(pairs["model"] == model).to_numpy(), "scored_in"]
        row = {"Model": shown_name(model), **{f"in {name}": int((scored_in == name).sum()) for name in names}}
        if model in report_by_model:
            report = report_by_model[model]
            row |= {"Sampled": report["n_sampled"], "Rounds": report["rounds"],
                    "Largest error": report["largest_error"], "Safety": report["safety"]}
        rows.append(row)
    return pd.DataFrame(rows)
