"""The commands that give the numbers of the page: one for each run, and the agreement of what they write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.faces import FACES
from dashboard.shared.exports.run_exports import data_download, printed_command
from engine.commands.equivalent import agreement_line
from engine.messages.languages import tr
from engine.runs.storage.run_record import RunRecord


def same_from_a_terminal(
    runs: Mapping[str, RunRecord], results: Mapping[str, Any], benchmark: Sequence[str] = ()
) -> None:
    """Draw, folded, the commands for the chosen runs, and downloads of data that is neither a sample nor a file.

    results: of the runs. benchmark: names of the files of a benchmark.
    """
    with st.popover(
        tr("The same from a terminal"), type="tertiary", icon=":material/terminal:", key="agreement-terminal"
    ):
        folders = {kind: f"out/{kind}" for kind in results}
        lines = [
            printed_command(FACES[kind], runs[kind], result.signature, folders[kind], _data(kind))
            for kind, result in results.items()
        ]
        st.code(
            "\n".join([*filter(None, lines), agreement_line(folders, "out/agreement", benchmark)]),
            language="bash",
            wrap_lines=True,
        )
        for kind in results:
            data_download(FACES[kind], runs[kind], _data(kind))


def _data(kind: str) -> str:
    return f"{kind}-data.csv"
