"""Dictionaries as all pages see them."""

from __future__ import annotations

import streamlit as st

from dashboard.dictionary.build import PASTED_FILE
from dashboard.shared import session
from dashboard.shared.face import CorpusExports, Face
from dashboard.shared.headlines import Headline
from engine.commands.equivalent import dictionary_line
from engine.evaluations.catalog import DICTIONARY
from engine.evaluations.dictionary.records import Result, Settings
from engine.messages.languages import mark, tr
from engine.runs.storage.run_record import RunRecord

PER_UNIT = mark("one for each {unit}")


def _headlines(result: Result) -> list[Headline]:
    """The numbers of documents and of their tokens."""
    return [
        Headline(mark("documents"), f"{result.n_documents:,}", PER_UNIT.format(unit=result.unit), ""),
        Headline(mark("different tokens"), f"{len(result.counts):,}", "", ""),
    ]


def _command(view: RunRecord, settings: Settings) -> str | None:
    return dictionary_line(settings, [file.name for file in session.access().dataset(view.id).files])


def _pasted_download(view: RunRecord) -> None:
    """A button for the corpus, where it was pasted and is still kept."""
    [first, *others] = session.access().dataset(view.id).files
    if first.name == PASTED_FILE and not others and first.path.is_file():
        st.download_button(
            PASTED_FILE,
            first.path.read_bytes,
            file_name=PASTED_FILE,
            mime="text/plain",
            key="download-data",
            on_click="ignore",
            icon=":material/download:",
            help=tr("The text that the command counts."),
        )


FACE = Face(DICTIONARY, _headlines, corpus=CorpusExports(_command, _pasted_download))
