"""Explanation of a score: the classes, the distances between them, and the sentences that worsen it most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.clusters.coloring import class_order
from dashboard.clusters.explanation_charts import centroid_map, class_bars, farthest, misplaced
from dashboard.clusters.linked_maps import highlight
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.wording import model_name
from engine.evaluations.clusters.records import Result
from engine.language.quantities import decimals
from engine.messages.languages import mark, tr, tr_n, translated
from engine.messages.message import Message, list_of
from engine.models.sources.names import shown_name
from engine.options import option

LISTS = {"misplaced": mark("Nearer to another class"), "farthest": mark("Farthest from their own class")}
LIST_HEIGHT, FEW = 290, 7
FIGURES = {"classes": mark("Variance of each class"), "centroids": mark("Distances between the classes")}


@dataclass(frozen=True)
class Explained:
    """The choices of the section, as written in the page's URL."""

    model: str = option("", "The model whose scores are explained; the best where none is named.")  # untranslated
    sentences: str = option("misplaced", "Which sentences are listed.", choices=LISTS)  # untranslated


@st.fragment
def explanation_section(run_id: str, result: Result, view: PageAddress) -> None:
    """Draw the classes of one model and its misplaced sentences; a chosen one is highlighted in the maps."""
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")["model"].tolist()
    own = Explained(model=ranked[0])
    first = view.first_record(own, offered={"model": ranked})
    model = first.model
    if len(ranked) > 1:
        model = st.pills(
            tr("Model"), ranked, default=model, required=True, key=view.key("why-model"), format_func=model_name
        )
    with st.grid(2, min_column_width=340):
        for name in FIGURES:
            draw_figure(
                _figure(result, name, model),
                key=f"clusters-why-{name}",
                config=camera(name, result.signature),
                alt=translated(_caption(name, model)),
            )
    which = st.segmented_control(
        tr("Sentences"),
        list(LISTS),
        format_func=lambda name: tr(LISTS[name]),
        default=first.sentences,
        required=True,
        key=view.key("why-list"),
        label_visibility="collapsed",
    )
    points = _of(result.points, model)
    shown = misplaced(points) if which == "misplaced" else farthest(points)
    st.caption(_list_caption(which, shown, points))
    highlight(run_id, _chosen(shown, which, f"{run_id}-{model}"), key=f"clusters-why-focus-{run_id}")
    view.keep_record(Explained(model, which), own)
    view.write_in_fragment()


def explanation_figures(result: Result) -> dict[str, Callable[[], go.Figure]]:
    """What draws the figures of the section under every model, by their captions."""
    ranked = result.models.sort_values("rank", na_position="last", kind="stable")["model"].tolist()
    return {_caption(name, model): partial(_figure, result, name, model) for model in ranked for name in FIGURES}


def _caption(name: str, model: str) -> Message:
    return list_of((FIGURES[name], shown_name(model)))


def _figure(result: Result, name: str, model: str) -> go.Figure:
    if name == "classes":
        return class_bars(_of(result.classes, model))
    return centroid_map(_of(result.centroid_distances, model), class_order(result.points))


def _list_caption(which: str, shown: pd.DataFrame, points: pd.DataFrame) -> str:
    if which == "farthest":
        return tr_n(
            "The {n} sentence farthest from the centroid of its class. Choose it to highlight it in the maps.",
            "The {n:,} sentences farthest from the centroid of their class. Choose one to highlight it in the maps.",
            len(shown),
        )
    return tr(
        "{n:,} of {total:,} sentences are nearer to the centroid of another class than to that of their own. The "
        "smaller the ratio of the two distances, the clearer. Choose one to highlight it in the maps.",
        n=len(shown),
        total=len(points),
    )


def _chosen(shown: pd.DataFrame, which: str, key: str) -> int | None:
    """Draw the list; returns the row of the sentence chosen in it."""
    if shown.empty:
        return None
    columns = {
        "label": st.column_config.TextColumn(tr("Class"), width="small"),
        "text": st.column_config.TextColumn(tr("Sentence"), width="large"),
        "own_distance": st.column_config.NumberColumn(
            tr("Distance"), help=tr("To the centroid of its own class."), format=f"%.{decimals(shown['own_distance'])}f"
        ),
    }
    if which == "misplaced":
        columns["nearest_class"] = st.column_config.TextColumn(tr("Nearest class"), width="small")
        columns["ratio"] = st.column_config.NumberColumn(
            tr("Ratio"), format="%.2f", help=tr("Distance to the nearer centroid / distance to its own.")
        )
        columns.pop("own_distance")
    columns["row"] = st.column_config.NumberColumn(tr("Row"), width="small")
    state = st.dataframe(
        shown,
        hide_index=True,
        height=LIST_HEIGHT if len(shown) > FEW else "auto",
        on_select="rerun",
        selection_mode="single-row",
        key=f"clusters-why-{which}-{key}",
        column_config=columns,
        column_order=list(columns),
        placeholder="–",
        alt=tr("{sentences}; choose one to highlight it in the maps", sentences=tr(LISTS[which])),
    )
    index = next(iter(state.selection.rows), None)
    return None if index is None else int(shown["row"].iloc[index])


def _of(table: pd.DataFrame, model: str) -> pd.DataFrame:
    return table[table["model"] == model]
