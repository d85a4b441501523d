"""All that an instance keeps of one member: written into one archive, or deleted. The audit log is the operator's."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, delete, select

from engine.errors import InputError, reason_of
from engine.evaluations.shared import dictionaries
from engine.messages.message import Message
from engine.runs.pretraining.jobs import Job, PretrainingJobs
from engine.runs.storage import kept
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.members import Account
from engine.runs.storage.schema import (
    Base,
    CommentRow,
    KeptDatasetRow,
    MemberRow,
    PresetRow,
    RatingRow,
    RunRow,
    SignInRow,
    StarRow,
    ViewerNameRow,
    VisitRow,
)
from engine.runs.storage.store import Store
from engine.runs.storage.usage import files_of_corpus, release_dataset

# What says nothing of a member: the hash of a sign-in's cookie, and what finds a run's process and its equals.
OF_THE_SERVER = ((SignInRow, "key"), (RunRow, "process_id"), (RunRow, "key"))


def export_member(store: Store, artifacts: Artifacts, jobs: PretrainingJobs, account: Account, file: Path) -> int:
    """Write all that is kept of a member into a zip archive; returns the number of files in it.

    `tables/NAME.jsonl`: the member's rows of each table of the database. `results`, `datasets`, `corpora` and
    `pretrained`: the files of the member's runs, data sets, dictionaries' uploads and pretraining jobs, as they are on the
    disk. The file may be read by its owner alone. Raises InputError where it exists or cannot be written; then no part of it is
    left.
    """
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            return _write_archive(descriptor, store, artifacts, jobs, account)
        except BaseException:
            file.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            Message("The archive {file} cannot be written: {reason}.", file=file, reason=reason_of(error))
        ) from error


def _write_archive(descriptor: int, store: Store, artifacts: Artifacts, jobs: PretrainingJobs, account: Account) -> int:
    with (
        open(descriptor, "wb") as target,
        # A file from before 1980, the first year of a zip, gets that year.
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive,
    ):
        for name, rows in _rows(store, account).items():
            lines = [json.dumps(row, ensure_ascii=False, default=_as_text) for row in rows]
            archive.writestr(f"tables/{name}.jsonl", "".join(f"{line}\n" for line in lines))
        for path, name in _files(store, artifacts, jobs, account):
            with suppress(FileNotFoundError):  # deleted meanwhile
                archive.write(path, name)
        return len(archive.namelist())


def forget_member(store: Store, artifacts: Artifacts, jobs: PretrainingJobs, account: Account) -> dict[str, int]:
    """Delete all that is kept of a member for good, shared runs too; returns how many rows of each table there were.

    What other members keep stays: the content of a data set that a run of theirs uses, their ratings and comments.
    The member may sign in again as a new account.
    """
    n_rows = {name: len(rows) for name, rows in _rows(store, account).items()}
    for job in _jobs(jobs, account):
        jobs.delete(job.id)
    for run_id, dataset_hash in _runs(store, account):
        store.delete(run_id, before_commit=lambda run_id=run_id: artifacts.delete_result(run_id))  # type: ignore[misc]
        artifacts.delete_result(run_id)
        dictionaries.forget(run_id)
        release_dataset(store, artifacts, dataset_hash)
    hashes = kept.hashes_of(store, account.id)
    with store.session() as session:
        for table, own in _own(account):
            session.execute(delete(table).where(own))
        named = select(CommentRow).where(CommentRow.mentions.contains(f"\n{account.id}\n", autoescape=True))
        for comment in session.scalars(named):  # another's text stays as it is, without saying whom it meant
            comment.mentions = comment.mentions.replace(f"\n{account.id}\n", "\n")
    for dataset_hash in hashes:
        release_dataset(store, artifacts, dataset_hash)
    return n_rows


def _own(account: Account) -> list[tuple[type[Base], ColumnElement[bool]]]:
    """Each table that holds something of a member, and which of its rows."""
    return [
        (RunRow, _is_own_run(account)),
        (KeptDatasetRow, KeptDatasetRow.owner == account.id),
        (PresetRow, PresetRow.owner == account.id),
        (RatingRow, RatingRow.rater == account.id),
        (CommentRow, CommentRow.author == account.id),
        (VisitRow, VisitRow.viewer == account.id),
        (StarRow, StarRow.viewer == account.id),
        (ViewerNameRow, ViewerNameRow.viewer == account.id),
        (SignInRow, SignInRow.account == account.id),
        (MemberRow, MemberRow.id == account.id),
    ]


def _is_own_run(account: Account) -> ColumnElement[bool]:
    """Runs of the account, and those of its address, which nobody has taken over yet."""
    return RunRow.owner.in_((account.id, account.address))


def _rows(store: Store, account: Account) -> dict[str, list[dict[str, Any]]]:
    """The member's rows by table, without what only the server needs."""
    with store.session() as session:
        return {
            table.__tablename__: [
                {
                    column.key: getattr(row, column.key)
                    for column in table.__mapper__.column_attrs
                    if (table, column.key) not in OF_THE_SERVER
                }
                for row in session.scalars(select(table).where(own))
            ]
            for table, own in _own(account)
        }


def _runs(store: Store, account: Account) -> list[tuple[str, str]]:
    """The ids of the member's runs, and the content hashes of their data."""
    query = select(RunRow.id, RunRow.dataset_hash).where(_is_own_run(account))
    with store.session() as session:
        return [(run_id, dataset_hash) for run_id, dataset_hash in session.execute(query)]


def _jobs(jobs: PretrainingJobs, account: Account) -> list[Job]:
    return jobs.list((account.id, account.address))


def _files(store: Store, artifacts: Artifacts, jobs: PretrainingJobs, account: Account) -> Iterator[tuple[Path, str]]:
    """Each file of the member on the disk, and its name in the archive."""
    runs = _runs(store, account)
    for run_id, _ in runs:
        yield from ((path, f"results/{run_id}/{path.name}") for path in artifacts.result_files(run_id))
    corpora: dict[Path, str] = {}
    for dataset_hash in sorted({dataset_hash for _, dataset_hash in runs} | kept.hashes_of(store, account.id)):
        yield from ((path, f"datasets/{path.name}") for path in artifacts.files_of_content(dataset_hash))
        corpora |= {
            file.path: f"corpora/{file.sha256}/{file.name}" for file in files_of_corpus(artifacts, dataset_hash)
        }
    yield from corpora.items()
    for job in _jobs(jobs, account):
        files = sorted(path for path in job.folder.rglob("*") if path.is_file())
        yield from ((path, f"pretrained/{job.id}/{path.relative_to(job.folder).as_posix()}") for path in files)


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
