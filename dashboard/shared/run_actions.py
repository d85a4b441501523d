"""What the viewer can do with the run shown: share it, write a note, restore it from the bin."""

from __future__ import annotations

import streamlit as st

from dashboard import pages
from dashboard.shared import session
from dashboard.shared.headlines import owner_word
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError
from engine.messages.languages import tr
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import BROWSER_PREFIX


def sharing_and_note(view: RunRecord) -> None:
    """Draw, beside a run's name, its owner, the switch that shares or stars it, and what edits its note."""
    access = session.access()
    own = access.may_change(view)
    if session.hosted():
        _share_switch(view) if own else st.caption(
            ":material/group: "
            + tr(
                "Shared by {owner}: change what is shown as you like; the run itself stays unchanged.",
                owner=verbatim(owner_word(view.owner, access.owner_names([view.owner])[view.owner])),
            ),
            width="content",
        )
    if own:
        _note_editor(view)
    elif is_of_another_browser(view):
        _star_switch(view)


def is_of_another_browser(view: RunRecord) -> bool:
    """Whether somebody else started the run on an instance without sign-in."""
    return view.owner.startswith(BROWSER_PREFIX) and not session.access().may_change(view)


def _star_switch(view: RunRecord) -> None:
    access, key = session.access(), f"run-star-{view.id}"
    owner = verbatim(owner_word(view.owner, access.owner_names([view.owner])[view.owner]))
    st.caption(
        ":material/group: "
        + tr("Started by {owner}: change what is shown as you like; the run itself stays unchanged.", owner=owner),
        width="content",
    )

    def changed() -> None:
        try:
            access.star(view.id, bool(st.session_state[key]))
        except EngineError as error:
            show_error(error)

    st.toggle(
        tr("Among my runs"),
        value=view.id in access.starred([view]),
        key=key,
        on_change=changed,
        help=tr("A star, by which you find it among your runs. It changes nothing for others."),
    )


def unknown_run(run_id: str) -> None:
    """Draw that there is no run at a link, or that it is in the viewer's bin."""
    in_bin = session.access().in_bin(run_id) is not None
    st.info(
        tr("The run at this link is in the bin.")
        if in_bin
        else tr("There is no run at this link. It may have been deleted, or the link is incomplete."),
        icon=":material/link_off:",
    )
    with st.container(horizontal=True):
        if in_bin and st.button(tr("Restore"), key="run-restore", icon=":material/restore_from_trash:"):
            session.access().restore(run_id)
            st.rerun()
        if st.button(tr("Start over"), key="run-afresh"):
            clear_address()
        st.page_link(pages.path("runs"), label=tr("My runs"), icon=pages.card("runs").icon)


def clear_address() -> None:
    """Go to the page without a run and without choices."""
    st.query_params.clear()
    st.rerun()


def _share_switch(view: RunRecord) -> None:
    key = f"run-share-{view.id}"

    def changed() -> None:
        try:
            session.access().share(view.id, bool(st.session_state[key]))
        except EngineError as error:
            show_error(error)

    st.toggle(
        tr("Shared with the team"),
        value=view.shared,
        key=key,
        on_change=changed,
        help=tr(
            "Everybody who may sign in here can then open the link of this page, change what is shown and "
            "start the same run as their own. Only you can change or delete this one."
        ),
    )


def _note_editor(view: RunRecord) -> None:
    label = tr("Note") if view.note else tr("Add a note")
    with (
        st.popover(label, type="tertiary", icon=":material/edit_note:", key=f"run-note-{view.id}"),
        st.form(f"run-note-form-{view.id}", border=False),
    ):
        # Without max_chars: the field drops a longer paste without a word, and the engine says how many may be.
        note = st.text_area(
            tr("Note"),
            view.note,
            key=f"run-note-text-{view.id}",
            label_visibility="collapsed",
            placeholder=tr("What you learnt from this run"),
        )
        if st.form_submit_button(tr("Save"), type="primary", key=f"run-note-save-{view.id}"):
            try:
                session.access().annotate(view.id, note)
            except EngineError as error:
                show_error(error)
                return
            st.rerun()
