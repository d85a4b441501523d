"""Where the penalty of a metric study helps and where it harms: the paper's case table for one setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.metric_study.words import number
from dashboard.shared.wording import verbatim
from engine.evaluations.metric_study.cases import NEARER, cases
from engine.evaluations.metric_study.records import BERTSCORE, Result

CASES_KEPT, CASES_HEIGHT = 32, 320
MOST_CASES = 1000  # as many as are sent to the browser
GAIN_HELP = "What the pair adds to Pearson's r through the penalty; those the penalty leaves alone shift a little, too."


@st.cache_data(max_entries=CASES_KEPT, show_spinner=False)
def moved_pairs(run_id: str, model: str, idf: str, _result: Result) -> pd.DataFrame:
    """`metric_cases.cases`; `run_id` stands for the result."""
    return cases(_result, model, idf)


def case_table(run_id: str, result: Result, line: Mapping[Any, Any]) -> None:
    """The paper's case table for the model and the dictionary of a setting."""
    if line["kind"] != BERTSCORE:
        st.caption("The penalty belongs to BERTScore: choose one of its settings.")
        return
    table = moved_pairs(run_id, line["model"], line["idf"], result)
    if table.empty:
        why = ("the penalty moves no pair" if {"none", "reading"} <= _penalties(result, line)
               else "the study has only one of the two settings, with and without penalty")
        st.caption(verbatim(f"With {line['model']} and idf {line['idf']} {why}."))
        other = _another(run_id, result, line)
        if other is None:
            return
        line, table = other
    st.markdown(verbatim(moved_sentence(result, line, table)))
    columns: dict[str, Any] = {
        "nearer": st.column_config.TextColumn("Nearer", width=116, help="Which score is nearer to the humans'."),
        "row": st.column_config.NumberColumn("Row", width=50),
        "reference": st.column_config.TextColumn("Reference", width="medium"),
        "candidate": st.column_config.TextColumn("Candidate", width="medium"),
        **{name: st.column_config.NumberColumn(label, format="%.2f", width=80, help=text) for name, label, text in (
            ("human", "Human", "The annotators' mean, as z-score."),
            ("base", "Base", "The score without penalty, as z-score."),
            ("base_difference", "Differs by", "How far the score without penalty lies from the humans'."),
            ("penalized", "Penalised", "The score with penalty, as z-score."),
            ("penalized_difference", "Differs by", "How far the score with penalty lies from the humans'."))},
        "gain": st.column_config.NumberColumn("Adds to r", format="%.5f", width=90, help=GAIN_HELP),
    }
    if table["category"].ne("").any():
        columns["category"] = st.column_config.TextColumn("Category")
    if len(table) > MOST_CASES:
        st.caption(f"The {MOST_CASES:,} that it moves most; all of them are in cases.csv.")
    st.dataframe(table.head(MOST_CASES), hide_index=True, column_order=list(columns), column_config=columns,
                 height=CASES_HEIGHT, key=f"metric-cases-{run_id}",
                 placeholder="–", alt="Pairs that the penalty moves, with both differences to the humans")


def _penalties(result: Result, line: Mapping[Any, Any]) -> set[str]:
    table = result.correlations
    return set(table.loc[(table["model"] == line["model"]) & (table["idf"] == line["idf"]), "penalty"])


def moved_sentence(result: Result, line: Mapping[Any, Any], table: pd.DataFrame) -> str:
    """How many pairs the penalty moves nearer and farther, and what that does to the correlation."""
    n_nearer = int((table["nearer"] == NEARER[0]).sum())
    gained = _r(result, line, "reading") - _r(result, line, "none")
    return (f"With {line['model']} and idf {line['idf']} the penalty moves {len(table):,} of {line['n']:,} pairs: "
            f"{n_nearer:,} nearer to the humans, {len(table) - n_nearer:,} farther away. r changes by "
            f"{'+' if gained > 0 else ''}{number(gained)}.")


def _another(run_id: str, result: Result, line: Mapping[Any, Any]) -> tuple[dict[Any, Any], pd.DataFrame] | None:
    """The first setting whose penalty moves a pair, of the same model if there is one; None where there is none."""
    table = result.correlations
    penalised = table[table["penalty"] == "reading"].to_dict("records")
    for other in sorted(penalised, key=lambda one: one["model"] != line["model"]):
        found = moved_pairs(run_id, other["model"], other["idf"], result)
        if len(found):
            return other, found
    return None


def _r(result: Result, line: Mapping[Any, Any], penalty: str) -> float:
    table = result.correlations
    chosen = table[(table["kind"] == BERTSCORE) & (table["model"] == line["model"]) & (table["idf"] == line["idf"])
                   & (table["penalty"] == penalty)]
    return float(chosen["pearson"].iloc[0])
