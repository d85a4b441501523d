"""The predictions that belong to an upload of XC-Translate's references: a second uploader, and both as one table."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.inputs.uploads import read_upload
from engine.datasets import xc_translate
from engine.datasets.formats.files import JSON_SUFFIXES, Table
from engine.messages.languages import tr


def with_predictions(kind: str, file_id: str, table: Table, skip_bad_rows: bool) -> tuple[Table, str] | None:
    """The table of an upload as pairs, and an id of all that is uploaded; None while predictions are missing.

    Any table but references of XC-Translate stays as it is, with the id of its file. Raises InputError.
    """
    if not xc_translate.is_published(table):
        return table, file_id
    if xc_translate.PREDICTION not in table.frame.columns:
        uploads = st.file_uploader(
            tr("Predictions"),
            type=[suffix.lstrip(".") for suffix in JSON_SUFFIXES],
            accept_multiple_files=True,
            key=f"{kind}-predictions-{file_id}",
            help=tr("JSON lines of id and prediction; a file for each system."),
        )
        if not uploads:
            st.caption(tr("References of XC-Translate: their predictions are in a file of their own, joined by id."))
            return None
        ids = tuple(upload.file_id for upload in uploads)
        predictions = read_upload(
            xc_translate.read_predictions,
            ids,
            lambda: [(upload.name, upload.getvalue()) for upload in uploads],
            skip_bad_rows=skip_bad_rows,
        )
        table, file_id = xc_translate.with_predictions(table, predictions), "+".join((file_id, *ids))
    return xc_translate.as_pairs(table, skip_bad_rows=skip_bad_rows), file_id
