"""The maps and the selection in them: the list of sentences, and the neighbours of one under every model."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, cast

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.clusters.coloring import Coloring
from dashboard.clusters.linked_maps import highlight, linked_maps, map_words, near_rows, view_data
from dashboard.clusters.map_charts import Look, has_map, maps_figure
from dashboard.clusters.map_controls import (
    COLOUR,
    Mapped,
    coloring_of,
    colour_choice,
    columns_of,
    rows_with,
    search_box,
)
from dashboard.clusters.neighbours import neighbours, overlap_sentence
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.figure_downloads import LazyFigures, html_download
from dashboard.shared.exports.run_exports import csv_download
from dashboard.shared.exports.signing import digest, signature_line
from dashboard.shared.wording import verbatim
from engine.evaluations.clusters.records import SIGNED_FITTED, Result
from engine.language.quantities import decimals
from engine.messages.languages import language, mark, sentences, tr, tr_n, translated
from engine.messages.message import Message, list_of
from engine.models.sources.names import shown_name

VIEWS_KEPT = 6
SELECTED_MOST = 100  # sentences in an address
LIST_HEIGHT, FEW = 290, 7
CAPTION = mark("Maps of the sentences")
HINT = mark(
    "Click a point, or draw a box or a lasso (with Shift to add): the same sentences are highlighted in every map."
)


class ShownMaps:
    """How the maps of a run are set at present; the downloads of the page read it when they are requested."""

    def __init__(self) -> None:
        self.look = Look()


def shown_maps(run_id: str) -> ShownMaps:
    """That of a run in this session."""
    return cast(ShownMaps, st.session_state.setdefault(f"look-of-maps-{run_id}", ShownMaps()))


@st.fragment
def map_section(run_id: str, result: Result, view: PageAddress) -> None:
    """Draw the maps and what a selection in them shows; a selection reruns only this part of the page."""
    mapped = {model for model in result.models["model"] if has_map(result.points, model)}
    if not mapped:
        return
    columns = columns_of(run_id)
    with st.container(horizontal=True, gap="small"):
        searched = search_box(view)
        colour = colour_choice(columns, view)
    coloring = coloring_of(result, columns, colour)
    all_rows = set(result.points["row"].tolist())
    at_first = coloring_of(result, columns, view.first(COLOUR, None, offered=columns))
    first = view.first_record(
        Mapped(),
        offered={
            "selected": all_rows,
            "row": all_rows,
            "hidden": set(at_first.groups),
            "colour": columns,
            "alone": mapped,
        },
    )
    rows, hidden, centroids, alone = linked_maps(
        _shown(run_id, result, coloring),
        (first.selected, first.hidden, first.centroids, first.alone),
        key=f"clusters-maps-{view.place}",
    )
    hidden = tuple(name for name in hidden if name in coloring.groups)
    shown_maps(run_id).look = Look(coloring, hidden, centroids, alone)
    overlap = (
        [verbatim(overlap_sentence(result.overlap))]
        if (len(result.overlap) == 1 and result.overlap["mean_overlap"].notna().all())
        else []
    )
    st.caption(sentences(tr(HINT), *overlap))
    found = _found(result, searched, rows, view.place)
    rows = rows if found is None else found
    chosen = selected_sentences(result.points, rows)
    focus = None
    if len(chosen) > 1:
        focus = _list(chosen, view.place, first.row if tuple(rows) == first.selected else None)
    elif len(chosen) == 1:
        focus = int(chosen["row"].iloc[0])
    highlight(
        run_id,
        focus,
        key=f"clusters-focus-{run_id}",
        opened=view.place,
        hidden=first.hidden,
        selected=first.selected,
        centroids=first.centroids,
        alone=first.alone,
        near=near_rows(result, focus),
        found={"text": searched, "rows": list(found or ())} if searched else None,
    )
    if focus is not None:
        neighbours(result, focus)
    with st.container(horizontal=True, gap="small"):
        csv_download(coordinates(result.points), "coordinates", result.signature)
        html_download(
            CAPTION,
            LazyFigures({CAPTION: lambda: maps_figure(result, look=shown_maps(run_id).look)}),
            result.signature,
            "maps",
            "maps.html",  # untranslated
        )
    is_short = len(rows) <= SELECTED_MOST
    if not is_short and found is None:
        st.caption(tr("The link to this view has no selection of more than {n} sentences.", n=SELECTED_MOST))
    selected = tuple(rows) if is_short and found is None else ()
    view.keep_record(
        Mapped(
            selected,
            focus if selected and len(rows) > 1 else None,
            hidden,
            centroids,
            searched if found is not None else "",
            colour,
            alone,
        ),
        Mapped(),
    )
    view.write_in_fragment()


def map_makers(run_id: str, result: Result) -> dict[str, Callable[[], go.Figure]]:
    """What draws the maps for a download, as they are set on the page when it is requested, by caption."""
    mapped = [model for model in result.models["model"] if has_map(result.points, model)]
    if not mapped:
        return {}
    shown = shown_maps(run_id)
    makers: dict[str, Callable[[], go.Figure]] = {CAPTION: lambda: maps_figure(result, look=shown.look)}
    if len(mapped) > 1:  # in one column of a page, all side by side are small
        makers |= {
            Message("Map of the sentences, {model}", model=shown_name(model)): partial(_map_of, result, model, shown)
            for model in mapped
        }
    return makers


def _map_of(result: Result, model: str, shown: ShownMaps) -> go.Figure:
    return maps_figure(result, model, shown.look)


def _found(result: Result, searched: str, rows: tuple[int, ...], place: str) -> tuple[int, ...] | None:
    """The sentences that a search finds, as long as these are selected; None without one, or where others are since.

    The maps select what was found a moment after the page was drawn with it.
    """
    key = f"confirmed-search-{place}"
    if not searched:
        st.session_state.pop(key, None)
        return None
    found = rows_with(result.points, searched)
    if not found:
        st.caption(tr("No sentence contains “{text}”.", text=verbatim(searched)))
        return ()
    if rows == found:
        st.session_state[key] = searched
    return found if rows == found or st.session_state.get(key) != searched else None


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
    shares = translated(list_of(f"{label} {n:,}" for label, n in counts.head(6).items()))
    if len(counts) > 6:
        shares = tr("{classes} and {n:,} more classes", classes=shares, n=len(counts) - 6)
    title = tr_n("{n} sentence selected", "{n:,} sentences selected", len(chosen))
    st.markdown(f"**{title}** :gray[{verbatim(shares)}]")  # untranslated
    state = st.dataframe(
        chosen,
        hide_index=True,
        height=LIST_HEIGHT if len(chosen) > FEW else "auto",
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": at_first}},
        # Another selection is another table: the row chosen in the last one has no meaning in it.
        key=f"clusters-selected-{place}-{digest({'rows': chosen['row'].tolist()})}",
        placeholder="–",
        alt=tr("The selected sentences; choose one to see its neighbours"),
        column_config={
            "row": st.column_config.NumberColumn(tr("Row"), width="small"),
            "label": st.column_config.TextColumn(tr("Class"), width="small"),
            "text": st.column_config.TextColumn(tr("Sentence"), width="large"),
        },
    )
    index = next(iter(state.selection.rows), None)
    return None if index is None else int(chosen["row"].iloc[index])


def _shown(run_id: str, result: Result, coloring: Coloring) -> dict[str, Any]:
    """The data of the maps of a run, with the texts in the reader's language."""
    signature = result.signature
    line = tr("{settings} · signature {digest}", settings=signature_line(signature), digest=digest(signature))
    data = _data(run_id, coloring.column, language(), result, coloring)
    return data | {"words": map_words(), "picture": data["picture"] | {"signature": line}}


