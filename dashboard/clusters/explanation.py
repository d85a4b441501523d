"""Explanation of a score: the classes, the distances between them, and the sentences that worsen it most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.clusters.explanation_charts import centroid_map, class_bars, farthest, misplaced
from dashboard.clusters.linked_maps import highlight
from dashboard.clusters.map_charts import class_order
from dashboard.shared.address.view import View
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.theme import decimals
from dashboard.shared.wording import model_name
from engine.evaluations.clusters.records import Result
from engine.language.quantities import count
from engine.models.sources.names import shown_name
from engine.options import option

LISTS = {"misplaced": "Nearer to another class", "farthest": "Farthest from their own class"}
LIST_HEIGHT, FEW = 290, 7
FIGURES = {"classes": "Variance of each class", "centroids": "Distances between the classes"}
HINT = "Choose one to highlight it in the maps."


@dataclass(frozen=True)
class Explained:
    """The choices of the section, as the address of the page has them."""

    model: str = option("", "The model whose scores are explained; the best where none is named.")
    sentences: str = option("misplaced", "Which sentences are listed.", choices=LISTS)


@st.fragment
def explanation_section(run_id: str, result: Result, view: View) -> None:
    """Draw the classes of one model and its misplaced sentences; a chosen one is highlighted in the maps."""
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")["model"].tolist()
    own = Explained(model=ranked[0])
    first = view.first_record(own, offered={"model": ranked})
    model = first.model
    if len(ranked) > 1:
        model = st.pills("Model", ranked, default=model, required=True, key=view.key("why-model"),
                         format_func=model_name)
    with st.grid(2, min_column_width=340):
        for name in FIGURES:
            st.plotly_chart(_figure(result, name, model), key=f"clusters-why-{name}",
                            config=camera(name, result.signature), alt=f"{FIGURES[name]} under {shown_name(model)}")
    which = st.segmented_control("Sentences", list(LISTS), format_func=LISTS.__getitem__, default=first.sentences,
                                 required=True, key=view.key("why-list"), label_visibility="collapsed")
    points = _of(result.points, model)
    shown = misplaced(points) if which == "misplaced" else farthest(points)
    st.caption(_list_caption(which, shown, points))
    highlight(run_id, _chosen(shown, which, f"{run_id}-{model}"), key=f"clusters-why-focus-{run_id}")
    view.keep_record(Explained(model, which), own)
    view.write_in_fragment()


def explanation_figures(result: Result) -> dict[str, Callable[[], go.Figure]]:
    """What draws the figures of the section under every model, by their captions."""
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")["model"].tolist()
    return {f"{caption}, {shown_name(model)}": partial(_figure, result, name, model)
            for model in ranked for name, caption in FIGURES.items()}


def _figure(result: Result, name: str, model: str) -> go.Figure:
    if name == "classes":
        return class_bars(_of(result.classes, model))
    return centroid_map(_of(result.centroid_distances, model), class_order(result.points))


def _list_caption(which: str, shown: pd.DataFrame, points: pd.DataFrame) -> str:
    if which == "farthest":
        return f"The {count(len(shown), 'sentence')} farthest from the centroid of their class. {HINT}"
    return (f"{len(shown):,} of {count(len(points), 'sentence')} are nearer to the centroid of another class than to "
            f"that of their own. The smaller the ratio of the two distances, the clearer. {HINT}")


def _chosen(shown: pd.DataFrame, which: str, key: str) -> int | None:
    """Draw the list; returns the row of the sentence chosen in it."""
    if shown.empty:
        return None
    columns = {
        "label": st.column_config.TextColumn("Class", width="small"),
        "text": st.column_config.TextColumn("Sentence", width="large"),
        "own_distance": st.column_config.NumberColumn("Distance", help="To the centroid of its own class.",
                                                      format=f"%.{decimals(shown['own_distance'])}f"),
    }
    if which == "misplaced":
        columns["nearest_class"] = st.column_config.TextColumn("Nearest class", width="small")
        columns["ratio"] = st.column_config.NumberColumn("Ratio", format="%.2f",
                                                         help="Distance to the nearer centroid / distance to its own.")
        columns.pop("own_distance")
    columns["row"] = st.column_config.NumberColumn("Row", width="small")
    state = st.dataframe(
        shown, hide_index=True, height=LIST_HEIGHT if len(shown) > FEW else "auto", on_select="rerun",
        selection_mode="single-row", key=f"clusters-why-{which}-{key}", column_config=columns,
        column_order=list(columns), placeholder="–", alt="Misplaced sentences; choose one to highlight it in the maps")
    index = next(iter(state.selection.rows), None)
    return None if index is None else int(shown["row"].iloc[index])


def _of(table: pd.DataFrame, model: str) -> pd.DataFrame:
    return table[table["model"] == model]
