"""Uncertainty of the ranking: models compared pairwise and with shuffled labels; and other validity indices."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.theme import decimals, with_shown_models
from dashboard.shared.wording import measure_help, number_column
from engine.evaluations.clusters.records import VALIDITY, Result
from engine.translation import tr

INDICES = [column.name for column in VALIDITY.columns if column.card]
P_DECIMALS = 3


def ranking_uncertainty(result: Result) -> None:
    """Draw the paired bootstrap of every two models, the permutation test, and the overlap of neighbourhoods."""
    if len(result.comparisons):
        _heading(tr("Pairwise comparisons"), tr("difference in M_m, paired bootstrap, 95 %; significant where the "
                                                "interval excludes 0"))
        st.dataframe(with_shown_models(result.comparisons), hide_index=True,
                     placeholder="–", alt=tr("Differences of the score between models"), column_config={
            "model": tr("Model"), "other": tr("Compared with"),
            **_numbers(result.comparisons, difference=tr("Difference in M_m"), ci_low=tr("95 % from"),
                       ci_high=tr("95 % to")),
            "separable": st.column_config.CheckboxColumn(tr("Significant")),
        })
    _heading(tr("Permutation test"), tr("M_m with shuffled labels"))
    st.dataframe(with_shown_models(result.null), hide_index=True,
                 placeholder="–", alt=tr("Scores with shuffled labels"), column_config={
        "model": tr("Model"), **_numbers(result.null, score="M_m", null_mean=tr("Mean with shuffled labels"),
                                         null_low="2.5 %", null_high="97.5 %"),
        "p_value": number_column("permutation_p_value", P_DECIMALS),
    })
    if len(result.overlap):
        _heading(tr("Shared neighbours"), tr("share of the nearest neighbours that two models have in common"))
        st.dataframe(with_shown_models(result.overlap), hide_index=True,
                     placeholder="–", alt=tr("Nearest neighbours that models share"), column_config={
            "model": tr("Model"), "other": tr("Compared with"),
            "mean_overlap": st.column_config.NumberColumn(tr("In common"), format="percent",
                                                          help=measure_help("neighbour_overlap")),
            "expected": st.column_config.NumberColumn(tr("By chance"), format="percent"),
        })


def other_indices(result: Result) -> None:
    """Draw the usual validity indices of the same classes and vectors, each with its direction."""
    order = result.models.sort_values("rank", na_position="last", kind="stable")["model"].tolist()
    table = result.validity.sort_values("model", key=lambda names: names.map(order.index), kind="stable")
    st.dataframe(
        with_shown_models(table), hide_index=True, column_order=["model", *INDICES], placeholder="–",
        alt=tr("Validity indices of each model"), column_config={"model": tr("Model"), **{
            name: number_column(name, decimals(table[name])) for name in INDICES}})


def _heading(title: str, note: str) -> None:
    st.markdown(f"**{title}** :gray[{note}]")  # untranslated


def _numbers(table: pd.DataFrame, **labels: str) -> dict[str, Any]:
    digits = decimals(pd.concat([table[name] for name in labels]).dropna().tolist())
    return {name: st.column_config.NumberColumn(label, format=f"%.{digits}f") for name, label in labels.items()}