def notes_of(result: Result) -> dict[str, str]:
    """What stands beside the name of each model on its map: its score, and of how many sentences UMAP laid out."""
    scored = result.models.dropna(subset=["score"]).set_index("model")["score"]
    digits = decimals(scored.tolist())
    notes = {str(model): f"M_m {score:,.{digits}f}" for model, score in scored.items()}
    fitted = result.signature.get(SIGNED_FITTED)
    if not fitted:
        return notes
    counts = result.models.set_index("model")["n_sentences"]
    return {
        str(model): " · ".join(
            [
                *([notes[str(model)]] if str(model) in notes else []),
                tr(
                    "UMAP fitted to {fitted:,} of {n:,} sentences, the others placed by transform",
                    fitted=fitted,
                    n=int(n),
                ),
            ]
        )
        for model, n in counts.items()
    }


@st.cache_resource(max_entries=VIEWS_KEPT, show_spinner=False)
def _data(run_id: str, colour: str | None, shown_language: str, _result: Result, _coloring: Coloring) -> dict[str, Any]:
    """The data of the maps of a run without texts of the page, shared by all sessions and never changed.

    Of the reader's language are only the notes, and the names of groups that are no value of the data's column `colour`.
    """
    return view_data(
        _result,
        run_id,
        notes_of(_result),
        {"name": f"maps-{digest(_result.signature)}"},
        _coloring,
    )
