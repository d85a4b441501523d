"""What the viewer can do with the run shown: share it, or write a note."""

from __future__ import annotations

import streamlit as st

from dashboard.shared import session
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError
from engine.runs.access.access import MAX_NOTE_CHARACTERS
from engine.runs.storage.run_record import RunRecord


def sharing_and_note(view: RunRecord) -> None:
    """Draw, under a run's name, its owner, the switch that shares it, and its note."""
    own = session.access().may_change(view)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if session.hosted():
            _share_switch(view) if own else st.caption(
                f":material/group: Shared by {verbatim(view.owner)}: change what is shown as you like; the run itself "
                "stays unchanged.", width="content")
        if own:
            _note_editor(view)
    if view.note:
        st.caption(f":material/sticky_note_2: {verbatim(view.note)}")


def _share_switch(view: RunRecord) -> None:
    key = f"run-share-{view.id}"

    def changed() -> None:
        try:
            session.access().share(view.id, bool(st.session_state[key]))
        except EngineError as error:
            show_error(error)

    st.toggle("Shared with the team", value=view.shared, key=key, on_change=changed,
              help="Everybody who may sign in here can then open the link of this page, change what is shown and start "
                   "the same run as their own. Only you can change or delete this one.")


def _note_editor(view: RunRecord) -> None:
    label = "Note" if view.note else "Add a note"
    with st.popover(label, type="tertiary", icon=":material/edit_note:", key=f"run-note-{view.id}"), \
            st.form(f"run-note-form-{view.id}", border=False):
        note = st.text_area("Note", view.note, max_chars=MAX_NOTE_CHARACTERS, key=f"run-note-text-{view.id}",
                            label_visibility="collapsed", placeholder="What you learnt from this run")
        if st.form_submit_button("Save", type="primary", key=f"run-note-save-{view.id}"):
            try:
                session.access().annotate(view.id, note)
            except EngineError as error:
                show_error(error)
                return
            st.rerun()
