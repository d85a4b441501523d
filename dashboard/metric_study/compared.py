"""A side of a comparison of metric studies: the setting of the grid that stands for it."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from dashboard.metric_study.labels import idf_name, scoring_name
from dashboard.shared.inputs.compared import ComparedSide, SideChoices
from dashboard.shared.inputs.settings import label_of
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.comparison.grid_sides import grid_of
from engine.evaluations.comparison.records import GridView
from engine.messages.languages import tr
from engine.options import options_of


def _choose(side: SideChoices, run_id: str, result: Any, model: str) -> GridView:
    grid = [(str(row["idf"]), str(row["penalty"])) for row in grid_of(result, model).to_dict("records")]
    if not grid:
        return GridView()
    options = options_of(GridView)
    first = tuple(
        side.first(options[name], grid[0][place], {setting[place] for setting in grid})
        for place, name in enumerate(("idf", "penalty"))
    )
    chosen = st.selectbox(
        tr("Setting"),
        grid,
        index=grid.index(first) if first in grid else 0,
        key=side.key("setting", run_id, model),
        format_func=lambda setting: scoring_name(*setting),
    )
    view = GridView(*chosen)
    side.keep(view, GridView(*grid[0]))
    return view


COMPARED = ComparedSide(
    (GridView,), _choose, told={"idf": idf_name, "penalty": partial(label_of, options_of(Scoring)["penalty"])}
)
