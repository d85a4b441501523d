"""The point clicked in a figure of a minimal-pairs run: it filters the table of pairs until it is cleared.

A chart's own selection ends when the chart is redrawn, as by a toggle; so it is copied to the session here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.pair_table import difference_label
from dashboard.minimal_pairs.view import STRATA
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.wording import verbatim
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import categories_of, field_names
from engine.messages.languages import tr, translated
from engine.messages.message import list_of
from engine.options import option, options_of


@dataclass(frozen=True)
class PointSelection:
    """The pairs of a point: of a model, a token difference (`beyond`: and farther from 0), a value of a field
    ("source" or one of `views.field_names`), a stratum, one row. None or "" does not filter.
    """

    model: str = option("", "The model whose pairs are selected.")  # untranslated
    difference: int | None = option(None, "The token difference of the pairs.", unset="any")  # untranslated
    beyond: bool = option(False, "Whether larger differences are selected, too.")  # untranslated
    field: str = option("", "The column whose value is selected.")  # untranslated
    value: str = option("", "That value.")  # untranslated
    stratum: str = option("", "Which sentence is longer in the pairs.", choices=("", *STRATA))  # untranslated
    row: int | None = option(None, "The row of the pair.", unset="any")  # untranslated


# As in the address: `point-difference=2`.
POINT = {
    name: replace(declared, name=f"point_{name}")  # untranslated
    for name, declared in options_of(PointSelection).items()
}
PointDecoder = Callable[[Mapping[str, Any]], PointSelection | None]


def selection_mask(selection: PointSelection, result: Result, pairs: pd.DataFrame) -> np.ndarray:
    """Which of `pairs` (of `pair_table`, of the selection's model) are selected: bool (n_pairs,)."""
    mask = np.ones(len(pairs), dtype=bool)
    if selection.difference is not None:
        differences = pairs["difference"].to_numpy()
        if selection.beyond:
            mask &= np.sign(selection.difference) * differences >= abs(selection.difference)
        else:
            mask &= differences == selection.difference
    if selection.field:
        mask &= (categories_of(result, pairs, selection.field) == selection.value).to_numpy()
    if selection.stratum:
        mask &= (pairs["stratum"] == selection.stratum).to_numpy()
    if selection.row is not None:
        mask &= (pairs["row"] == selection.row).to_numpy()
    return mask


def selection_label(selection: PointSelection) -> str:
    """The selection as text: "|A| − |U| = +2 or more, UID = passive"."""
    parts = []
    if selection.difference is not None:
        parts.append(difference_label(selection.difference, beyond=selection.beyond))
    if selection.field:
        parts.append(f"{selection.field} = {selection.value or tr('(none)')}")
    if selection.stratum:
        parts.append(" ".join(selection.stratum))
    if selection.row is not None:
        parts.append(tr("row {row}", row=selection.row))
    return translated(list_of(parts)) or tr("all pairs")


def clickable(
    figure: go.Figure, name: str, run_id: str, signature: Mapping[str, Any], decode: PointDecoder, alt: str
) -> None:
    """Draw a figure; a click on a point selects its pairs, as `decode` reads them from the point."""
    key = f"minimal-pairs-{name}-{run_id}-{st.session_state.get(_generation(run_id), 0)}"
    draw_figure(
        figure,
        key=key,
        on_select=partial(_point_clicked, key, run_id, decode),
        selection_mode="points",
        config=camera(name, signature),
        alt=alt,
    )


def open_selection(run_id: str, result: Result, address: PageAddress) -> None:
    """Have the selection be that of the address, `point-…`, where the address counts."""
    fields = {"", "source", *field_names(result)}
    offered: dict[str, Collection[Any]] = {
        "model": result.scored_models,
        "field": fields,
        "row": result.items["row"].tolist(),
    }
    selection = PointSelection(
        **{
            name: address.first(declared, declared.default, offered=offered.get(name))
            for name, declared in POINT.items()
        }
    )
    if address.opened:
        st.session_state[_key(run_id)] = selection if selection.model else None


def keep_selection(run_id: str, address: PageAddress) -> None:
    """Have the address say the selection."""
    selection = current_selection(run_id) or PointSelection()
    for name, declared in POINT.items():
        address.keep(declared, getattr(selection, name), declared.default)


def current_selection(run_id: str) -> PointSelection | None:
    """The present selection."""
    selection = st.session_state.get(_key(run_id))
    return selection if isinstance(selection, PointSelection) else None


def select(run_id: str, selection: PointSelection) -> None:
    """Set the selection, and show the pairs of its model."""
    st.session_state[_key(run_id)] = selection
    st.session_state[model_key(run_id)] = selection.model


def clear_selection(run_id: str) -> None:
    """Clear the selection, and those of the figures too."""
    st.session_state.pop(_key(run_id), None)
    st.session_state[_generation(run_id)] = st.session_state.get(_generation(run_id), 0) + 1


def model_key(run_id: str) -> str:
    """The key of the widget that chooses the model whose pairs are listed."""
    return f"minimal-pairs-model-{run_id}"


def selection_banner(run_id: str) -> PointSelection | None:
    """Draw the selection with a button that clears it; returns it."""
    selection = current_selection(run_id)
    if selection is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            label = verbatim(selection_label(selection))
            st.markdown(f":blue-background[:material/ads_click: {label}]", width="content")  # untranslated
            st.button(
                tr("Show all pairs"),
                key=f"minimal-let-go-{run_id}",
                icon=":material/close:",
                type="tertiary",
                on_click=clear_selection,
                args=(run_id,),
            )
    return selection


def _point_clicked(key: str, run_id: str, decode: PointDecoder) -> None:
    state = st.session_state.get(key)
    points = state["selection"]["points"] if state else []
    selection = decode(points[0]) if points else None
    if selection is not None:
        select(run_id, selection)


def _key(run_id: str) -> str:
    return f"minimal-pick-{run_id}"


def _generation(run_id: str) -> str:
    return f"minimal-generation-{run_id}"
