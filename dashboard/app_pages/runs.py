"""Runs: what was weighed so far, its state, and a link to each."""

import streamlit as st

from dashboard import pages, run_list, run_view

LISTED = 300
PER_PAGE = 15

pages.heading("runs")
runs = run_list.recent(LISTED)
if not runs:
    st.info("Nothing was weighed yet. Begin with the samples on Clusters, Alignment or Minimal pairs.",
            icon=":material/history:")
    st.stop()

kinds = sorted({view.state for view in runs})
with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
    states = st.pills("State", kinds, selection_mode="multi", key="runs-states") if len(kinds) > 1 else []
    pages_needed = -(-len([view for view in runs if not states or view.state in states]) // PER_PAGE)
    page = st.pagination(pages_needed, key="runs-page") if pages_needed > 1 else 1
active = any(view.state in run_view.ACTIVE for view in runs)


@st.fragment(run_every=run_view.POLL_SECONDS if active else None)
def listed() -> None:
    """The list; while something runs it is drawn again every moment, and the page once nothing does."""
    now = run_list.recent(LISTED)
    if active and not any(view.state in run_view.ACTIVE for view in now):
        st.rerun()
    chosen = [view for view in now if not states or view.state in states]
    for view in chosen[(page - 1) * PER_PAGE:page * PER_PAGE]:
        run_list.line(view, manage=True)


listed()
st.caption("Whoever has a run's link can open it; the list shows your own runs only. "
           "Deleting a run deletes its result, not the cached pieces, so the same run again is quick.")
