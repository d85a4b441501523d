"""Runs: what was evaluated so far, found again, compared, tagged, shared and deleted."""

from dataclasses import replace

import streamlit as st

from dashboard import pages
from dashboard.runs import actions, bin_view, listed, viewer_name
from dashboard.runs import search as run_search
from dashboard.shared import run_progress, session
from dashboard.shared.comments import news
from dashboard.shared.wording import show_error
from engine.errors import EngineError
from engine.messages.languages import tr, tr_n
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search

PER_PAGE = 20

pages.heading("runs")
access = session.access()
try:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        whose = run_search.list_choice()
        news.since_last_visit()
        team = whose == run_search.TEAM
        facets = access.facets(team=team)
        search = (
            Search() if whose == run_search.BIN else run_search.search_input(facets, access.owner_names(facets.owners))
        )
    n_matching = access.count(search, team=team)
except EngineError as error:
    show_error(error)
    st.stop()
run_search.unlisted_notice()
actions.undo_line()
if whose == run_search.BIN:
    bin_view.bin_view()
    st.stop()
if not facets.kinds:
    st.info(
        tr("Nobody has shared a run yet. A switch above a run's result shares it.")
        if team and session.hosted()
        else tr("Nothing was evaluated yet. Start with the samples on Clusters, Alignment or Minimal pairs."),
        icon=":material/history:",
    )
    st.stop()


def page_of(number: int) -> list[RunRecord]:
    """One page of the matching runs."""
    part = replace(search, limit=PER_PAGE, offset=(number - 1) * PER_PAGE)
    return listed.with_headlines(access.team(part) if team else access.mine(part))


n_pages = -(-n_matching // PER_PAGE)
table_area = st.container()
number = min(st.pagination(n_pages, key="runs-page"), n_pages) if n_pages > 1 else 1
changing = any(map(listed.is_changing, page_of(number)))


@st.fragment(run_every=run_progress.POLL_SECONDS if changing else None)
def runs_of_page() -> None:
    """The table with what can be done with the chosen runs; drawn at intervals while any of them changes."""
    try:
        runs = page_of(number)
        if changing and not any(map(listed.is_changing, runs)):
            st.rerun()
        listed.open_chosen(runs)
        bar = st.container()
        chosen = listed.run_table(runs, owners=team)
        with bar:
            actions.action_bar(chosen, facets.tags)
    except EngineError as error:
        show_error(error)


if n_matching:
    with table_area:
        runs_of_page()
else:
    st.caption(tr("No run matches."))
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    st.caption(
        tr_n(
            "{n} run. Others see a run only while it is shared.",
            "{n:,} runs. Others see a run only while it is shared.",
            n_matching,
        )
        if session.hosted()
        else tr_n(
            "{n} run. Everybody with access to this instance can open every run; only its owner can delete it.",
            "{n:,} runs. Everybody with access to this instance can open every run; only its owner can delete it.",
            n_matching,
        ),
        width="content",
    )
    if not session.hosted():
        viewer_name.name_popover()
