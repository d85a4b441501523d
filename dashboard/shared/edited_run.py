"""What somebody edited on a result's page and weighed again: a small run of its own, shown below the one it came from.

Its address is part of the page's (`…&edited=<id>&of=<the run on show>`), so a reload keeps it and nobody waits for it.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.shared import run_view, session
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError

POLL_SECONDS = 0.3
EDITED, OF = "edited", "of"


def submit_edited(kind: str, run_id: str, settings: Any, dataset: Any) -> None:
    """Submit what was edited on the page of `run_id`, and draw the page again with its address. Raises EngineError."""
    submission = session.access().submit(kind, settings, dataset)
    st.query_params.update({EDITED: submission.run_id, OF: run_id})
    st.rerun()


def edited_result(kind: str, run_id: str) -> tuple[str, Any] | None:
    """Id and result of the edited run that the address names, its heading being drawn; None where there is none.

    Until it is done how far it is stands there, or what failed. `kind` and `run_id` are those of the run on show.
    """
    edited = st.query_params.get(EDITED)
    if not edited or st.query_params.get(OF) != run_id:
        return None
    view = session.access().get(edited)
    if view is None or view.kind != kind:
        return None
    if view.state in run_view.ACTIVE:
        _watch(edited)
        return None
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown("**Edited**", width="content")
        if st.button("Close", key=f"{kind}-edited-close", type="tertiary", icon=":material/close:"):
            del st.query_params[EDITED], st.query_params[OF]
            st.rerun()
    if view.state != "done":
        st.error(verbatim(view.message or "This was stopped."), icon=":material/error:")
        return None
    try:
        return edited, run_view.load_result(edited)
    except EngineError as error:
        show_error(error)
        return None


@st.fragment(run_every=POLL_SECONDS)
def _watch(edited: str) -> None:
    """How far the small run is, drawn again every moment."""
    view = run_view.still_active(edited)
    if view is not None:
        run_view.progress(view)
