"""Runs: what was evaluated so far, the state of each run, and a link to it."""

import streamlit as st

from dashboard import pages
from dashboard.runs import search as run_search
from dashboard.shared import run_list, run_view, session

PER_PAGE = 15

pages.heading("runs")
with st.container(horizontal=True, vertical_alignment="center"):
    owner = run_search.owner_choice()
    all_runs = run_search.search_runs(owner, run_search.Search(limit=run_search.LISTED))
    search = run_search.search_input(all_runs)
run_search.unlisted_notice()
if not all_runs:
    st.info("Nothing was evaluated yet. Start with the samples on Clusters, Alignment or Minimal pairs."
            if owner == run_search.MINE else "Nobody has shared a run yet. A switch above a run's result shares it.",
            icon=":material/history:")
    st.stop()

matching = run_search.search_runs(owner, search)
n_pages = -(-len(matching) // PER_PAGE)
active = any(view.state in run_view.ACTIVE for view in matching)


@st.fragment(run_every=run_view.POLL_SECONDS if active else None)
def runs_of_page(page: int) -> None:
    """One page of the list; redrawn at intervals while a run is active, and the whole page once none is."""
    runs = run_search.search_runs(owner, search)
    if active and not any(view.state in run_view.ACTIVE for view in runs):
        st.rerun()
    for view in runs[(page - 1) * PER_PAGE:page * PER_PAGE]:
        run_list.run_row(view, manage=session.access().may_change(view))


if not matching:
    st.caption("No run matches.")
runs_of_page(st.pagination(n_pages, key="runs-page") if n_pages > 1 else 1)
if len(all_runs) > 1:
    run_search.comparison(all_runs)
st.caption("Deleting a run deletes its result and its data, not what the models computed: the same run again is quick. "
           + ("Others see a run only while it is shared." if session.hosted() else
              "Whoever has a run's link can open it."))
