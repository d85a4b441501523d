"""The bin: deleted runs, which can be restored until they are deleted for good."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.runs.actions import DELETED
from dashboard.runs.listed import run_table
from dashboard.shared import session
from dashboard.shared.wording import show_error
from engine.errors import EngineError
from engine.messages.languages import tr, tr_n
from engine.runs.access.quotas import size
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search

LISTED = 300


def bin_view() -> None:
    """Draw the runs in the viewer's bin, with what restores or deletes the chosen ones."""
    try:
        access = session.access()
        runs = access.binned(Search(limit=LISTED))
        n_all = access.count(Search(deleted=True), team=False)
    except EngineError as error:
        show_error(error)
        return
    st.caption(
        tr(
            "Deleted runs stay here for {days} days. Until then nobody can open them, you can restore them, and "
            "they count towards the disk space of your runs.",
            days=f"{access.bin_days:g}",
        )
    )
    if not runs:
        st.info(tr("The bin is empty."), icon=":material/delete:")
        return
    bar = st.container()
    chosen = run_table(runs, in_bin=True)
    with bar, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        listed = chosen or runs
        taken = size(sum(run.stored_bytes for run in listed))
        st.caption(
            tr_n(
                "{n} run selected, {size} with its dataset",
                "{n:,} runs selected, {size} with their datasets",
                len(chosen),
                size=taken,
            )
            if chosen
            else tr_n("{n} run, {size} with its dataset", "{n:,} runs, {size} with their datasets", n_all, size=taken),
            width="content",
        )
        if chosen and st.button(tr("Restore"), key="bin-restore", icon=":material/restore_from_trash:"):
            _each(chosen, restore=True)
        label = tr("Delete for good") if chosen else tr("Empty the bin")
        with st.popover(label, icon=":material/delete_forever:", key="bin-delete"):
            st.markdown(
                tr_n(
                    "{n} run will be deleted for good, with its results and the data that no other run needs. What the "
                    "models computed stays in the cache: the same run again is quick.",
                    "{n:,} runs will be deleted for good, with their results and the data that no other run needs. What "
                    "the models computed stays in the cache: the same runs again are quick.",
                    len(listed),
                )
            )
            if st.button(label, type="primary", key="bin-delete-yes"):
                _each(listed, restore=False)


def _each(runs: Sequence[RunRecord], *, restore: bool) -> None:
    access = session.access()
    st.session_state.pop(DELETED, None)  # what was done last can no longer be undone as a whole
    try:
        for run in runs:
            access.restore(run.id) if restore else access.delete(run.id)
    except EngineError as error:
        show_error(error)
        return
    st.rerun()
