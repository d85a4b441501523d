"""Uncertainty of the ranking: models compared pairwise and with shuffled labels; and other validity indices."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.theme import with_shown_models
from dashboard.shared.wording import measure_help, number_column
from engine.evaluations.clusters.records import SILHOUETTE_ERROR, VALIDITY, Result
from engine.language.quantities import decimals
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import tr, translated

INDICES = [column.name for column in VALIDITY.columns if column.card]
P_DECIMALS = CKA_DECIMALS = 3


def ranking_uncertainty(result: Result) -> None:
    """Draw the paired bootstrap of every two models, the permutation test, and the overlap of neighbourhoods."""
    if len(result.comparisons):
        _heading(
            tr("Pairwise comparisons"),
            tr("difference in M_m, paired bootstrap, 95%; significant where the interval excludes 0"),
        )
        st.dataframe(
            with_shown_models(result.comparisons),
            hide_index=True,
            placeholder="–",
            alt=tr("Differences of the score between models"),
            column_config={
                "model": tr("Model"),
                "other": tr("Compared with"),
                **_numbers(
                    result.comparisons,
                    difference=tr("Difference in M_m"),
                    ci_low=tr("95% from"),
                    ci_high=tr("95% to"),
                ),
                "separable": st.column_config.CheckboxColumn(tr("Significant")),
            },
        )
    _heading(tr("Permutation test"), tr("M_m with shuffled labels"))
    st.dataframe(
        with_shown_models(result.null),
        hide_index=True,
        placeholder="–",
        alt=tr("Scores with shuffled labels"),
        column_config={
            "model": tr("Model"),
            **_numbers(
                result.null,
                score="M_m",
                null_mean=tr("Mean with shuffled labels"),
                null_low="2.5%",
                null_high="97.5%",
            ),
            "p_value": number_column("permutation_p_value", P_DECIMALS),
        },
    )
    if len(result.overlap):
        _heading(
            tr("Shared neighbours, CKA and RSA"),
            tr("how alike two models arrange the same sentences; by chance: with the sentences of one shuffled"),
        )
        st.dataframe(
            with_shown_models(result.overlap),
            hide_index=True,
            placeholder="–",
            alt=tr("Nearest neighbours that models share"),
            column_config={
                "model": tr("Model"),
                "other": tr("Compared with"),
                "mean_overlap": st.column_config.NumberColumn(
                    tr("In common"), format="percent", help=measure_help("neighbour_overlap")
                ),
                "expected": st.column_config.NumberColumn(tr("By chance"), format="percent"),
                "cka": number_column("linear_cka", CKA_DECIMALS),
                "expected_cka": st.column_config.NumberColumn(tr("CKA by chance"), format=f"%.{CKA_DECIMALS}f"),
                "rsa": number_column("distance_correlation", CKA_DECIMALS),
                "n_rsa": st.column_config.NumberColumn(tr("Sentences of RSA")),
                "rsa_error": st.column_config.NumberColumn(
                    "RSA ±",  # untranslated
                    format="%.4f",
                    help=tr("Standard error over samples of the sentences"),
                ),
            },
            column_order=[name for name in result.overlap.columns if result.overlap[name].notna().any()],
        )


def other_indices(result: Result) -> None:
    """Draw the usual validity indices of the same classes and vectors, each with its direction.

    Below: isotropy's caveat, the spread over seeds and the scores of other columns, where the run has them.
    """
    order = result.models.sort_values("rank", na_position="last", kind="stable")["model"].tolist()
    table = result.validity.sort_values("model", key=lambda names: names.map(order.index), kind="stable")
    st.dataframe(
        with_shown_models(table),
        hide_index=True,
        placeholder="–",
        column_order=["model", *INDICES, *([SILHOUETTE_ERROR] if table[SILHOUETTE_ERROR].notna().any() else [])],
        alt=tr("Validity indices of each model"),
        column_config={
            "model": tr("Model"),
            **{name: number_column(name, decimals(table[name])) for name in INDICES},
            SILHOUETTE_ERROR: st.column_config.NumberColumn(
                tr("Silhouette ±"), format="%.4f", help=tr("Standard error over samples of the sentences")
            ),
        },
    )
    st.caption(
        tr(
            "Isotropy and clusters pull apart: vectors that lie in clusters are not isotropic, so a higher "
            "IsoScore is not a better model."
        )
    )
    _spread_over_seeds(result)
    _classes_by_column(result)


def _spread_over_seeds(result: Result) -> None:
    table = result.clusterings
    if not len(table):
        return
    _heading(
        tr("Spread over seeds"),
        tr("k-means, and mini-batch k-means as MTEB runs it, with {n:,} seeds", n=int(table["n_seeds"].max())),
    )
    st.dataframe(
        with_shown_models(table.assign(measure=[translated(CARDS[key].name) for key in table["measure"]])),
        hide_index=True,
        column_order=["model", "measure", "mean", "deviation", "minimum", "maximum"],
        placeholder="–",
        alt=tr("Indices of k-means over seeds"),
        column_config={
            "model": tr("Model"),
            "measure": tr("Index"),
            **{
                name: st.column_config.NumberColumn(label, format="%.3f")
                for name, label in {
                    "mean": tr("Mean"),
                    "deviation": tr("Standard deviation"),
                    "minimum": tr("Minimum"),
                    "maximum": tr("Maximum"),
                }.items()
            },
        },
    )


def _classes_by_column(result: Result) -> None:
    table = result.class_columns
    if not len(table):
        return
    has_reasons = "reason" in table.columns and bool(table["reason"].fillna("").any())  # not of an early 0.3.0
    _heading(
        tr("Other columns as classes"),
        tr("M_m depends on the sizes and number of the classes: compare models within a column, and columns by p"),
    )
    st.dataframe(
        with_shown_models(
            table.assign(
                column=table["column"].replace("", tr("label")),
                **({"reason": table["reason"].map(translated)} if has_reasons else {}),
            )
        ),
        hide_index=True,
        column_order=["column", "model", "n_sentences", "n_classes", "score", "p_value", *["reason"] * has_reasons],
        placeholder="–",
        alt=tr("Scores with the classes of other columns"),
        column_config={
            "column": tr("Column"),
            "model": tr("Model"),
            "n_sentences": tr("Sentences"),
            "n_classes": tr("Classes"),
            **_numbers(table, score="M_m"),
            "p_value": number_column("permutation_p_value", P_DECIMALS),
            "reason": tr("Reason"),
        },
    )


def _heading(title: str, note: str) -> None:
    st.markdown(f"**{title}** :gray[{note}]")  # untranslated


def _numbers(table: pd.DataFrame, **labels: str) -> dict[str, Any]:
    digits = decimals(pd.concat([table[name] for name in labels]).dropna().tolist())
    return {name: st.column_config.NumberColumn(label, format=f"%.{digits}f") for name, label in labels.items()}
