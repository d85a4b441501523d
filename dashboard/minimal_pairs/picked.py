"""What was clicked in a figure of a minimal-pairs run: it filters the table of pairs until it is let go.

A chart's own selection ends when the chart is drawn anew, as by a toggle; so it is taken over here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.wording import verbatim
from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import categories_of


@dataclass(frozen=True)
class Pick:
    """The pairs behind a point: of a model, a token difference (`beyond`: and farther from 0), a value of a field
    ("source" or one of `pair_views.field_names`), a stratum, one row. None or "" does not narrow.
    """

    model: str
    difference: int | None = None
    beyond: bool = False
    field: str = ""
    value: str = ""
    stratum: str = ""
    row: int | None = None


Decode = Callable[[Mapping[str, Any]], Pick | None]


def picked(pick: Pick, result: Result, pairs: pd.DataFrame) -> np.ndarray:
    """Which of `pairs` (of `pair_table`, of the pick's model) are behind the point: bool (n_pairs,)."""
    kept = np.ones(len(pairs), dtype=bool)
    if pick.difference is not None:
        gap = pairs["difference"].to_numpy()
        farther = np.sign(pick.difference) * gap >= abs(pick.difference) if pick.beyond else gap == pick.difference
        kept &= farther
    if pick.field:
        kept &= (categories_of(result, pairs, pick.field) == pick.value).to_numpy()
    if pick.stratum:
        kept &= (pairs["stratum"] == pick.stratum).to_numpy()
    if pick.row is not None:
        kept &= (pairs["row"] == pick.row).to_numpy()
    return kept


def words(pick: Pick) -> str:
    """The pick in words: "|A| − |U| = +2 or more, UID = passive"."""
    parts = []
    if pick.difference is not None:
        more = (" or more" if pick.difference > 0 else " or less") if pick.beyond else ""
        parts.append(f"|A| − |U| = {signed(pick.difference)}{more}")
    if pick.field:
        parts.append(f"{pick.field} = {pick.value or '(none)'}")
    if pick.stratum:
        parts.append(" ".join(pick.stratum))
    if pick.row is not None:
        parts.append(f"row {pick.row}")
    return ", ".join(parts) or "all pairs"


def signed(difference: int) -> str:
    """A difference with its sign, 0 without.

    >>> signed(2), signed(-1), signed(0)
    ('+2', '−1', '0')
    """
    return f"{difference:+d}".replace("+0", "0").replace("-", "−")


def clickable(figure: go.Figure, name: str, run_id: str, signature: Mapping[str, Any], decode: Decode, alt: str
              ) -> None:
    """Draw a figure; a click on a point, which `decode` understands, picks the pairs behind it."""
    key = f"minimal-{name}-{run_id}-{st.session_state.get(_generation(run_id), 0)}"
    st.plotly_chart(figure, key=key, on_select=partial(_selected, key, run_id, decode), selection_mode="points",
                    config=camera(name, signature), alt=alt)


def held(run_id: str) -> Pick | None:
    """What is picked at present."""
    pick = st.session_state.get(_key(run_id))
    return pick if isinstance(pick, Pick) else None


def hold(run_id: str, pick: Pick) -> None:
    """Pick something, and show its model's pairs."""
    st.session_state[_key(run_id)] = pick
    st.session_state[model_key(run_id)] = pick.model


def let_go(run_id: str) -> None:
    """Pick nothing; the figures forget their selections, too."""
    st.session_state.pop(_key(run_id), None)
    st.session_state[_generation(run_id)] = st.session_state.get(_generation(run_id), 0) + 1


def model_key(run_id: str) -> str:
    """The key of the widget that says whose pairs are listed."""
    return f"minimal-pairs-model-{run_id}"


def pick_line(run_id: str) -> Pick | None:
    """Say what is picked, with a button that lets go; returns it."""
    pick = held(run_id)
    if pick is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":blue-background[:material/ads_click: {verbatim(words(pick))}]", width="content")
            st.button("Show all pairs", key=f"minimal-let-go-{run_id}", icon=":material/close:", type="tertiary",
                      on_click=let_go, args=(run_id,))
    return pick


def _selected(key: str, run_id: str, decode: Decode) -> None:
    state = st.session_state.get(key)
    points = state["selection"]["points"] if state else []
    pick = decode(points[0]) if points else None
    if pick is not None:
        hold(run_id, pick)


def _key(run_id: str) -> str:
    return f"minimal-pick-{run_id}"


def _generation(run_id: str) -> str:
    return f"minimal-generation-{run_id}"
