"""The grid of a metric study: heat map and table, and the setting chosen in either."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.metric_study.grid_charts import grid_figure
from dashboard.metric_study.labels import (
    BETTER_MARK,
    INTERVALS,
    MEASURES,
    PENALTY_NAMES,
    SAME_MARK,
    ceiling,
    cell_key,
    idf_name,
    interval,
    is_better,
    mark_of,
    method_name,
    p_value,
)
from dashboard.metric_study.paper_tables import printed_grid
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.theme import measure_name, short_names
from dashboard.shared.wording import measure_help, verbatim
from engine.evaluations.metric_study.finding import above_ceiling
from engine.evaluations.metric_study.grid import best_place
from engine.evaluations.metric_study.records import BERTSCORE, VECTORS, Result
from engine.messages.languages import mark, sentences, tr, translated
from engine.messages.message import Message
from engine.options import option


@dataclass(frozen=True)
class Chosen:
    """The chosen row of `Result.correlations`, as written in the page's URL; the best where it says nothing."""

    kind: str = option("", "Kind of the method: BERTScore, a measure of the surface, sentence vectors.")  # untranslated
    model: str = option("", "The model, or the measure of the surface.")  # untranslated
    idf: str = option("", "The idf dictionary of the setting.")  # untranslated
    penalty: str = option("", "The penalty of the setting.")  # untranslated


@dataclass(frozen=True)
class GridChoices:
    """What the grid shows, as written in the page's URL."""

    correlation: str = option("pearson", "The coefficient that the grid shows.", choices=MEASURES)  # untranslated
    published: bool = option(False, "Whether the paper's published grid stands beside.")  # untranslated


def choose_setting(view: PageAddress, result: Result) -> tuple[dict[Any, Any] | None, dict[str, go.Figure]]:
    """Draws heat map and table; returns the chosen row of `Result.correlations`, by default the best, and the figures.

    The row is None where no setting has a correlation and nothing was chosen; the address names it. Figures are by
    caption.
    """
    place, first = view.place, view.first_record(GridChoices())
    table = result.correlations
    settings = {cell_key(row): row for row in table.to_dict("records")}
    order = table.sort_values("pearson", ascending=False, kind="stable", na_position="last").index
    chosen = _chosen(view, result, table.loc[order])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        measure = st.segmented_control(
            tr("Correlation"),
            list(MEASURES),
            format_func=MEASURES.__getitem__,
            required=True,
            default=first.correlation,
            key=view.key("measure"),
        )
        with_published = st.toggle(
            tr("Show the published correlations"),
            first.published,
            key=view.key("published"),
            help=tr("Other sentences, annotators and models: compare patterns, not values."),
        )
    view.keep_record(GridChoices(measure, with_published), GridChoices())
    slots = st.columns([2, 2] if with_published else [2, 3], gap="medium")
    with slots[0]:
        caption = Message("{measure} correlation of each setting with the human scores", measure=MEASURES[measure])
        figures: dict[str, go.Figure] = {caption: grid_figure(table, measure, chosen or "", ceiling=ceiling(result))}
        draw_figure(
            figures[caption],
            key=_key("grid", place),
            on_select="rerun",
            selection_mode="points",
            config=camera("grid", result.signature),
            alt=translated(caption),
        )
        reading = tr(
            "Correlation with the human scores and its 95% interval. **{mark}** best or not significantly "
            "different from the best (Williams' test on Pearson, p ≥ 0.05). Click a cell to see its pairs.",
            mark=SAME_MARK,
        )
        better = tr("**{mark}** significantly better than the best setting of BERTScore.", mark=BETTER_MARK)
        st.caption(sentences(reading, better if any(map(is_better, settings.values())) else ""))
        if measure != "pearson":  # of which the finding says it
            for note in above_ceiling(result, str(measure)):
                st.caption(verbatim(translated(note)))
    if with_published:
        with slots[1]:
            figures |= printed_grid()
    with slots[1] if not with_published else st.container():
        _table(place, table.loc[order], measure, ceiling(result))
    return settings.get(chosen) if chosen else None, figures


