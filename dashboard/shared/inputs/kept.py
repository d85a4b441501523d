"""Kept data sets as data of a page: the choice of one, and the button that keeps what was uploaded or pasted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import pages
from dashboard.shared import session
from dashboard.shared.wording import ago, show_error, verbatim
from engine.errors import EngineError
from engine.evaluations.catalog import EVALUATIONS
from engine.messages.languages import tr, tr_n
from engine.runs.access.datasets import FROM_KEPT, TYPES
from engine.runs.naming import MAX_NAME_CHARACTERS
from engine.runs.storage.kept import KeptDataset

KEPT_OPEN = 2  # for each session: a data set can be large


def kept_type(kind: str) -> type[Any] | None:
    """The type of dataset that an input of that kind takes; None where it cannot be kept."""
    evaluation = EVALUATIONS.get(kind)
    return evaluation.dataset_type if evaluation and evaluation.dataset_type.__name__ in TYPES else None


def kept_input(kind: str, dataset_type: type[Any]) -> Any | None:
    """Draws the choice of a kept data set and its version; the dataset, or None where there is none."""
    try:
        by_id = {known.id: known for known in session.datasets().readable(dataset_type)}
        if not by_id:
            st.caption(tr("None of this format is kept yet. Upload or paste data, and press *Keep* beside their rows."))
            return None
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            if st.session_state.get(f"{kind}-kept") not in by_id:
                st.session_state.pop(f"{kind}-kept", None)  # it was deleted, or is no longer shared
            chosen = st.selectbox(
                tr("Kept data set"),
                list(by_id),
                format_func=lambda set_id: label(by_id[set_id]),
                key=f"{kind}-kept",
                label_visibility="collapsed",
                persist_state="session",
            )
            known = by_id[chosen]
            number = version_choice(known, key=_version_key(kind, known))
            st.page_link(
                pages.path("datasets"),
                label=tr("Open"),
                icon=pages.card("datasets").icon,
                query_params={"dataset": known.id},
            )
        dataset = opened(known, number)
        return _as_input(known.id, number, dataset.name, dataset.content_hash, dataset)
    except EngineError as error:
        show_error(error)
        return None


def choose_on(kind: str, known: KeptDataset, number: int) -> None:
    """Make a version of a data set the data of the page of a kind, before that page is opened."""
    st.session_state[f"{kind}-source"] = "kept"
    st.session_state[f"{kind}-kept"] = known.id
    st.session_state[_version_key(kind, known)] = number


def version_choice(known: KeptDataset, key: str) -> int:
    """Draws a choice where there are several versions; the number of the chosen one, at first the newest."""
    if len(known.versions) == 1:
        return known.newest.number
    numbers = [version.number for version in reversed(known.versions)]
    rows = {version.number: tr_n("{n} row", "{n:,} rows", version.n_rows) for version in known.versions}
    return st.selectbox(
        tr("Version"),
        numbers,
        key=key,
        width=200,
        label_visibility="collapsed",
        format_func=lambda number: tr("Version {number}: {rows}", number=number, rows=rows[number]),
    )


def opened(known: KeptDataset, number: int) -> Any:
    """The content of a version, read once for a session. Raises as `DatasetAccess.dataset`."""
    version = known.version(number)
    with st.spinner(tr("Opening the data set …")):
        return _opened(known.id, number, f"{known.name} {version.dataset_hash if version else ''}")


def keep_popover(kind: str, dataset: Any) -> None:
    """Draws a button that keeps the data under a name."""
    with st.popover(
        tr("Keep"),
        key=f"{kind}-keep",
        type="tertiary",
        icon=":material/inventory_2:",
        help=tr("Keep these data under a name, to use them again here and on other pages."),
    ):
        name = st.text_input(
            tr("Name"), dataset.name, max_chars=MAX_NAME_CHARACTERS, key=f"{kind}-keep-name-{dataset.content_hash[:12]}"
        )
        if st.button(tr("Keep these data"), key=f"{kind}-keep-submit", type="primary"):
            try:
                set_id = session.datasets().keep(dataset, name)
            except EngineError as error:
                show_error(error)
                return
            st.success(tr("Kept as {name}.", name=verbatim(name)), icon=":material/check:")
            st.page_link(
                pages.path("datasets"),
                label=tr("Open it"),
                icon=pages.card("datasets").icon,
                query_params={"dataset": set_id},
            )


def label(known: KeptDataset) -> str:
    """A kept data set in a list: name, rows, owner where that is somebody else, and when it was last extended."""
    access = session.datasets()
    owner = [] if access.may_change(known) else [tr("of {owner}", owner=access.owner_name(known))]
    rows = tr_n("{n} row", "{n:,} rows", known.newest.n_rows)
    parts = [known.name, rows, *owner, ago(known.newest.created)]
    return " · ".join(parts)


def _version_key(kind: str, known: KeptDataset) -> str:
    """The key of the choice of a version; that of an extended data set is another one, which begins at the newest."""
    return f"{kind}-kept-version-{known.id}-{known.newest.number}"


@st.cache_resource(max_entries=KEPT_OPEN, scope="session", show_spinner=False)
def _opened(set_id: str, number: int, content: str) -> Any:
    return session.datasets().dataset(set_id, number)


@st.cache_resource(max_entries=KEPT_OPEN, scope="session", show_spinner=False)
def _as_input(set_id: str, number: int, name: str, content: str, _dataset: Any) -> Any:
    """The dataset with a notice that it was kept, which says that no file has its name."""
    return replace(_dataset, notices=(FROM_KEPT.format(name=name), *_dataset.notices))
