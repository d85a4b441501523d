"""Search among runs, one's own or the team's, and a comparison of some of them."""

from __future__ import annotations

import streamlit as st

from dashboard import pages
from dashboard.runs.comparing import comparison_table, distinct
from dashboard.shared import run_view, session
from dashboard.shared.headlines import HEADLINES
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.comparison.records import KINDS
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search
from engine.runs.storage.unlisted import advice

MINE, TEAM = "My runs", "Team runs"
LISTED = 300
COMPARED = 6


def owner_choice() -> str:
    """The choice between one's own runs and those that the team shares; without sign-in there is no team."""
    if not session.hosted():
        return MINE
    return st.segmented_control("Owner", [MINE, TEAM], default=MINE, required=True, key="runs-whose",
                                label_visibility="collapsed")


def search_input(runs: list[RunRecord]) -> Search:
    """The search that the widgets describe; their choices are the values that occur in `runs`."""
    text = st.text_input("Search", key="runs-text", placeholder="Name, note, dataset or model",
                         icon=":material/search:", label_visibility="collapsed")
    kinds = sorted({run.kind for run in runs})
    with st.popover("Filter", icon=":material/filter_alt:", key="runs-filter"):
        kind = st.pills("Kind", kinds, format_func=_title, key="runs-kind")
        states = st.pills("State", sorted({run.state for run in runs}), selection_mode="multi", key="runs-states")
        model = st.selectbox("Model", sorted({name for run in runs for name in run.models}), index=None,
                             key="runs-model", placeholder="Any")
        dataset = st.selectbox("Dataset", sorted({run.dataset_name for run in runs}), index=None, key="runs-dataset",
                               placeholder="Any")
    return Search(text=text or "", kind=kind, states=tuple(states or ()), model=model, dataset=dataset, limit=LISTED)


def search_runs(owner: str, search: Search) -> list[RunRecord]:
    """The matching runs; of an unreadable store the error is shown, and none are returned."""
    try:
        access = session.access()
        return access.mine(search) if owner == MINE else access.team(search)
    except EngineError as error:
        show_error(error)
        return []


def unlisted_notice() -> None:
    """What is on the disk without being in the list of runs, for who operates the instance; else nothing."""
    try:
        if session.hosted() and not session.viewer().is_admin:
            return
        unlisted = session.engine().unlisted.current()
    except EngineError:  # an unreadable list: the search shows the error
        return
    if unlisted:
        st.warning(verbatim(advice(unlisted)), icon=":material/inventory_2:")


def comparison(runs: list[RunRecord]) -> None:
    """Draw a choice among `runs` and a table of what differs between the chosen ones."""
    by_id = {run.id: run for run in runs}
    labels = dict(zip(by_id, distinct([f"{run.name} · {run.created:%Y-%m-%d %H:%M}" for run in runs]), strict=True))
    chosen = st.multiselect("Compare", list(by_id), format_func=labels.__getitem__,
                            max_selections=COMPARED, key="runs-compared", placeholder="Two or more runs")
    selected = [by_id[run_id] for run_id in chosen if run_id in by_id]
    if len(selected) < 2:
        return
    try:
        headlines = {run.id: HEADLINES[run.kind](run_view.load_result(run.id)) for run in selected
                     if run.state == "done" and run.kind in HEADLINES}
    except EngineError as error:
        show_error(error)
        return
    table = comparison_table(selected, headlines)
    if table.empty:
        st.caption("These runs have the same settings, data and numbers.")
        return
    st.dataframe(table, hide_index=True, placeholder="–", alt="The selected runs side by side",
                 column_config={"what": st.column_config.TextColumn("", pinned=True)})
    st.caption("Settings that all of them share are left out; numbers are those of each run as it was submitted.")
    if len(selected) == 2 and len({run.kind for run in selected}) == 1 and selected[0].kind in KINDS:
        run_view.compare_link("Differences, tests and what changed most", selected[0].id, other_id=selected[1].id)


def _title(kind: str) -> str:
    evaluation = EVALUATIONS.get(kind)
    page = pages.PAGE_BY_KIND.get(kind)
    return pages.card(page).title if page else verbatim(evaluation.title if evaluation else kind)
