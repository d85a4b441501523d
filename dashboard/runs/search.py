"""Which runs are listed: one's own, the team's or those in the bin; search, filters and order."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import streamlit as st

from dashboard.faces import FACES
from dashboard.runs.table import STATES
from dashboard.shared import session
from dashboard.shared.headlines import owner_word
from dashboard.shared.wording import verbatim
from engine.errors import EngineError
from engine.messages.languages import in_all_languages, mark, tr, translated
from engine.runs.access.browsers import default_name
from engine.runs.storage.listing import Facets
from engine.runs.storage.searching import Search
from engine.runs.storage.unlisted import advice

MINE, TEAM, BIN = "mine", "team", "bin"
TITLES = {MINE: mark("My runs"), BIN: mark("Bin")}
ORDERS = {
    "newest": mark("Newest first"),
    "oldest": mark("Oldest first"),
    "name": mark("By name"),
    "kind": mark("By kind"),
    "models": mark("By model"),
    "dataset": mark("By dataset"),
    "largest dataset": mark("Largest dataset first"),
    "owner": mark("By owner"),
}


# How long ago a run was started at most, in days.
STARTED = {
    "day": (1, mark("In the last 24 hours")),
    "week": (7, mark("In the last 7 days")),
    "month": (30, mark("In the last 30 days")),
}


def list_choice() -> str:
    """The choice between one's own runs, those of all and the bin."""
    titles = TITLES | {TEAM: mark("Team runs") if session.hosted() else mark("All runs here")}
    lists = [MINE, TEAM, BIN] if session.access().bin_days else [MINE, TEAM]
    default = None if _opened("runs-whose", titles) else MINE
    return str(
        st.segmented_control(
            tr("List"),
            lists,
            default=default,
            required=True,
            key="runs-whose",
            bind="query-params",
            format_func=lambda name: tr(titles[name]),
            label_visibility="collapsed",
        )
    )


def search_input(facets: Facets, names: dict[str, str]) -> Search:
    """The search that the widgets describe; their choices are the values that occur. names: of owners, by id.

    The address names each under the key of its widget.
    """
    kinds = {kind: kind_text(kind) for kind in facets.kinds}
    states = {state: STATES.get(state, state) for state in facets.states}
    _opened("runs-kind", kinds)
    _opened("runs-states", states, several=True)
    _opened("runs-order", ORDERS)
    started = {name: text for name, (_, text) in STARTED.items()}
    _opened("runs-started", started)
    text = st.text_input(
        tr("Search"),
        key="runs-text",
        bind="query-params",
        width=260,
        placeholder=tr("Name, note, tag, data, model"),
        icon=":material/search:",
        label_visibility="collapsed",
    )
    with st.popover(tr("Filter"), icon=":material/filter_alt:", key="runs-filter"):
        since = st.pills(
            tr("Started"),
            list(started),
            format_func=lambda name: tr(started[name]),
            key="runs-started",
            bind="query-params",
        )
        starred = st.toggle(tr("Starred"), key="runs-starred", bind="query-params")
        tags = st.pills(
            tr("Tags"), facets.tags, selection_mode="multi", key="runs-tags", bind="query-params", format_func=verbatim
        )
        kind = st.pills(tr("Kind"), facets.kinds, format_func=kind_title, key="runs-kind", bind="query-params")
        chosen_states = st.pills(
            tr("State"),
            facets.states,
            selection_mode="multi",
            key="runs-states",
            bind="query-params",
            format_func=lambda state: tr(states[state]),
        )
        model = st.selectbox(
            tr("Model"), facets.models, index=None, key="runs-model", bind="query-params", placeholder=tr("Any")
        )
        dataset = st.selectbox(
            tr("Dataset"), facets.datasets, index=None, key="runs-dataset", bind="query-params", placeholder=tr("Any")
        )
        owner = (
            st.selectbox(
                tr("Owner"),
                facets.owners,
                index=None,
                key="runs-owner",
                bind="query-params",
                placeholder=tr("Any"),
                format_func=lambda owner: owner_word(owner, names.get(owner) or default_name(owner)),
            )
            if len(facets.owners) > 1
            else None
        )
    order = st.selectbox(
        tr("Order"),
        list(ORDERS),
        key="runs-order",
        bind="query-params",
        width=190,
        format_func=lambda name: tr(ORDERS[name]),
        label_visibility="collapsed",
    )
    return Search(
        text=text or "",
        kind=kind,
        states=tuple(chosen_states or ()),
        model=model,
        dataset=dataset,
        owner=owner,
        tags=tuple(tags or ()),
        starred_by=session.viewer().id if starred else None,
        since=datetime.now(UTC) - timedelta(days=STARTED[since][0]) if since else None,
        order=order,
    )


def unlisted_notice() -> None:
    """What is on the disk without being in the list of runs, for who operates the instance; else nothing."""
    try:
        if session.hosted() and not session.viewer().is_admin:
            return
        unlisted = session.engine().unlisted.current()
    except EngineError:  # an unreadable list: the search shows the error
        return
    if unlisted:
        st.warning(verbatim(translated(advice(unlisted))), icon=":material/inventory_2:")


def kind_title(kind: str) -> str:
    """The title of the page of a kind of run; the kind itself where another version made it."""
    return tr(kind_text(kind))


def kind_text(kind: str) -> str:
    """`kind_title` in English."""
    return FACES[kind].page.title if kind in FACES else kind


def _opened(key: str, texts: Mapping[str, str], *, several: bool = False) -> bool:
    """Whether an address that a page in another language wrote was opened; then the widget has the choice of it.

    Streamlit has the label of a choice in the address, in the language of the page that wrote it. texts: by choice,
    in English.
    """
    linked = st.query_params.get_all(key)
    if key in st.session_state or not linked or set(linked) <= {tr(text) for text in texts.values()}:
        return False
    choices = {label: choice for choice, text in texts.items() for label in in_all_languages(text)}
    chosen = [choices[label] for label in linked if label in choices]
    if chosen:
        st.session_state[key] = chosen if several else chosen[0]
    return bool(chosen)
