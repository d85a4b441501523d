"""Runs as rows of a short list: a link and a state for each."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from dashboard.shared import run_progress, session
from dashboard.shared.headlines import run_title
from dashboard.shared.run_links import run_link
from dashboard.shared.wording import ago, duration, show_error, verbatim
from engine.errors import EngineError
from engine.messages.languages import mark, tr
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search

ICONS = {
    "queued": ":material/hourglass_empty:",
    "running": ":material/progress_activity:",
    "failed": ":material/error:",
    "cancelled": ":material/cancel:",
    "done": ":material/check:",
}
STATES = {
    "queued": mark("queued"),
    "running": mark("running"),
    "failed": mark("failed"),
    "cancelled": mark("cancelled"),
    "done": mark("done"),
}
COLORS: dict[str, Literal["gray", "primary", "orange"]] = {
    "queued": "gray",
    "running": "primary",
    "failed": "orange",
    "cancelled": "gray",
    "done": "gray",
}


def recent(limit: int) -> list[RunRecord]:
    """The user's own runs, the newest first; of an unreadable store the error is shown, and none are returned."""
    try:
        return session.access().mine(Search(limit=limit))
    except EngineError as error:
        show_error(error)
        return []


def run_row(view: RunRecord) -> None:
    """Draw one run: a link to it, its state, its time."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        run_link(view, run_title(view))
        st.badge(_state(view), icon=ICONS[view.state], color=COLORS[view.state])
        if view.shared and session.hosted():
            st.badge(tr("shared"), icon=":material/group:", color="gray")
        st.caption(verbatim(_facts(view)), width="content", help=verbatim(view.note) or None)


def _state(view: RunRecord) -> str:
    if view.state == "running" and view.total:
        return f"{view.done / view.total:.0%}"
    return tr(STATES[view.state])


def _facts(view: RunRecord) -> str:
    facts = [*run_progress.facts_of(view), ago(view.created)]
    if view.state == "done" and view.seconds is not None:
        facts.append(tr("took {duration}", duration=duration(view.seconds)))
    return " · ".join(facts)
