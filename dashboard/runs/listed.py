"""The table of runs: one page of it, a row for each run, of which some can be chosen."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import pages
from dashboard.faces import FACES
from dashboard.runs import table
from dashboard.runs.search import kind_title
from dashboard.shared import run_progress, session
from dashboard.shared.headlines import stored, to_store
from dashboard.shared.wording import ago
from engine.errors import EngineError
from engine.messages.languages import tr
from engine.runs.storage.run_record import RunRecord

FILLING_SECONDS = 0.5  # spent on missing headlines before the table is drawn
ROW_HEIGHT = 108  # text wraps, on five lines
# Pixels: beside the boxes the first three fit on a phone, all of them beside the menu of a wide window.
WIDTHS = {
    "open": 54,
    "age": 76,
    "name": 104,
    "headline": 308,
    "dataset": 112,
    "models": 140,
    "owner": 86,
    "settings": 90,
    "tags": 62,
}
CUT = ("name", "headline", "models", "dataset", "settings")
CELL_PADDING, LETTER = 16, 7.4  # pixels; a letter is half as wide as a kanji
NARROWER = {"headline": 240, "settings": 74}  # where the owners are shown, too
OPENED = "runs-opened"
UNREADABLE = "runs-unreadable"  # in the session: ids of the runs whose result could not be read


def run_table(runs: Sequence[RunRecord], *, owners: bool = False, in_bin: bool = False) -> list[RunRecord]:
    """Draw the table and return the chosen runs. owners: whether it says whose a run is; in_bin: no run opens."""
    access = session.access()
    widths = WIDTHS | (NARROWER if owners else {})
    has = {"settings": any(map(table.other_settings, runs)), "tags": any(run.tags for run in runs)}
    empty = {name for name, any_has in has.items() if not any_has}  # columns that are left out
    widths["headline"] += sum(widths[name] for name in empty)
    frame = table.rows(
        runs,
        starred=access.starred(runs),
        title=kind_title,
        ago=ago,
        owner_names=access.owner_names(run.owner for run in runs),
        lengths={name: int((widths[name] - CELL_PADDING) / LETTER) for name in CUT},
    )
    # Chosen rows are known by their numbers: a list of other runs is another widget, in which none is chosen.
    key = hashlib.sha256("".join(run.id for run in runs).encode()).hexdigest()[:12]
    hidden = empty | ({"open", "owner"} if in_bin else set() if owners else {"owner"})
    state = st.dataframe(
        frame,
        key=f"runs-table-{key}",
        on_select="rerun",
        selection_mode="multi-row",
        hide_index=True,
        row_height=ROW_HEIGHT,
        height="content",
        placeholder="–",
        alt=tr("Runs"),
        column_order=[name for name in table.COLUMNS if name not in hidden],
        column_config=_columns(widths, tr("Deleted") if in_bin else tr("Started"))
        | {"open": _open_column(f"runs-open-{key}", [run.id for run in runs])},
    )
    return [runs[row] for row in state["selection"]["rows"] if row < len(runs)]


def open_chosen(runs: Sequence[RunRecord]) -> None:
    """Go to the page of the run whose name was pressed."""
    opened = st.session_state.pop(OPENED, None)
    run = next((run for run in runs if run.id == opened), None)
    if run is not None and run.kind in FACES:
        st.switch_page(pages.path(FACES[run.kind].page.name), query_params={"run": run.id})


def is_changing(run: RunRecord) -> bool:
    """Whether the row of a run will be another one soon."""
    return run.state in run_progress.ACTIVE or lacks_headline(run)


def lacks_headline(run: RunRecord) -> bool:
    """Whether the numbers of a finished run are still to be stored."""
    return run.state == "done" and run.kind in FACES and stored(run.headline) is None


def with_headlines(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """The runs, with numbers and size stored where they were missing, as many as the time allows."""
    end = time.monotonic() + FILLING_SECONDS
    unreadable = st.session_state.get(UNREADABLE, ())
    runs = [_without_numbers(run) if run.id in unreadable and lacks_headline(run) else run for run in runs]
    return [_described(run) if lacks_headline(run) and time.monotonic() < end else run for run in runs]


def _described(run: RunRecord) -> RunRecord:
    access = session.access()
    try:
        face, result = FACES[run.kind], access.result(run.id)
        headline = to_store(face.headlines(result), face.found(result))
    except EngineError:  # the page of the run shows the error; it may be another one at the next visit
        st.session_state[UNREADABLE] = {*st.session_state.get(UNREADABLE, ()), run.id}
        return _without_numbers(run)
    try:
        n_rows = access.dataset(run.id).n if run.n_rows is None else run.n_rows
    except EngineError:
        n_rows = None
    try:
        access.describe(run.id, headline, n_rows)
    except EngineError:  # the list cannot be written at the moment, or the run was deleted meanwhile
        return run
    return replace(run, headline=headline, n_rows=n_rows)


def _without_numbers(run: RunRecord) -> RunRecord:
    """The run as it is listed where its result cannot be read; nothing of that is stored."""
    return replace(run, headline=to_store([]))


def _pressed(key: str, ids: Sequence[str]) -> None:
    click = st.session_state.get(key)
    if click is not None:
        st.session_state[OPENED] = ids[click["row"]]


def _columns(widths: Mapping[str, int], age: str) -> dict[str, Any]:
    config = st.column_config
    titles = {
        "name": tr("Run"),
        "headline": tr("Finding"),
        "models": tr("Models"),
        "dataset": tr("Dataset"),
        "tags": tr("Tags"),
        "owner": tr("Owner"),
        "age": age,
    }
    return {name: config.TextColumn(title, width=widths[name]) for name, title in titles.items()} | {
        "settings": config.TextColumn(
            tr("Settings"), width=widths["settings"], help=tr("Those that differ from the defaults of the kind")
        ),
    }


def _open_column(key: str, ids: Sequence[str]) -> Any:
    return st.column_config.ButtonColumn(
        "", type="tertiary", width=WIDTHS["open"], key=key, on_click=_pressed, args=(key, ids)
    )
