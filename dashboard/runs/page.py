"""Runs: what was weighed so far, its state, and a link to each."""

import streamlit as st

from dashboard import pages
from dashboard.runs import search as run_search
from dashboard.shared import run_list, run_view, session

PER_PAGE = 15

pages.heading("runs")
with st.container(horizontal=True, vertical_alignment="center"):
    whose = run_search.whose()
    known = run_search.found(whose, run_search.Search(limit=run_search.LISTED))
    search = run_search.search_input(known)
if not known:
    st.info("Nothing was weighed yet. Begin with the samples on Clusters, Alignment or Minimal pairs."
            if whose == run_search.MINE else "Nobody has shared a run yet. A switch above a run's result shares it.",
            icon=":material/history:")
    st.stop()

matching = run_search.found(whose, search)
n_pages = -(-len(matching) // PER_PAGE)
active = any(view.state in run_view.ACTIVE for view in matching)


@st.fragment(run_every=run_view.POLL_SECONDS if active else None)
def listed(page: int) -> None:
    """The list; while something runs it is drawn again every moment, and the page once nothing does."""
    now = run_search.found(whose, search)
    if active and not any(view.state in run_view.ACTIVE for view in now):
        st.rerun()
    for view in now[(page - 1) * PER_PAGE:page * PER_PAGE]:
        run_list.line(view, manage=session.access().may_change(view))


if not matching:
    st.caption("No run is like that.")
listed(st.pagination(n_pages, key="runs-page") if n_pages > 1 else 1)
if len(known) > 1:
    run_search.comparison(known)
st.caption("Deleting a run deletes its result and its data, not the cached pieces, so the same run again is quick. " + (
    "Others see a run only while it is shared." if session.hosted() else "Whoever has a run's link can open it."))
