"""One kept data set: its rows, its versions, the runs that used it, and what can be done with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import pages
from dashboard.datasets.extending import extending
from dashboard.datasets.table import HASH_DIGITS, fitting_kinds
from dashboard.faces import FACES
from dashboard.shared import run_list, session
from dashboard.shared.exports.bundle.data import data_file
from dashboard.shared.exports.file_names import of_name
from dashboard.shared.inputs.kept import choose_on, opened, version_choice
from dashboard.shared.theme import list_height
from dashboard.shared.wording import ago, show_error, verbatim
from engine.datasets.formats.files import SUFFIXES
from engine.datasets.labelled.outside_vectors import without_vectors
from engine.errors import EngineError
from engine.messages.languages import tr, tr_n, translated
from engine.messages.message import list_of
from engine.runs.access.datasets import DatasetAccess
from engine.runs.naming import MAX_NAME_CHARACTERS
from engine.runs.storage.kept import KeptDataset

RUNS_SHOWN = 20


def details(known: KeptDataset, access: DatasetAccess) -> None:
    """Draw the chosen data set."""
    number = version_choice(known, key=f"datasets-version-{known.id}-{known.newest.number}")
    version = known.version(number)
    try:
        dataset = opened(known, number)
        runs = access.used_by(known.id)
    except EngineError as error:
        show_error(error)
        return
    if version is not None:
        st.caption(
            verbatim(
                tr_n(
                    "{n} row, kept {ago}, content hash {digits}",
                    "{n:,} rows, kept {ago}, content hash {digits}",
                    version.n_rows,
                    ago=ago(version.created),
                    digits=version.dataset_hash[:HASH_DIGITS],
                )
            )
        )
    st.dataframe(
        without_vectors(dataset.to_frame()),
        hide_index=True,
        height=list_height(dataset.n, 260),
        placeholder="–",
        alt=tr("The rows of the data set"),
    )
    for notice in dataset.notices:
        st.caption(f":material/info: {verbatim(translated(notice))}")  # untranslated
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for kind in fitting_kinds(known):
            _use_button(kind, known, number)
        file = data_file(dataset, by_names_alone=True)
        st.download_button(
            tr("Download"),
            file.content,
            key="datasets-download",
            on_click="ignore",
            icon=":material/download:",
            file_name=f"{_file_name(dataset.name)}{Path(file.name).suffix}",
        )
        if access.may_change(known):
            _manage(known, access)
    if access.may_change(known):
        extending(known, access)
    with st.expander(
        tr("Runs on these data: {n:,}", n=len(runs)), icon=pages.card("runs").icon, key=f"datasets-runs-{known.id}"
    ):
        for run, numbers in runs[:RUNS_SHOWN]:
            run_list.run_row(run)
            if len(known.versions) > 1:
                st.caption(
                    tr_n(
                        "On version {versions}.",
                        "On versions {versions}.",
                        len(numbers),
                        versions=translated(list_of(map(str, numbers))),
                    )
                )
        if not runs:
            st.caption(tr("No run has used these data yet."))


def _use_button(kind: str, known: KeptDataset, number: int) -> None:
    page = FACES[kind].page
    if st.button(tr("Use on {page}", page=tr(page.title)), key=f"datasets-use-{kind}", icon=page.icon):
        choose_on(kind, known, number)
        st.session_state.update(FACES[kind].data_choices)
        st.switch_page(pages.path(page.name))


def _manage(known: KeptDataset, access: DatasetAccess) -> None:
    if session.hosted():
        key = f"datasets-share-{known.id}"
        st.toggle(tr("Shared with the team"), value=known.shared, key=key, on_change=_share, args=(known.id, key))
    with (
        st.popover(tr("Rename"), type="tertiary", icon=":material/edit:", key=f"datasets-rename-{known.id}"),
        st.form(f"datasets-rename-form-{known.id}", border=False),
    ):
        name = st.text_input(tr("Name"), known.name, max_chars=MAX_NAME_CHARACTERS, key=f"datasets-name-{known.id}")
        if st.form_submit_button(tr("Save"), type="primary", key=f"datasets-save-{known.id}"):
            _do_and_redraw(lambda: access.rename(known.id, name))
    with st.popover(tr("Delete"), type="tertiary", icon=":material/delete:", key=f"datasets-delete-{known.id}"):
        st.caption(
            tr_n(
                "{name} is deleted for good, with its {n} version. Runs on it keep their data.",
                "{name} is deleted for good, with all its {n:,} versions. Runs on it keep their data.",
                len(known.versions),
                name=verbatim(known.name),
            )
        )
        if st.button(tr("Delete for good"), type="primary", key=f"datasets-delete-sure-{known.id}"):
            st.query_params.pop("dataset", None)
            _do_and_redraw(lambda: access.delete(known.id))


def _share(set_id: str, key: str) -> None:
    try:
        session.datasets().share(set_id, bool(st.session_state[key]))
    except EngineError as error:
        show_error(error)


def _do_and_redraw(change: Any) -> None:
    try:
        change()
    except EngineError as error:
        show_error(error)
        return
    st.rerun()


def _file_name(name: str) -> str:
    """The name of a data set as that of a file, without an ending."""
    stem, ending = os.path.splitext(name)  # of a message too, which a path cannot be made of
    return of_name(stem if ending in SUFFIXES else name, "data")
