"""What is new since the viewer's last visit: comments that concern them, and runs that others have shared."""

from __future__ import annotations

import streamlit as st

from dashboard.shared import session
from dashboard.shared.comments.talk import about
from dashboard.shared.headlines import owner_word, run_title
from dashboard.shared.run_links import run_link
from dashboard.shared.wording import ago, show_error, verbatim
from engine.errors import EngineError
from engine.messages.languages import tr
from engine.runs.comments.access import MOST_NEW, CommentAccess
from engine.runs.storage.searching import Search

SINCE = "new-since"  # in the session: the last visit before it
LONGEST = 120  # characters of a comment


def since_last_visit() -> None:
    """Draw a popover of what is new; nothing where nothing is. A visit begins with a session of the browser."""
    access = session.access()
    talks = CommentAccess(access)
    try:
        if SINCE not in st.session_state:
            st.session_state[SINCE] = talks.since_last_time()
        since = st.session_state[SINCE]
        found = talks.new(since)
        runs = access.team(Search(new_since=since, but_owners=access.own, limit=MOST_NEW))
        names = access.owner_names([*(comment.author for comment, _ in found), *(run.owner for run in runs)])
    except EngineError as error:
        show_error(error)
        return
    if not found and not runs:
        return
    with st.popover(
        tr("New since your last visit ({n})", n=len(found) + len(runs)),
        icon=":material/notifications:",
        type="tertiary",
        key="new-since-last-visit",
    ):
        for comment, run in found:
            author, text = owner_word(comment.author, names[comment.author]), " ".join(comment.text.split())
            short = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
            st.markdown(f":gray[{verbatim(author)} · {ago(comment.created)}]  \n{verbatim(short)}")  # untranslated
            with st.container(horizontal=True, gap="small"):
                run_link(run, run_title(run))
                about(run, comment)
        for run in runs:
            owner = verbatim(owner_word(run.owner, names[run.owner]))
            st.markdown(f":gray[{owner} · {ago(run.created)}]")  # untranslated
            run_link(run, run_title(run))
