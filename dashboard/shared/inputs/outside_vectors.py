"""Uploaded vectors of labelled sentences that were computed elsewhere, as further models of a run: in a popover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.shared.inputs.inputs import skip_bad_rows_box, skips_bad_rows
from dashboard.shared.inputs.uploads import read_upload
from dashboard.shared.wording import show_error, verbatim
from engine.datasets.formats.columns import VECTORS_GIVEN
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.outside_names import VECTORS_PREFIX
from engine.datasets.vectors.files import FORMS, SUFFIXES, VectorFile, read_each
from engine.datasets.vectors.matching import attached, labels_apart
from engine.errors import EngineError, InputError
from engine.messages.languages import mark, tr, tr_n, translated

HELP = mark(
    "Vectors of the same sentences, computed elsewhere, such as by an embedding service: each file is one model, or several "
    "by their names in it."
)
MATCHED_KEPT = 2  # for each session


def vectors_input(kind: str, dataset: LabelledSentences | None) -> tuple[LabelledSentences | None, tuple[str, ...]]:
    """Draw the popover of a page; the dataset with the vectors of the uploaded files, or as it is, and their models.

    Where a file cannot be used its error is shown, and there is no dataset, so that nothing is submitted without it.
    """
    with st.popover(
        _title(kind),
        icon=":material/upload_file:",
        key=f"{kind}-vectors",
        type="tertiary",
        width="content",
        help=tr("Vectors that were computed elsewhere become a model like any other."),
    ):
        uploads = st.file_uploader(
            tr("Files of vectors"),
            type=[suffix.lstrip(".") for suffix in SUFFIXES],
            accept_multiple_files=True,
            key=f"{kind}-vectors-files",
            help=tr(HELP),
        )
        if not uploads:
            st.caption(tr(HELP))
            for layout, wants in FORMS.items():
                st.caption(f"**{verbatim(translated(layout))}**: {verbatim(translated(wants))}")  # untranslated
            return dataset, ()
    if dataset is None:
        return None, ()
    own = f"{kind}-vectors"
    skipping = skips_bad_rows(kind) or skips_bad_rows(own)
    matched, has_bad_rows = None, False
    try:
        matched = _with(dataset, uploads, skipping)
    except EngineError as error:
        show_error(error)
        has_bad_rows = isinstance(error, InputError) and bool(error.rows)
    if has_bad_rows or skips_bad_rows(own):
        skip_bad_rows_box(own)
    return matched, tuple(vectors.name for vectors in matched.vectors) if matched is not None else ()


def _title(kind: str) -> str:
    n = len(st.session_state.get(f"{kind}-vectors-files") or ())
    return tr_n("Vectors of {n} file", "Vectors of {n:,} files", n) if n else tr("Vectors from a file")


def _with(dataset: LabelledSentences, uploads: Sequence[Any], skipping: bool) -> LabelledSentences:
    ids = "-".join(str(upload.file_id) for upload in uploads)
    # All at once: what is read is kept of two readings, so that of three files each would be read at every drawing.
    files = read_upload(
        read_each, ids, lambda: tuple((upload.name, upload.getvalue()) for upload in uploads), skip_bad_rows=skipping
    )
    matched = _matched(dataset.content_hash, " ".join(dataset.notices), ids, skipping, dataset, files)
    for vectors in matched.vectors:
        name = vectors.name.partition("=")[0].removeprefix(VECTORS_PREFIX)
        n_dims = tr("{n:,} dimensions", n=vectors.vectors.shape[1])
        st.caption(
            f":material/check: {verbatim(name)}: {verbatim(vectors.file)}, {n_dims} "  # untranslated
            f"({verbatim(translated(vectors.form))})"
        )
    for notice in matched.notices[len(dataset.notices) :]:
        if notice.startswith(VECTORS_GIVEN):  # for the printed command
            continue
        st.caption(f":material/info: {verbatim(translated(notice))}")  # untranslated
    return replace(matched, name=dataset.name)


@st.cache_resource(max_entries=MATCHED_KEPT, scope="session", show_spinner=False)
def _matched(
    content_hash: str, notices: str, ids: str, skipping: bool, _dataset: LabelledSentences, _files: Sequence[VectorFile]
) -> LabelledSentences:
    # The notices of the data, which its hash leaves out, are among those of what is attached.
    return attached(_dataset, _files, labels_apart(_files), skip_bad_rows=skipping)
