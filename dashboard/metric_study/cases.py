"""Single pairs of a metric study: those that the penalty moves towards or away from the human scores, the paper's case
table, and those whose score is furthest from the human score under any setting or method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.metric_study.labels import cell_key, idf_name, number, setting_name
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.theme import list_height
from dashboard.shared.wording import verbatim
from engine.evaluations.metric_study.cases import NEARER, cases, method_cases
from engine.evaluations.metric_study.records import BERTSCORE, Result
from engine.messages.languages import mark, tr, tr_n, translated
from engine.models.sources.names import shown_name
from engine.options import option

CASES_KEPT = 32
MAX_CASES = 1000  # rows sent to the browser
PENALTY, FURTHEST = "penalty", "furthest"
KINDS = {PENALTY: mark("Changed by the penalty"), FURTHEST: mark("Furthest from the human scores")}
GAIN_HELP = mark(
    "The pair's contribution to the change in Pearson's r; pairs that the penalty leaves unchanged "
    "contribute a little, too."
)


@dataclass(frozen=True)
class Cases:
    """Which single pairs are shown, as written in the page's URL."""

    cases: str = option(PENALTY, "The pairs of a setting that are shown.", choices=KINDS)  # untranslated


@st.cache_data(max_entries=CASES_KEPT, show_spinner=False)
def changed_pairs(run_id: str, model: str, idf: str, _result: Result) -> pd.DataFrame:
    """`cases.cases`; `run_id` is the cache key of the result."""
    return cases(_result, model, idf)


@st.cache_data(max_entries=CASES_KEPT, show_spinner=False)
def furthest_pairs(run_id: str, cell: str, _result: Result) -> pd.DataFrame:
    """`cases.method_cases` of a `cell_key`; `run_id` is the cache key of the result."""
    keys = [cell_key(row) for row in _result.correlations.to_dict("records")]
    return method_cases(_result, keys.index(cell), MAX_CASES)


def single_pairs(view: PageAddress, run_id: str, result: Result, setting: Mapping[Any, Any]) -> None:
    """Draw single pairs of `setting`, a row of `Result.correlations`: which ones is chosen where it has a penalty."""
    kind = view.first_record(Cases()).cases
    if setting["kind"] == BERTSCORE:
        kind = st.segmented_control(
            tr("Pairs"),
            list(KINDS),
            format_func=lambda name: tr(KINDS[name]),
            required=True,
            default=kind,
            key=view.key("cases"),
            label_visibility="collapsed",
        )
    view.keep_record(Cases(kind), Cases())
    if setting["kind"] == BERTSCORE and kind == PENALTY:
        case_table(run_id, result, setting)
    else:
        furthest_table(run_id, result, setting)


def furthest_table(run_id: str, result: Result, setting: Mapping[Any, Any]) -> None:
    """Draw the pairs whose score under `setting` is furthest from the human score."""
    table = furthest_pairs(run_id, cell_key(setting), result)
    name = setting_name(setting)
    if table.empty:
        st.caption(verbatim(tr("{setting} has no correlation, so no pair can be compared.", setting=name)))
        return
    n_above = int((table["difference"] > 0).sum())
    st.markdown(
        verbatim(
            tr(
                "{setting}: of the {n:,} pairs furthest from the human score {above:,} are rated higher "
                "than by the humans, {below:,} lower.",
                setting=name,
                n=len(table),
                above=n_above,
                below=len(table) - n_above,
            )
        )
    )
    columns = {
        "difference": st.column_config.NumberColumn(
            tr("Difference"),
            format="%+.2f",
            width=90,
            help=tr("Score less human score, both as z-scores: above 0 the method rates higher than the humans."),
        ),
        **_pair_columns(),
        "score": st.column_config.NumberColumn(tr("Score"), format="%.3f", width=80),
        **_category_column(table),
    }
    st.dataframe(
        table,
        hide_index=True,
        column_order=list(columns),
        column_config=columns,
        height=list_height(len(table)),
        key=f"metric-furthest-{run_id}",
        placeholder="–",
        alt=tr("Pairs whose score is furthest from the human score, with both scores"),
    )


def _pair_columns() -> dict[str, Any]:
    return {
        "row": st.column_config.NumberColumn(tr("Row"), width=50),
        "reference": st.column_config.TextColumn(tr("Reference"), width="medium"),
        "candidate": st.column_config.TextColumn(tr("Candidate"), width="medium"),
        "human_score": st.column_config.NumberColumn(
            tr("Human score"),
            format="%.4g",
            width=90,
            help=tr("The annotators' mean, as in the file; where their scales differ, as z-score."),
        ),
    }


def _category_column(table: pd.DataFrame) -> dict[str, Any]:
    return {"category": st.column_config.TextColumn(tr("Category"))} if table["category"].ne("").any() else {}


