"""The grid of a metric study: heat map and table, and which setting the reader chose in either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.metric_study.grid_charts import grid_figure
from dashboard.metric_study.published import published_grid
from dashboard.metric_study.words import (
    INTERVALS,
    MEASURES,
    PENALTY_WORDS,
    SAME_MARK,
    cell_key,
    interval,
    is_marked,
    method_name,
    p_value,
)
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.wording import measure_help
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.scoring import dictionary_name
from engine.evaluations.metric_study.grid import best_place
from engine.evaluations.metric_study.records import BERTSCORE, Result


def choose_setting(run_id: str, result: Result) -> dict[Any, Any] | None:
    """Draws heat map and table and returns the line of `Result.correlations` that is looked at; at first the best.

    None where no setting has a correlation and nothing was chosen.
    """
    table = result.correlations
    lines = {cell_key(line): line for line in table.to_dict("records")}
    order = table.sort_values("pearson", ascending=False, kind="stable", na_position="last").index
    chosen = _chosen(run_id, table.loc[order], best_place(table))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        measure = st.segmented_control("Correlation", list(MEASURES), format_func=MEASURES.__getitem__, required=True,
                                       default="pearson", key=f"metric-measure-{run_id}")
        beside = st.toggle("The paper's published grid beside", False, key=f"metric-published-{run_id}",
                           help="Other sentences, annotators and models: to compare patterns, not numbers.")
    grid = table[table["kind"] == BERTSCORE]
    slots = st.columns([2, 2] if beside else [2, 3], gap="medium")
    with slots[0]:
        st.plotly_chart(grid_figure(grid, measure, chosen or ""), key=_key("grid", run_id), on_select="rerun",
                        selection_mode="points", config=camera("grid", result.signature),
                        alt=f"{MEASURES[measure]} correlation of each setting with the humans")
        st.caption(f"Correlation with the humans, below it the 95 % interval. **{SAME_MARK}** the best and those that "
                   "cannot be told from it (Williams' test on Pearson, p ≥ 0.05). Click a cell to see its pairs.")
    if beside:
        with slots[1]:
            published_grid()
    with slots[1] if not beside else st.container():
        _table(run_id, table.loc[order], measure)
    return lines.get(chosen) if chosen else None


def _table(run_id: str, table: pd.DataFrame, measure: str) -> None:
    shown = pd.DataFrame([_words(line) for line in table.to_dict("records")])
    columns: dict[str, Any] = {"mark": st.column_config.TextColumn("", width=28, help="The best, or not told from it.")}
    columns |= {"setting": st.column_config.TextColumn("Model or method", width=150),
                "idf": st.column_config.TextColumn("idf", width=72),
                "penalty": st.column_config.TextColumn("Penalty", width=68)}
    for name in [measure, *(name for name in MEASURES if name != measure)]:
        columns[name] = st.column_config.NumberColumn(MEASURES[name], format="%.3f", width=68, help=measure_help(name))
        columns[f"{name} interval"] = st.column_config.TextColumn("95 %", width=116)
    columns["p"] = st.column_config.TextColumn("p", width=70, help=measure_help("williams"))
    columns["n"] = st.column_config.NumberColumn("Pairs", width=60)
    columns["reason"] = st.column_config.TextColumn("What cannot be known", width="medium")
    if not shown["reason"].any():
        del columns["reason"]
    st.dataframe(shown, hide_index=True, column_config=columns, column_order=list(columns), on_select="rerun",
                 selection_mode="single-row", key=_key("table", run_id),
                 placeholder="–", alt="Every setting and method with its correlations; choose one to see its pairs")


def _words(line: Mapping[Any, Any]) -> dict[str, Any]:
    ours = line["kind"] == BERTSCORE
    return {
        "mark": SAME_MARK if is_marked(line) else "", "setting": method_name(line["kind"], line["model"]),
        "idf": dictionary_name(Scoring(line["idf"])) if ours else "–",
        "penalty": PENALTY_WORDS[line["penalty"]].removesuffix(" penalty") if ours else "–",
        **{name: line[name] for name in MEASURES}, "n": line["n"], "reason": line["reason"],
        **{f"{name} interval": interval(*(line[end] for end in INTERVALS[name])) for name in MEASURES},
        "p": "best" if line["best"] else p_value(line["williams_p"]),
    }


def _chosen(run_id: str, shown: pd.DataFrame, best: int | None) -> str | None:
    """The `cell_key` that was picked last, in the heat map or in the table, of which `shown` are the lines in order.

    A click on the heat map is taken over once, and map and table begin anew: a chart that is drawn with another cell
    marked may tell an earlier click again.
    """
    cell = _from_figure(st.session_state.get(_key("grid", run_id)))
    picked = cell or _from_table(st.session_state.get(_key("table", run_id)), shown)
    if picked is not None:
        st.session_state[f"metric-chosen-{run_id}"] = picked
    if cell is not None:
        st.session_state[_turn(run_id)] = st.session_state.get(_turn(run_id), 0) + 1
    default = cell_key(shown.loc[best].to_dict()) if best is not None else None
    return st.session_state.get(f"metric-chosen-{run_id}", default)


def _key(part: str, run_id: str) -> str:
    return f"metric-{part}-{run_id}-{st.session_state.get(_turn(run_id), 0)}"


def _turn(run_id: str) -> str:
    return f"metric-turn-{run_id}"


def _from_figure(state: Any) -> str | None:
    points = state["selection"]["points"] if state else []
    return str(points[0]["customdata"][0]) if points else None


def _from_table(state: Any, shown: pd.DataFrame) -> str | None:
    rows = state["selection"]["rows"] if state else []
    return cell_key(shown.iloc[rows[0]].to_dict()) if rows and rows[0] < len(shown) else None
