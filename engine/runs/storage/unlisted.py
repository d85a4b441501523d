"""What is on the disk without a row in the list of runs: never deleted for that, but shown to the operator.

It comes from a list that was lost, replaced by an older copy, or named wrongly. `python -m engine adopt` lists the
results again, `python -m engine clean --unlisted` deletes them. A list that lacks all results on the disk is most
likely the wrong one, so the engine does not start with it (`require_list`).
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from engine.errors import InputError
from engine.language.quantities import count
from engine.messages.message import Message
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.database import SQLITE_FILE
from engine.runs.storage.store import Store
from engine.runs.storage.usage import corpus_of, release_corpus

START_VARIABLE = "HAKARI_START_ANYWAY"
# A dataset is written before its run is listed; one without a run counts as unlisted once it is so old.
SUBMISSION_SECONDS = 3600.0
CHECK_SECONDS = 60.0
MEGABYTE = 2**20


@dataclass(frozen=True)
class Unlisted:
    """Files without a row. results: ids of runs. datasets: content hash by the name of the file.

    n_bytes: what all of them take. n_listed: the number of results on the disk that are listed.
    """

    results: tuple[str, ...] = ()
    datasets: tuple[tuple[str, str], ...] = ()
    n_bytes: int = 0
    n_listed: int = 0

    def __bool__(self) -> bool:
        return bool(self.results or self.datasets)

    def __str__(self) -> str:
        """Such as "3 results and 1 dataset (12.5 MB)"."""
        return Message(
            "{results} and {datasets} ({MEGABYTE:,.1f} MB)",
            results=count(len(self.results), "result"),
            datasets=count(len(self.datasets), "dataset"),
            MEGABYTE=self.n_bytes / MEGABYTE,
        )


class UnlistedMonitor:
    """What is unlisted, looked up again at most once in CHECK_SECONDS: for health checks and pages."""

    def __init__(self, store: Store, artifacts: Artifacts) -> None:
        self._store = store
        self._artifacts = artifacts
        self._checked = float("-inf")
        self._unlisted = Unlisted()

    def current(self) -> Unlisted:
        """The files without a row. Raises RunError when the list cannot be read."""
        if time.monotonic() - self._checked >= CHECK_SECONDS:
            self._unlisted = find_unlisted(self._store, self._artifacts)
            self._checked = time.monotonic()
        return self._unlisted


def find_unlisted(store: Store, artifacts: Artifacts) -> Unlisted:
    """The results and datasets on the disk that no run of the list has.

    The disk is read before the list: a result is written after its run was listed, so that one of a run that another
    process has just submitted is not taken for unlisted. What is deleted meanwhile does not count.
    """
    result_ids, datasets = artifacts.result_ids(), artifacts.stored_datasets()
    run_ids, hashes = store.ids_and_datasets()
    before = time.time() - SUBMISSION_SECONDS
    unlisted_ids = [run_id for run_id in result_ids if run_id not in run_ids]
    sizes = {run_id: artifacts.result_bytes(run_id) for run_id in unlisted_ids if artifacts.has_folder(run_id)}
    unlisted_datasets = {
        name: content_hash
        for name, (content_hash, written) in datasets.items()
        if content_hash not in hashes and written < before
    }
    n_bytes = sum(sizes.values()) + sum(map(artifacts.bytes_of_content, set(unlisted_datasets.values())))
    return Unlisted(
        tuple(sizes), tuple(sorted(unlisted_datasets.items())), n_bytes, len(result_ids) - len(unlisted_ids)
    )


def require_list(store: Store, artifacts: Artifacts, data_dir: Path) -> Unlisted:
    """The files without a row, for the operator.

    Raises InputError when there are results on the disk and the list lacks all of them, unless HAKARI_START_ANYWAY is
    "yes".
    """
    unlisted = find_unlisted(store, artifacts)
    if unlisted.results and not unlisted.n_listed and not _start_anyway():
        raise InputError(_explanation(unlisted, store, data_dir))
    return unlisted


def delete_unlisted(unlisted: Unlisted, store: Store, artifacts: Artifacts) -> tuple[int, int, int]:
    """Delete these files, each unless it is listed by now; returns the numbers of results, datasets and bytes."""
    run_ids, _ = store.ids_and_datasets()
    sizes = [artifacts.delete_result(run_id) for run_id in unlisted.results if run_id not in run_ids]
    dataset_sizes = []
    for content_hash in {content_hash for _, content_hash in unlisted.datasets}:
        corpus = corpus_of(artifacts, content_hash)
        dataset_sizes.append(artifacts.delete_dataset(content_hash, partial(store.dataset_in_use, content_hash)))
        release_corpus(artifacts, corpus)
    return len(sizes), sum(map(bool, dataset_sizes)), sum(sizes) + sum(dataset_sizes)


def advice(unlisted: Unlisted) -> str:
    """One line for a log or a page: what is not listed, and the commands that list or delete it."""
    return Message(
        "{unlisted} on the disk are not in the list of runs; nothing was deleted. List the results again: "
        "python -m engine adopt. Delete them: python -m engine clean --unlisted.",
        unlisted=unlisted,
    )


def _start_anyway() -> bool:
    value = os.environ.get(START_VARIABLE, "").strip().lower()
    if value not in ("", "yes", "no"):
        raise InputError(
            Message("{START_VARIABLE} is yes or no; got {value!r}.", START_VARIABLE=START_VARIABLE, value=value)
        )
    return value == "yes"


def _explanation(unlisted: Unlisted, store: Store, data_dir: Path) -> Message:
    n_runs = sum(store.n_by_state().values())
    listing = (
        Message(
            "the list of runs in {location} holds {n_runs}, none of them of this directory",
            location=store.location,
            n_runs=count(n_runs, "run"),
        )
        if n_runs
        else Message("the list of runs in {location} is empty", location=store.location)
    )
    file = data_dir / SQLITE_FILE
    n_in_file = 0 if store.location == str(file) else _n_runs_in(file)
    moving = (
        Message(
            "To move the {n_in_file} listed in {file} into this database: python -m engine move-database. ",
            n_in_file=count(n_in_file, "run"),
            file=file,
        )
        if n_in_file
        else ""
    )
    return Message(
        "The data directory {data_dir} holds {unlisted}, and {listing}. Nothing was deleted. Check "
        "HAKARI_DATABASE_URL and HAKARI_DATA_DIR, or restore the list from a backup. {moving}To list the "
        "results again: python -m engine adopt. To go on with this list all the same: {START_VARIABLE}=yes.",
        data_dir=data_dir,
        unlisted=unlisted,
        listing=listing,
        moving=moving,
        START_VARIABLE=START_VARIABLE,
    )


def _n_runs_in(file: Path) -> int:
    """The number of runs in a SQLite file, which is not changed; 0 when it is not there or is no list of runs."""
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])
    except sqlite3.Error:
        return 0
