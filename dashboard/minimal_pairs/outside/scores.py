"""Uploaded scores that were computed elsewhere, as further models of a run: beside the data, in a popover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.shared.inputs.inputs import skips_bad_rows
from dashboard.shared.inputs.uploads import read_upload
from dashboard.shared.wording import show_error, verbatim
from engine.commands.shared.options import separate_items
from engine.datasets.formats.archives import SUFFIXES as ARCHIVES
from engine.datasets.formats.columns import SCORES_GIVEN
from engine.datasets.formats.files import SUFFIXES
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.outside_names import PREFIX
from engine.datasets.scores.files import FORMS, PARQUET, ScoreFile, read_scores, read_together
from engine.datasets.scores.matching import attached
from engine.errors import EngineError
from engine.evaluations.minimal_pairs.records import Settings
from engine.messages.languages import mark, tr, tr_n, translated
from engine.options import options_of

KIND = "minimal-pairs"
HELP = mark(
    "Log-likelihoods of the same sentences, computed elsewhere: each file is one model, or several by a column of their "
    "names. Sentences are matched by their exact text."
)
MATCHED_KEPT = 2  # for each session


def scores_input(dataset: MinimalPairs | None) -> tuple[MinimalPairs | None, tuple[str, ...]]:
    """Draw the popover; the dataset with the scores of the uploaded files, or as it is, and the tokenizers named.

    Where a file cannot be used its error is shown, and there is no dataset, so that nothing is submitted without it.
    """
    with st.popover(
        _title(),
        icon=":material/upload_file:",
        key=f"{KIND}-scores",
        type="tertiary",
        width="content",
        help=tr("Scores that were computed elsewhere become a model like any other."),
    ):
        uploads = st.file_uploader(
            tr("Files of scores"),
            type=[suffix.lstrip(".") for suffix in (*SUFFIXES, PARQUET, *ARCHIVES)],
            accept_multiple_files=True,
            key=f"{KIND}-scores-files",
            help=tr(HELP),
        )
        if not uploads:
            st.caption(tr(HELP))
            for layout, wants in FORMS.items():
                st.caption(f"**{verbatim(translated(layout))}**: {verbatim(translated(wants))}")  # untranslated
            return dataset, ()
        named = st.text_input(
            tr("Tokenizer"),
            key=f"{KIND}-scores-tokenizer",
            placeholder=tr("a directory or a name; LABEL=NAME for one model"),
            help=verbatim(translated(options_of(Settings)["tokenizer"].help)),
            persist_state="session",
        )
    if dataset is None:
        return None, ()
    try:
        return _with(dataset, uploads), tuple(separate_items(named or "", ","))
    except EngineError as error:
        show_error(error)
        return None, ()


def _title() -> str:
    n = len(st.session_state.get(f"{KIND}-scores-files") or ())
    return tr_n("Scores of {n} file", "Scores of {n:,} files", n) if n else tr("Scores from a file")


def _with(dataset: MinimalPairs, uploads: Sequence[Any]) -> MinimalPairs:
    """The dataset with the scores of all files; samples of lm-evaluation-harness are read with their results."""
    files: list[ScoreFile] = []
    skipping = skips_bad_rows(KIND)
    for together in read_together([(upload.name, upload) for upload in uploads]):
        files += read_upload(
            read_scores,
            "-".join(str(one.file_id) for _, one in together),
            lambda together=together: tuple((name, one.getvalue()) for name, one in together),  # type: ignore[misc]
            skip_bad_rows=skipping,
        )
    ids = "-".join(str(upload.file_id) for upload in uploads)
    matched = _matched(dataset.content_hash, " ".join(dataset.notices), ids, skipping, dataset, files)
    for scores in matched.scores:
        name = scores.name.removeprefix(PREFIX)
        st.caption(
            f":material/check: {verbatim(name)}: {verbatim(scores.file)} ({verbatim(translated(scores.form))})"  # untranslated
        )
    for notice in matched.notices[len(dataset.notices) :]:
        if notice.startswith(SCORES_GIVEN):  # for the printed command
            continue
        st.caption(f":material/info: {verbatim(translated(notice))}")  # untranslated
    return replace(matched, name=dataset.name)


@st.cache_resource(max_entries=MATCHED_KEPT, scope="session", show_spinner=False)
def _matched(
    content_hash: str, notices: str, ids: str, skipping: bool, _dataset: MinimalPairs, _files: Sequence[ScoreFile]
) -> MinimalPairs:
    # The notices of the data, which its hash leaves out, are among those of what is attached.
    return attached(_dataset, _files, skip_bad_rows=skipping)
