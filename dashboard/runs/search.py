"""Finding runs: whose, and what is looked for; and putting some beside each other."""

from __future__ import annotations

import streamlit as st

from dashboard import pages
from dashboard.runs.comparing import compared, distinct
from dashboard.shared import run_view, session
from dashboard.shared.headlines import HEADLINES
from dashboard.shared.wording import show_error, verbatim
from engine.errors import EngineError
from engine.evaluations.catalog import EVALUATIONS
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search

MINE, TEAM = "My runs", "Team runs"
LISTED = 300
COMPARED = 6


def whose() -> str:
    """The choice between one's own runs and those the team shares; on one's own machine there is no team."""
    if not session.hosted():
        return MINE
    return st.segmented_control("Whose", [MINE, TEAM], default=MINE, required=True, key="runs-whose",
                                label_visibility="collapsed")


def search_input(known: list[RunRecord]) -> Search:
    """What is looked for; the choices are what `known` runs have."""
    text = st.text_input("Search", key="runs-text", placeholder="Name, note, dataset or model",
                         icon=":material/search:", label_visibility="collapsed")
    kinds = sorted({run.kind for run in known})
    with st.popover("Filter", icon=":material/filter_alt:", key="runs-filter"):
        kind = st.pills("Kind", kinds, format_func=_title, key="runs-kind")
        states = st.pills("State", sorted({run.state for run in known}), selection_mode="multi", key="runs-states")
        model = st.selectbox("Model", sorted({name for run in known for name in run.models}), index=None,
                             key="runs-model", placeholder="Any")
        dataset = st.selectbox("Dataset", sorted({run.dataset_name for run in known}), index=None, key="runs-dataset",
                               placeholder="Any")
    return Search(text=text or "", kind=kind, states=tuple(states or ()), model=model, dataset=dataset, limit=LISTED)


def found(whose: str, search: Search) -> list[RunRecord]:
    """The runs that a search finds; an unreadable store is explained and gives none."""
    try:
        access = session.access()
        return access.mine(search) if whose == MINE else access.team(search)
    except EngineError as error:
        show_error(error)
        return []


def comparison(known: list[RunRecord]) -> None:
    """Pick some runs, and see where they differ."""
    by_id = {run.id: run for run in known}
    labels = dict(zip(by_id, distinct([f"{run.name} · {run.created:%Y-%m-%d %H:%M}" for run in known]), strict=True))
    chosen = st.multiselect("Compare", list(by_id), format_func=labels.__getitem__,
                            max_selections=COMPARED, key="runs-compared", placeholder="Two or more runs")
    runs = [by_id[run_id] for run_id in chosen if run_id in by_id]
    if len(runs) < 2:
        return
    try:
        headlines = {run.id: HEADLINES[run.kind](run_view.load_result(run.id)) for run in runs
                     if run.state == "done" and run.kind in HEADLINES}
    except EngineError as error:
        show_error(error)
        return
    table = compared(runs, headlines)
    if table.empty:
        st.caption("These runs have the same settings, data and numbers.")
        return
    st.dataframe(table, hide_index=True, placeholder="–", alt="The runs that were chosen, beside each other",
                 column_config={"what": st.column_config.TextColumn("", pinned=True)})
    st.caption("Settings in which all of them agree are left out.")


def _title(kind: str) -> str:
    evaluation = EVALUATIONS.get(kind)
    page = pages.PAGE_BY_KIND.get(kind)
    return pages.card(page).title if page else verbatim(evaluation.title if evaluation else kind)
