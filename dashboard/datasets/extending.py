"""Rows appended to a kept data set: a file or pasted lines, kept as its next version."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.datasets.table import fitting_kinds
from dashboard.faces import FACES
from dashboard.shared.inputs import inputs
from dashboard.shared.inputs.columns import column_choice
from dashboard.shared.inputs.minimal_pairs import mapping_input
from dashboard.shared.inputs.pasted import pasted_table
from dashboard.shared.inputs.uploads import first_row_popover, reading_of
from dashboard.shared.wording import show_error, verbatim
from engine.datasets.appending import appended
from engine.datasets.minimal_pairs import pairs as minimal_pairs
from engine.errors import EngineError, InputError
from engine.messages.languages import tr, tr_n, translated
from engine.runs.access.datasets import DatasetAccess
from engine.runs.storage.kept import KeptDataset


def extending(known: KeptDataset, access: DatasetAccess) -> None:
    """Draw, folded, the input of further rows, and what the next version would be."""
    module = next(form.module for kind in fitting_kinds(known) if (form := FACES[kind].form) is not None)
    place = f"datasets-{known.id}-{known.newest.number}"  # of a new version everything begins anew
    with st.expander(tr("Add rows"), icon=":material/playlist_add:", key=f"{place}-extend"):
        skip = bool(st.session_state.get(f"{place}-skip-bad-rows"))
        offers_skipping = skip
        try:
            extended = _extended(known, access, module, place, skip)
        except EngineError as error:
            show_error(error)
            extended, offers_skipping = None, skip or (isinstance(error, InputError) and bool(error.rows))
        if offers_skipping:
            st.checkbox(tr("Leave out rows that cannot be used"), key=f"{place}-skip-bad-rows")
        if extended is None:
            return
        for notice in extended.notices:
            st.caption(f":material/info: {verbatim(translated(notice))}")  # untranslated
        n_further = extended.n - known.newest.n_rows
        st.caption(
            tr_n(
                "{n} row is added to the {n_before:,} of version {version}, which stays unchanged, also for its runs.",
                "{n:,} rows are added to the {n_before:,} of version {version}, which stays unchanged, also for its runs.",
                n_further,
                n_before=known.newest.n_rows,
                version=known.newest.number,
            )
        )
        if st.button(
            tr("Keep as version {version}", version=known.newest.number + 1), type="primary", key=f"{place}-keep"
        ):
            try:
                access.extend(known.id, extended)
            except EngineError as error:
                show_error(error)
                return
            st.rerun()


def _extended(known: KeptDataset, access: DatasetAccess, module: Any, place: str, skip: bool) -> Any | None:
    """The data set with what is uploaded or pasted; None while nothing is."""
    upload = st.file_uploader(tr("File"), type=list(inputs.SUFFIXES), key=f"{place}-file", label_visibility="collapsed")
    with st.form(f"{place}-paste", border=False):
        text = st.text_area(
            tr("Or rows"),
            key=f"{place}-text",
            height=100,
            label_visibility="collapsed",
            placeholder=tr("Or pasted rows, fields separated by a tab or a comma"),
        )
        st.form_submit_button(tr("Use these rows"), key=f"{place}-use")
    columns: Any = None
    if upload is not None:
        table = inputs.uploaded_table(place, upload, skip, module)
        header = reading_of(place, upload.file_id)["header"]
        file_id = f"{upload.file_id}{header}"
        columns = (
            mapping_input(place, file_id, [table])
            if module is minimal_pairs
            else column_choice(place, file_id, module, table)
        )
        first_row_popover(place, upload.file_id, [upload.name])
        if columns is None:
            return None
    elif text.strip():
        table, _ = pasted_table(text, skip, module)
    else:
        return None
    return appended(access.dataset(known.id), table, columns, skip_bad_rows=skip)
