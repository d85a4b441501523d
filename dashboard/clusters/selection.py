"""The maps and the selection in them: the list of sentences, and the neighbours of one under every model."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.clusters.linked_maps import highlight, linked_maps, view_data
from dashboard.clusters.map_charts import has_map, maps_figure
from dashboard.clusters.neighbours import neighbours, overlap_sentence
from dashboard.shared.exports.figure_downloads import LazyFigures, html_download
from dashboard.shared.exports.run_exports import csv_download
from dashboard.shared.exports.signing import digest, signature_line
from dashboard.shared.theme import decimals
from dashboard.shared.wording import verbatim
from engine.evaluations.clusters.records import Result
from engine.language.quantities import count

VIEWS_KEPT = 4
LIST_HEIGHT, FEW = 290, 7
MAPS = "maps"
HINT = ("Click a point, or draw a box or a lasso (with Shift to add): the same sentences are highlighted in every map.")


@st.fragment
def map_section(run_id: str, result: Result) -> None:
    """Draw the maps and what a selection in them shows; a selection reruns only this part of the page."""
    if not any(has_map(result.points, model) for model in result.models["model"]):
        return
    rows = linked_maps(_data(run_id, result), key=f"clusters-maps-{run_id}")
    st.caption(f"{HINT} {verbatim(overlap_sentence(result.overlap))}" if len(result.overlap) == 1 else HINT)
    chosen = selected_sentences(result.points, rows)
    focus = None
    if len(chosen) > 1:
        focus = _list(chosen, run_id)
    elif len(chosen) == 1:
        focus = int(chosen["row"].iloc[0])
    highlight(run_id, focus, key=f"clusters-focus-{run_id}")
    if focus is not None:
        neighbours(result, focus)
    with st.container(horizontal=True, gap="small"):
        csv_download(coordinates(result.points), "coordinates", result.signature)
        html_download(MAPS, LazyFigures({MAPS: lambda: maps_figure(result)}), result.signature)


def selected_sentences(points: pd.DataFrame, rows: list[int]) -> pd.DataFrame:
    """Row, label and text of the sentences with these rows, each once, in the order of the rows."""
    sentences = points.loc[points["row"].isin(rows), ["row", "label", "text"]]
    return sentences.drop_duplicates("row").sort_values("row", ignore_index=True)


def coordinates(points: pd.DataFrame) -> pd.DataFrame:
    """Model, row, label, text and the coordinates of the maps: x, y, and z in three dimensions."""
    axes = [axis for axis in "xyz" if points[axis].notna().any()]
    return points[["model", "row", "label", "text", *axes]]


def _list(chosen: pd.DataFrame, run_id: str) -> int | None:
    """Draw the selected sentences as a table; returns the row of the one chosen in it, whose neighbours are shown."""
    counts = chosen["label"].value_counts()
    shares = ", ".join(f"{label} {n:,}" for label, n in counts.head(6).items())
    more = f" and {len(counts) - 6} more classes" if len(counts) > 6 else ""
    st.markdown(f"**{count(len(chosen), 'sentence')} selected** :gray[{verbatim(shares + more)}]")
    state = st.dataframe(
        chosen, hide_index=True, height=LIST_HEIGHT if len(chosen) > FEW else "auto", on_select="rerun",
        selection_mode="single-row",
        # Another selection is another table: the row chosen in the last one has no meaning in it.
        key=f"clusters-selected-{run_id}-{digest({'rows': chosen['row'].tolist()})}",
        placeholder="–", alt="The selected sentences; choose one to see its neighbours", column_config={
            "row": st.column_config.NumberColumn("Row", width="small"),
            "label": st.column_config.TextColumn("Class", width="small"),
            "text": st.column_config.TextColumn("Sentence", width="large"),
        })
    index = next(iter(state.selection.rows), None)
    return None if index is None else int(chosen["row"].iloc[index])


@st.cache_resource(max_entries=VIEWS_KEPT, show_spinner=False)
def _data(run_id: str, _result: Result) -> dict[str, Any]:
    """The data of the maps of a run, shared by all sessions and never changed."""
    scored = _result.models.dropna(subset=["score"]).set_index("model")["score"]
    digits = decimals(scored.tolist())
    signature = _result.signature
    return view_data(
        _result, run_id, {str(model): f"M_m {score:,.{digits}f}" for model, score in scored.items()},
        {"name": f"maps-{digest(signature)}",
         "signature": f"{signature_line(signature)} · signature {digest(signature)}"})
