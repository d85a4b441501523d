"""What a run's data are for a command: a sample, the uploaded files, or a download that the page offers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dashboard.shared import session
from dashboard.shared.exports.bundle.data import DATA, name_and_options
from dashboard.shared.face import AnyFace
from engine.datasets.formats.archives import is_archive, own_name
from engine.datasets.formats.columns import options_of_notices
from engine.datasets.formats.files import SUFFIXES
from engine.datasets.hub.names import is_hub_name
from engine.datasets.minimal_pairs.files import file_names
from engine.datasets.sample_data import name_of_content
from engine.errors import EngineError
from engine.runs.access.datasets import FROM_KEPT
from engine.runs.storage.run_record import RunRecord

OUTSIDE = ("--scores", "--vectors")  # options of what comes with the data
TOLD = 256  # names of downloads that are remembered


@dataclass(frozen=True)
class CommandData:
    """What a command has for --data, a word each, and the options that say how it is read.

    is_download: it is not one of the user's files, and the page offers it.
    """

    files: tuple[str, ...]
    options: tuple[str, ...] = ()
    is_download: bool = False


def command_data(face: AnyFace, view: RunRecord, unnamed: str = DATA) -> CommandData:
    """The data of a run for its command; unnamed: what a download is called that has no name of its own.

    A sample is known by its content, whatever name it was kept under, and a file by the ending of its name, unless it
    is that of a kept data set.
    """
    given = options_of_notices(view.dataset_notices)
    outside = tuple(word for i in range(0, len(given), 2) if given[i] in OUTSIDE for word in given[i : i + 2])
    if sample := name_of_content(_own_hash(view.id, view.dataset_hash) if outside else view.dataset_hash):
        return CommandData((sample,), outside)
    is_kept = any(notice.startswith(FROM_KEPT.format(name="")) for notice in view.dataset_notices)
    names = () if is_kept else file_names(view.dataset_name, view.dataset_notices)
    if names and all(map(_is_file_name, names)):
        return CommandData(names, tuple(given))
    if not face.has_source_files:
        return CommandData((unnamed,), outside, is_download=True)
    try:
        name, columns = _name_and_columns(view.id, view.dataset_hash)
    except EngineError:  # the data are gone
        return CommandData((unnamed,))
    return CommandData((unnamed if name == DATA else name,), (*columns, *outside), is_download=True)


@st.cache_data(max_entries=TOLD, show_spinner=False)
def _own_hash(run_id: str, dataset_hash: str) -> str:
    """The content hash of the data without the scores or vectors that are with them."""
    try:
        return str(session.access().dataset(run_id).own_hash)
    except EngineError:  # the data are gone
        return dataset_hash


def _is_file_name(name: str) -> bool:
    # What a name says after its ending, as "(version 2)", is no file.
    return Path(own_name(name)).suffix.lower() in SUFFIXES or is_archive(name) or is_hub_name(name)


@st.cache_data(max_entries=TOLD, show_spinner=False)
def _name_and_columns(run_id: str, dataset_hash: str) -> tuple[str, tuple[str, ...]]:
    return name_and_options(session.access().dataset(run_id))
