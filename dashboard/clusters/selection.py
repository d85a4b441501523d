"""The maps and the selection in them: the list of sentences, and the neighbours of one under every model."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.clusters.linked_maps import highlight, linked_maps, map_words, view_data
from dashboard.clusters.map_charts import class_order, has_map, maps_figure
from dashboard.clusters.neighbours import neighbours, overlap_sentence
from dashboard.shared.address.view import View
from dashboard.shared.exports.figure_downloads import LazyFigures, html_download
from dashboard.shared.exports.run_exports import csv_download
from dashboard.shared.exports.signing import digest, signature_line
from dashboard.shared.theme import decimals
from dashboard.shared.wording import verbatim
from engine.evaluations.clusters.records import Result
from engine.options import option
from engine.translation import mark, tr, tr_n

VIEWS_KEPT = 4
SELECTED_MOST = 100  # sentences in an address
LIST_HEIGHT, FEW = 290, 7
MAPS = "maps"
HINT = mark("Click a point, or draw a box or a lasso (with Shift to add): the same sentences are highlighted in every "
            "map.")


@dataclass(frozen=True)
class Mapped:
    """What is selected and hidden in the maps, as the address of the page has it.

    A selection of more than SELECTED_MOST sentences would be no address any more.
    """

    selected: tuple[int, ...] = option((), "Rows of the selected sentences.")  # untranslated
    row: int | None = option(
        None, "Row of the one among them whose neighbours are shown.", unset="none")  # untranslated
    hidden: tuple[str, ...] = option((), "Classes that the maps do not show.")  # untranslated
    centroids: bool = option(True, "Whether the maps show the mean point of each class.")  # untranslated


@st.fragment
def map_section(run_id: str, result: Result, view: View) -> None:
    """Draw the maps and what a selection in them shows; a selection reruns only this part of the page."""
    if not any(has_map(result.points, model) for model in result.models["model"]):
        return
    all_rows = set(result.points["row"].tolist())
    first = view.first_record(Mapped(), offered={"selected": all_rows, "row": all_rows,
                                                 "hidden": set(class_order(result.points))})
    rows, hidden, centroids = linked_maps(_shown(run_id, result), (first.selected, first.hidden, first.centroids),
                                          key=f"clusters-maps-{view.place}")
    overlap = [verbatim(overlap_sentence(result.overlap))] if (
        len(result.overlap) == 1 and result.overlap["mean_overlap"].notna().all()) else []
    st.caption(" ".join([tr(HINT), *overlap]))
    chosen = selected_sentences(result.points, rows)
    focus = None
    if len(chosen) > 1:
        focus = _list(chosen, view.place, first.row if tuple(rows) == first.selected else None)
    elif len(chosen) == 1:
        focus = int(chosen["row"].iloc[0])
    highlight(run_id, focus, key=f"clusters-focus-{run_id}", opened=view.place, hidden=first.hidden,
              selected=first.selected, centroids=first.centroids)
    if focus is not None:
        neighbours(result, focus)
    with st.container(horizontal=True, gap="small"):
        csv_download(coordinates(result.points), "coordinates", result.signature)
        html_download(MAPS, LazyFigures({MAPS: lambda: maps_figure(result)}), result.signature)
    is_short = len(rows) <= SELECTED_MOST
    if not is_short:
        st.caption(tr("The link to this view has no selection of more than {n} sentences.", n=SELECTED_MOST))
    view.keep_record(Mapped(tuple(rows) if is_short else (), focus if is_short and len(rows) > 1 else None, hidden,
                            centroids), Mapped())
    view.write_in_fragment()


def selected_sentences(points: pd.DataFrame, rows: Collection[int]) -> pd.DataFrame:
    """Row, label and text of the sentences with these rows, each once, in the order of the rows."""
    sentences = points.loc[points["row"].isin(rows), ["row", "label", "text"]]
    return sentences.drop_duplicates("row").sort_values("row", ignore_index=True)


def coordinates(points: pd.DataFrame) -> pd.DataFrame:
    """Model, row, label, text and the coordinates of the maps: x, y, and z in three dimensions."""
    axes = [axis for axis in "xyz" if points[axis].notna().any()]
    return points[["model", "row", "label", "text", *axes]]


def _list(chosen: pd.DataFrame, place: str, row: int | None) -> int | None:
    """Draw the selected sentences as a table; returns the row of the one chosen in it, whose neighbours are shown.

    At first that is `row`, where it is among them.
    """
    at_first = [index for index, listed in enumerate(chosen["row"].tolist()) if listed == row]
    counts = chosen["label"].value_counts()
    shares = ", ".join(f"{label} {n:,}" for label, n in counts.head(6).items())
    if len(counts) > 6:
        shares = tr("{classes} and {n:,} more classes", classes=shares, n=len(counts) - 6)
    title = tr_n("{n} sentence selected", "{n:,} sentences selected", len(chosen))
    st.markdown(f"**{title}** :gray[{verbatim(shares)}]")  # untranslated
    state = st.dataframe(
        chosen, hide_index=True, height=LIST_HEIGHT if len(chosen) > FEW else "auto", on_select="rerun",
        selection_mode="single-row", selection_default={"selection": {"rows": at_first}},
        # Another selection is another table: the row chosen in the last one has no meaning in it.
        key=f"clusters-selected-{place}-{digest({'rows': chosen['row'].tolist()})}",
        placeholder="–", alt=tr("The selected sentences; choose one to see its neighbours"), column_config={
            "row": st.column_config.NumberColumn(tr("Row"), width="small"),
            "label": st.column_config.TextColumn(tr("Class"), width="small"),
            "text": st.column_config.TextColumn(tr("Sentence"), width="large"),
        })
    index = next(iter(state.selection.rows), None)
    return None if index is None else int(chosen["row"].iloc[index])


def _shown(run_id: str, result: Result) -> dict[str, Any]:
    """The data of the maps of a run, with the texts in the reader's language."""
    signature = result.signature
    line = tr("{settings} · signature {digest}", settings=signature_line(signature), digest=digest(signature))
    data = _data(run_id, result)
    return data | {"words": map_words(), "picture": data["picture"] | {"signature": line}}


@st.cache_resource(max_entries=VIEWS_KEPT, show_spinner=False)
def _data(run_id: str, _result: Result) -> dict[str, Any]:
    """The data of the maps of a run without texts of the page, shared by all sessions and never changed."""
    scored = _result.models.dropna(subset=["score"]).set_index("model")["score"]
    digits = decimals(scored.tolist())
    return view_data(_result, run_id, {str(model): f"M_m {score:,.{digits}f}" for model, score in scored.items()},
                     {"name": f"maps-{digest(_result.signature)}"})
