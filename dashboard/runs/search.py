"""Which runs are listed: one's own, the team's or those in the bin; search, filters and order."""

from __future__ import annotations

import streamlit as st

from dashboard import pages
from dashboard.shared import session
from dashboard.shared.wording import verbatim
from engine.errors import EngineError
from engine.evaluations.catalog import EVALUATIONS
from engine.runs.access.browsers import default_name
from engine.runs.storage.listing import Facets
from engine.runs.storage.searching import Search
from engine.runs.storage.unlisted import advice

MINE, TEAM, BIN = "mine", "team", "bin"
TITLES = {MINE: "My runs", BIN: "Bin"}
ORDERS = {"newest": "Newest first", "oldest": "Oldest first", "name": "By name", "kind": "By kind",
          "models": "By model", "dataset": "By dataset", "largest dataset": "Largest dataset first",
          "owner": "By owner"}


def list_choice() -> str:
    """The choice between one's own runs, those of all and the bin."""
    team = "Team runs" if session.hosted() else "All runs here"
    lists = [MINE, TEAM, BIN] if session.access().bin_days else [MINE, TEAM]
    return st.segmented_control("List", lists, default=MINE, required=True, key="runs-whose",
                                format_func=lambda name: TITLES.get(name, team), label_visibility="collapsed")


def search_input(facets: Facets, names: dict[str, str]) -> Search:
    """The search that the widgets describe; their choices are the values that occur. names: of owners, by id."""
    text = st.text_input("Search", key="runs-text", placeholder="Name, note, tag, dataset or model", width=260,
                         icon=":material/search:", label_visibility="collapsed")
    with st.popover("Filter", icon=":material/filter_alt:", key="runs-filter"):
        starred = st.toggle("Starred", key="runs-starred")
        tags = st.pills("Tags", facets.tags, selection_mode="multi", key="runs-tags", format_func=verbatim)
        kind = st.pills("Kind", facets.kinds, format_func=kind_title, key="runs-kind")
        states = st.pills("State", facets.states, selection_mode="multi", key="runs-states")
        model = st.selectbox("Model", facets.models, index=None, key="runs-model", placeholder="Any")
        dataset = st.selectbox("Dataset", facets.datasets, index=None, key="runs-dataset", placeholder="Any")
        owner = st.selectbox("Owner", facets.owners, index=None, key="runs-owner", placeholder="Any",
                             format_func=lambda owner: names.get(owner) or default_name(owner)
                             ) if len(facets.owners) > 1 else None
    order = st.selectbox("Order", list(ORDERS), key="runs-order", format_func=ORDERS.__getitem__, width=190,
                         label_visibility="collapsed")
    return Search(text=text or "", kind=kind, states=tuple(states or ()), model=model, dataset=dataset, owner=owner,
                  tags=tuple(tags or ()), starred_by=session.viewer().id if starred else None, order=order)


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


def kind_title(kind: str) -> str:
    """The title of the page of a kind of run; the kind itself where another version made it."""
    evaluation = EVALUATIONS.get(kind)
    page = pages.PAGE_BY_KIND.get(kind)
    return pages.card(page).title if page else evaluation.title if evaluation else kind