def _table(place: str, table: pd.DataFrame, measure: str, human: Mapping[Any, Any] | None) -> None:
    # The ceiling stands last, after the rows that can be chosen.
    names = short_names(table.loc[table["kind"].isin((BERTSCORE, VECTORS)), "model"])
    shown = pd.DataFrame(
        [*(_table_row(row, names) for row in table.to_dict("records")), *([_ceiling_row(human)] if human else [])]
    )
    columns: dict[str, Any] = {
        "mark": st.column_config.TextColumn(
            "",
            width=28,
            help=tr(
                "{mark} best, or not significantly different from the best; {better} significantly better.",
                mark=SAME_MARK,
                better=BETTER_MARK,
            ),
        )
    }
    columns |= {
        "setting": st.column_config.TextColumn(tr("Model or method")),
        "idf": st.column_config.TextColumn("idf", width=72),  # untranslated
        "penalty": st.column_config.TextColumn(tr("Penalty"), width=110),
    }
    for name in [measure, *(name for name in MEASURES if name != measure)]:
        columns[name] = st.column_config.NumberColumn(MEASURES[name], format="%.3f", width=68, help=measure_help(name))
        columns[f"{name} interval"] = st.column_config.TextColumn(tr("95% interval"), width=116)
    columns["p"] = st.column_config.TextColumn("p", width=70, help=measure_help("williams"))
    columns["p holm"] = st.column_config.TextColumn(
        tr("p, Holm"),
        width=70,
        help=tr("Corrected by Holm over every two settings and methods: valid although the best was chosen."),
    )
    columns["n"] = st.column_config.NumberColumn(tr("Pairs"), width=60)
    columns["reason"] = st.column_config.TextColumn(tr("Reason undefined"), width="medium")
    if not shown["reason"].any():
        del columns["reason"]
    st.dataframe(
        shown,
        hide_index=True,
        column_config=columns,
        column_order=list(columns),
        on_select="rerun",
        selection_mode="single-row",
        key=_key("table", place),
        placeholder="–",
        alt=tr("Every setting and method with its correlations; choose one to see its pairs"),
    )


def _table_row(row: Mapping[Any, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """names: what figures call the models, whose ends a cell would cut."""
    is_bertscore = row["kind"] == BERTSCORE
    name = names[row["model"]] if is_bertscore or row["kind"] == VECTORS else method_name(row["kind"], row["model"])
    return {
        "mark": mark_of(row),
        "setting": f"{name}, {tr('cosine')}" if row["kind"] == VECTORS else name,
        "idf": idf_name(row["idf"]) if is_bertscore else "–",
        "penalty": tr(PENALTY_NAMES[row["penalty"]]) if is_bertscore else "–",
        **{name: row[name] for name in MEASURES},
        "n": row["n"],
        "reason": translated(row["reason"]),
        **{f"{name} interval": interval(*(row[end] for end in INTERVALS[name])) for name in MEASURES},
        "p": tr("best") if row["best"] else p_value(row["williams_p"]),
        "p holm": p_value(row["williams_holm_p"]),
    }


def _ceiling_row(human: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        "mark": "",
        "setting": measure_name("human_ceiling"),
        "idf": "–",
        "penalty": "–",
        **{name: human[name] for name in MEASURES},
        "n": human["n"],
        "reason": "",
        "p": "",
        "p holm": "",
        **{f"{name} interval": "" for name in MEASURES},
    }


def _chosen(view: PageAddress, result: Result, shown: pd.DataFrame) -> str | None:
    """The `cell_key` that was chosen last, in the heat map or in the table, whose rows in order are `shown`.

    At first it is that of the address, by default that of the best setting. A click on the heat map is copied to the
    session once, and heat map and table get new keys: a chart that is redrawn with another cell outlined may report an
    earlier click again.
    """
    place, best = view.place, best_place(result.correlations)
    own = _as_chosen(shown.loc[best].to_dict()) if best is not None else Chosen()
    first = view.first_record(own, offered={name: set(shown[name]) for name in ("kind", "model", "idf", "penalty")})
    rows_by_cell = {cell_key(row): row for row in shown.to_dict("records")}
    if first != own and cell_key(vars(first)) not in rows_by_cell:
        named = next(name for name, value in vars(first).items() if value != getattr(own, name))
        view.ignore(named, mark("with the rest of the link is no setting of this study"))
        first = own
    cell = _from_figure(st.session_state.get(_key("grid", place)))
    selected = cell or _from_table(st.session_state.get(_key("table", place)), shown)
    if selected is not None:
        st.session_state[f"metric-chosen-{place}"] = selected
    if cell is not None:
        st.session_state[_generation(place)] = st.session_state.get(_generation(place), 0) + 1
    default = cell_key(vars(first)) if first != Chosen() else None
    chosen: str | None = st.session_state.get(f"metric-chosen-{place}", default)
    view.keep_record(_as_chosen(rows_by_cell[chosen]) if chosen in rows_by_cell else own, own)
    return chosen


def _as_chosen(row: Mapping[Any, Any]) -> Chosen:
    return Chosen(*(str(row[name]) for name in ("kind", "model", "idf", "penalty")))


def _key(part: str, place: str) -> str:
    return f"metric-{part}-{place}-{st.session_state.get(_generation(place), 0)}"


def _generation(place: str) -> str:
    return f"metric-turn-{place}"


def _from_figure(state: Any) -> str | None:
    points = state["selection"]["points"] if state else []
    return str(points[0]["customdata"][0]) if points else None


def _from_table(state: Any, shown: pd.DataFrame) -> str | None:
    rows = state["selection"]["rows"] if state else []
    return cell_key(shown.iloc[rows[0]].to_dict()) if rows and rows[0] < len(shown) else None