def case_table(run_id: str, result: Result, setting: Mapping[Any, Any]) -> None:
    """Draw the paper's case table for the model and the dictionary of `setting`, one of BERTScore."""
    table = changed_pairs(run_id, setting["model"], setting["idf"], result)
    if table.empty:
        values = {"model": shown_name(setting["model"]), "idf": idf_name(setting["idf"])}
        st.caption(
            verbatim(
                tr("With {model} and idf {idf} the penalty changes no pair.", **values)
                if {"none", "reading"} <= _penalties(result, setting)
                else tr(
                    "With {model} and idf {idf} the study has only one of the two settings, with and without penalty.",
                    **values,
                )
            )
        )
        alternative = _setting_with_cases(run_id, result, setting)
        if alternative is None:
            return
        setting, table = alternative
    st.markdown(verbatim(change_summary(result, setting, table)))
    columns: dict[str, Any] = {
        "nearer": st.column_config.TextColumn(
            tr("Nearer"), width=116, help=tr("Which score is nearer to the human score.")
        ),
        **_pair_columns(),
        "base_score": st.column_config.NumberColumn(tr("Without penalty"), format="%.3f", width=100),
        "penalized_score": st.column_config.NumberColumn(tr("With penalty"), format="%.3f", width=90),
        **{
            name: st.column_config.NumberColumn(label, format="%.2f", width=110, help=text)
            for name, label, text in (
                (
                    "base_difference",
                    tr("Difference without penalty"),
                    tr("Between the score without penalty and the human score, both as z-scores."),
                ),
                (
                    "penalized_difference",
                    tr("Difference with penalty"),
                    tr("Between the score with penalty and the human score, both as z-scores."),
                ),
            )
        },
        "gain": st.column_config.NumberColumn(tr("Change in r"), format="%.5f", width=90, help=tr(GAIN_HELP)),
        **_category_column(table),
    }
    if len(table) > MAX_CASES:
        st.caption(tr("The {n:,} pairs with the largest changes; all of them are in cases.csv.", n=MAX_CASES))
    shown = table.head(MAX_CASES)
    st.dataframe(
        shown.assign(nearer=shown["nearer"].map(translated)),
        hide_index=True,
        column_order=list(columns),
        column_config=columns,
        height=list_height(len(shown)),
        key=f"metric-cases-{run_id}",
        placeholder="–",
        alt=tr("Pairs that the penalty changes, with both differences to the human scores"),
    )


def _penalties(result: Result, setting: Mapping[Any, Any]) -> set[str]:
    table = result.correlations
    return set(table.loc[(table["model"] == setting["model"]) & (table["idf"] == setting["idf"]), "penalty"])


def change_summary(result: Result, setting: Mapping[Any, Any], table: pd.DataFrame) -> str:
    """The numbers of pairs that the penalty moves nearer and farther, and the change in the correlation."""
    n_nearer = int((table["nearer"] == NEARER[0]).sum())
    gain = _r(result, setting, "reading") - _r(result, setting, "none")
    return tr_n(
        "With {model} and idf {idf} the penalty changes {changed:,} of {n} pair: {nearer:,} nearer to the "
        "human score, {farther:,} farther away. r changes by {gain}.",
        "With {model} and idf {idf} the penalty changes {changed:,} of {n:,} pairs: {nearer:,} nearer to the "
        "human score, {farther:,} farther away. r changes by {gain}.",
        setting["n"],
        model=shown_name(setting["model"]),
        idf=idf_name(setting["idf"]),
        changed=len(table),
        nearer=n_nearer,
        farther=len(table) - n_nearer,
        gain=f"{'+' if gain > 0 else ''}{number(gain)}",
    )


def _setting_with_cases(
    run_id: str, result: Result, setting: Mapping[Any, Any]
) -> tuple[dict[Any, Any], pd.DataFrame] | None:
    """The first setting whose penalty changes a pair, of the same model if there is one; None where there is none."""
    table = result.correlations
    penalised = table[table["penalty"] == "reading"].to_dict("records")
    for candidate in sorted(penalised, key=lambda row: row["model"] != setting["model"]):
        cases_of_candidate = changed_pairs(run_id, candidate["model"], candidate["idf"], result)
        if len(cases_of_candidate):
            return candidate, cases_of_candidate
    return None


def _r(result: Result, setting: Mapping[Any, Any], penalty: str) -> float:
    table = result.correlations
    chosen = table[
        (table["kind"] == BERTSCORE)
        & (table["model"] == setting["model"])
        & (table["idf"] == setting["idf"])
        & (table["penalty"] == penalty)
    ]
    return float(chosen["pearson"].iloc[0])
