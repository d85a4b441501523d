"""The scores of a benchmark from uploaded files, as a further evaluation beside the chosen runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard.shared.inputs.uploads import read_upload
from dashboard.shared.wording import show_error
from engine.errors import EngineError
from engine.evaluations.agreement.benchmark_files import READ, read_benchmark
from engine.evaluations.agreement.directories import beside
from engine.evaluations.agreement.evaluate import BENCHMARK
from engine.language.quantities import count
from engine.messages.languages import mark, tr, tr_n, translated

KEY = "agreement-benchmark-files"
HELP = mark(
    "The results folder of mteb as a zip; summary.json of JMTEB, called by its model or in a zip; or a table with a column "
    "model and one for each task. Only in this tab: a link does not contain it."
)


def benchmark_input(results: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Draw the popover; the results (by kind of run) with the benchmark's, and the names of its files.

    Where the files cannot be used their error is shown, and the results are as they were.
    """
    n = len(st.session_state.get(KEY) or ())
    with st.popover(
        tr_n("Benchmark: {n} file", "Benchmark: {n:,} files", n)
        if n
        else tr("Add results of a benchmark (mteb, JMTEB)"),
        icon=":material/upload_file:",
        type="tertiary",
        width="content",
    ):
        uploads = st.file_uploader(
            tr("Results of a benchmark"),
            type=[suffix.lstrip(".") for suffix in READ],
            accept_multiple_files=True,
            key=KEY,
            help=tr(HELP),
        )
        if not uploads:
            st.caption(tr(HELP))
    if not uploads:
        return dict(results), ()
    try:
        read = read_upload(
            read_benchmark,
            "-".join(str(upload.file_id) for upload in uploads),
            lambda: tuple((upload.name, upload.getvalue()) for upload in uploads),
        )
        found = beside(results, read) if results else None
    except EngineError as error:
        show_error(error)
        return dict(results), ()
    if found is None:
        st.caption(tr("There is no result here whose models these scores could stand beside."))
        return {}, ()
    st.caption(
        f":material/check: {tr_n('{n} model', '{n:,} models', len(found.models))} · "  # untranslated
        f"{translated(count(int(found.models['n_tasks'].iloc[0]), 'task'))}"
    )
    return {**results, BENCHMARK: found}, tuple(upload.name for upload in uploads)
