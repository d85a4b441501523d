"""Runs as rows of a list: a link, a state, and a menu for each."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from dashboard.shared import run_view, session
from dashboard.shared.wording import ago, duration, show_error, verbatim
from engine.errors import EngineError
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search

RENAME, DELETE, CANCEL = "Rename", "Delete", "Cancel"
NAME_LENGTH = 120
ICONS = {"queued": ":material/hourglass_empty:", "running": ":material/progress_activity:",
         "failed": ":material/error:", "cancelled": ":material/cancel:", "done": ":material/check:"}
COLORS: dict[str, Literal["gray", "primary", "orange"]] = {
    "queued": "gray", "running": "primary", "failed": "orange", "cancelled": "gray", "done": "gray",
}


def recent(limit: int) -> list[RunRecord]:
    """The user's own runs, the newest first; of an unreadable store the error is shown, and none are returned."""
    try:
        return session.access().mine(Search(limit=limit))
    except EngineError as error:
        show_error(error)
        return []


def run_row(view: RunRecord, *, manage: bool = False) -> None:
    """Draw one run: a link to it, its state, its time; with `manage` a menu to rename, cancel or delete it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        # Long text wraps within this inner container, and the menu stays at the right of it.
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            run_view.run_link(view, view.name)
            st.badge(_state(view), icon=ICONS[view.state], color=COLORS[view.state])
            if view.shared and session.hosted():
                st.badge("shared" if session.access().may_change(view) else verbatim(view.owner),
                         icon=":material/group:", color="gray")
            st.caption(verbatim(_facts(view)), width="content", help=verbatim(view.note) or None)
        if manage:
            options = [RENAME, CANCEL if view.state in run_view.ACTIVE else DELETE]
            picked = st.menu_button("", options, key=f"run-menu-{view.id}", icon=":material/more_horiz:",
                                    type="tertiary", help="Rename, cancel or delete")
            if picked == RENAME:
                _rename(view)
            elif picked == DELETE:
                _delete(view)
            elif picked == CANCEL:
                session.access().cancel(view.id)


@st.dialog("Rename the run")
def _rename(view: RunRecord) -> None:
    with st.form(f"rename-{view.id}", border=False):
        name = st.text_input("Name", view.name, max_chars=NAME_LENGTH, key=f"run-name-{view.id}")
        if st.form_submit_button("Save", type="primary", key=f"run-save-{view.id}") and name.strip():
            session.access().rename(view.id, name)
            st.rerun()


@st.dialog("Delete the run?")
def _delete(view: RunRecord) -> None:
    st.markdown(f"**{verbatim(view.name)}** and its result will be deleted, and its link will stop working. This "
                "cannot be undone.")
    if st.button("Delete", type="primary", key=f"run-delete-{view.id}"):
        session.access().delete(view.id)
        run_view.forget_result(view.id)
        st.rerun()


def _state(view: RunRecord) -> str:
    if view.state == "running" and view.total:
        return f"{view.done / view.total:.0%}"
    return view.state


def _facts(view: RunRecord) -> str:
    facts = [*run_view.facts_of(view), ago(view.created)]
    if view.state == "done" and view.seconds is not None:
        facts.append(f"took {duration(view.seconds)}")
    return " · ".join(facts)
