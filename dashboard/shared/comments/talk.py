"""The comments on a run: a popover beside its note, in plain text, each with author, time and what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import pages
from dashboard.shared import session
from dashboard.shared.headlines import owner_word
from dashboard.shared.wording import ago, show_error, stamp, verbatim
from engine.errors import EngineError
from engine.messages.languages import tr, translated
from engine.messages.message import list_of
from engine.runs.comments.access import ROW, CommentAccess, row_of, view_of
from engine.runs.comments.rows import Comment
from engine.runs.computing import SAMPLES_ID
from engine.runs.storage.run_record import RunRecord

NAMES_SHOWN = 6
HEIGHT = 380  # pixels, from FEW comments on
FEW = 4
MOST_DRAWN = 50
REFUSAL = "run-comment-refusal"  # in the session: why the last comment was not taken


@st.fragment
def comments(run: RunRecord) -> None:
    """Draw the popover; what is in it is read once it is opened. A sample's run takes no comments."""
    if run.owner == SAMPLES_ID:
        return
    access, key = CommentAccess(session.access()), f"run-comments-{run.id}"
    try:
        if not st.session_state.get(f"{key}-opened"):  # with another label it would close: counted when it is closed
            st.session_state[f"{key}-n"] = access.n_of_run(run.id)
        label = tr("Comments ({n:,})", n=st.session_state[f"{key}-n"])
        with st.popover(label, type="tertiary", icon=":material/forum:", on_change="rerun", key=key) as opened:
            st.session_state[f"{key}-opened"] = opened.open
            if opened.open:
                _talk(access, run)
    except EngineError as error:
        show_error(error)


def _talk(access: CommentAccess, run: RunRecord) -> None:
    talk = access.of_run(run.id)
    with st.container(height=HEIGHT if len(talk.comments) >= FEW else "content", border=False):
        if (n_earlier := len(talk.comments) - MOST_DRAWN) > 0:
            st.caption(tr("Earlier comments, which are not shown: {n:,}", n=n_earlier))
        for comment in talk.comments[-MOST_DRAWN:]:
            _comment(access, run, comment, owner_word(comment.author, talk.names[comment.author]))
    if talk.closed:
        st.caption(tr("This run takes no more comments."))
    else:
        _form(access, run, access.suggested(run, talk))
    if session.access().may_change(run):
        st.toggle(
            tr("No more comments"),
            value=talk.closed,
            key=f"run-comments-closed-{run.id}",
            on_change=_close,
            args=(access, run.id),
            help=tr("Those that are there stay."),
        )


def _comment(access: CommentAccess, run: RunRecord, comment: Comment, author: str) -> None:
    with st.container(gap="xsmall", key=f"run-comment-{comment.id}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"**{verbatim(author)}** · {ago(comment.created)}", help=stamp(comment.created), width="content")
            about(run, comment)
            if access.may_remove(run, comment):
                st.button(
                    tr("Remove"),
                    key=f"run-comment-remove-{comment.id}",
                    type="tertiary",
                    icon=":material/delete:",
                    on_click=_remove,
                    args=(access, comment.id),
                )
        st.markdown("  \n".join(map(verbatim, comment.text.split("\n"))))  # untranslated; two spaces end a line


def about(run: RunRecord, comment: Comment) -> None:
    """Draw the link to what a comment is about; nothing where that is the run as a whole."""
    page = pages.of_kind(run.kind)
    if comment.view and page is not None:
        row = row_of(comment)
        st.page_link(
            pages.path(page.name),
            label=tr("row {row}", row=verbatim(row)) if row else tr("this view"),
            icon=":material/my_location:",
            query_params={**view_of(comment), "run": run.id},
        )


def _form(access: CommentAccess, run: RunRecord, suggested: Sequence[str]) -> None:
    view = {name: st.query_params.get_all(name) for name in st.query_params if name != "run"}
    with st.form(f"run-comment-form-{run.id}", border=False):
        # Without max_chars: the field drops a longer paste without a word, and the engine says how many may be.
        st.text_area(
            tr("Comment"),
            key=f"run-comment-text-{run.id}",
            label_visibility="collapsed",
            placeholder=tr("Plain text; @name tells somebody"),
            help=_whom(suggested),
        )
        if view:
            st.checkbox(
                tr("About what is shown: row {row}", row=verbatim(view[ROW][0]))
                if view.get(ROW)
                else tr("About what is shown"),
                value=bool(view.get(ROW)),
                key=f"run-comment-about-{run.id}",
            )
        st.form_submit_button(
            tr("Send"),
            type="primary",
            key=f"run-comment-send-{run.id}",
            on_click=_send,
            args=(access, run.id, view),
        )
    if (refusal := st.session_state.pop(REFUSAL, None)) is not None:
        show_error(refusal)


def _send(access: CommentAccess, run_id: str, view: Mapping[str, Sequence[str]]) -> None:
    is_about_view = st.session_state.get(f"run-comment-about-{run_id}", False)
    try:
        access.write(run_id, st.session_state[f"run-comment-text-{run_id}"], view if is_about_view else None)
    except EngineError as error:
        st.session_state[REFUSAL] = error
    else:
        st.session_state[f"run-comment-text-{run_id}"] = ""
        st.session_state.pop(f"run-comment-about-{run_id}", None)


def _whom(names: Sequence[str]) -> str | None:
    """Whom a comment may name, of those who are suggested."""
    shown = translated(list_of(f"@{name}" for name in names[:NAMES_SHOWN]))
    return verbatim(shown + (", …" if len(names) > NAMES_SHOWN else "")) or None


def _remove(access: CommentAccess, comment_id: str) -> None:
    try:
        access.remove(comment_id)
    except EngineError as error:
        show_error(error)


def _close(access: CommentAccess, run_id: str) -> None:
    try:
        access.close(run_id, bool(st.session_state[f"run-comments-closed-{run_id}"]))
    except EngineError as error:
        show_error(error)
