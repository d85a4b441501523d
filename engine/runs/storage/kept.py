"""What is kept by name: data sets and settings. A data set has versions, and every version is a dataset on the disk.

The rows say whose they are and which content they have; `engine.runs.storage.artifacts` holds the content, once for all
runs and versions that use it.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from engine.errors import InputError
from engine.messages.message import Message
from engine.runs.storage.run_record import RunRecord, run_record
from engine.runs.storage.schema import KeptDatasetRow, PresetRow, RunRow
from engine.runs.storage.store import ID_LENGTH, ID_LETTERS, Store


@dataclass(frozen=True)
class Version:
    """One version: the hash of its content, its rows, when it was kept, and what is to be said of it."""

    number: int
    dataset_hash: str
    n_rows: int
    created: datetime
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class KeptDataset:
    """A data set with all its versions, the oldest first. dataset_type: the name of its class."""

    id: str
    owner: str
    name: str
    dataset_type: str
    shared: bool
    versions: tuple[Version, ...]

    @property
    def newest(self) -> Version:
        """The last version."""
        return self.versions[-1]

    def version(self, number: int | None = None) -> Version | None:
        """The version of that number, the newest for None; None when there is no such version."""
        return (
            self.newest
            if number is None
            else next((version for version in self.versions if version.number == number), None)
        )


def add(
    store: Store,
    *,
    owner: str,
    name: str,
    dataset_type: str,
    dataset_hash: str,
    n_rows: int,
    notices: Sequence[str],
    extends: KeptDataset | None = None,
) -> str:
    """Add a data set, or a version of the one that it `extends`, whose owner and name it has; returns its id.

    Raises InputError when the owner has another data set of that name, or the one that it extends was extended or
    deleted at the same time.
    """
    set_id = extends.id if extends else "".join(secrets.choice(ID_LETTERS) for _ in range(ID_LENGTH))
    try:
        with store.session() as session:
            newest = _locked_newest(session, extends) if extends else None
            session.add(
                KeptDatasetRow(
                    set_id=set_id,
                    version=newest.version + 1 if newest else 1,
                    owner=newest.owner if newest else owner,
                    name=newest.name if newest else name,
                    dataset_type=dataset_type,
                    dataset_hash=dataset_hash,
                    n_rows=n_rows,
                    notices=list(notices),
                    shared=newest.shared if newest else False,
                    created=datetime.now(UTC),
                )
            )
    except IntegrityError as error:
        raise InputError(
            Message("{name!r} was extended by somebody else at the same time. Do it again.", name=name)
            if extends
            else Message(
                "You have a data set called {name!r} already. Choose another name, or extend that one.", name=name
            )
        ) from error
    return set_id


def remove_version(store: Store, set_id: str, dataset_hash: str) -> None:
    """Remove the newest version of that content, whose content could not be written."""
    own = KeptDatasetRow.set_id == set_id
    with store.session() as session:
        number = session.scalar(
            select(func.max(KeptDatasetRow.version)).where(own, KeptDatasetRow.dataset_hash == dataset_hash)
        )
        session.execute(delete(KeptDatasetRow).where(own, KeptDatasetRow.version == number))


def get(store: Store, set_id: str) -> KeptDataset | None:
    """The data set of that id, or None."""
    return next(iter(_kept(store, KeptDatasetRow.set_id == set_id)), None)


def every(store: Store) -> list[KeptDataset]:
    """All data sets, by name."""
    return sorted(_kept(store), key=lambda kept: (kept.name.casefold(), kept.id))


def hashes_of(store: Store, owner: str) -> set[str]:
    """The content hashes of all versions of an owner's data sets."""
    with store.session() as session:
        return set(session.scalars(select(KeptDatasetRow.dataset_hash).where(KeptDatasetRow.owner == owner)))


def rename(store: Store, set_id: str, name: str) -> None:
    """Rename a data set. Raises InputError when its owner has another one of that name."""
    try:
        _change(store, set_id, name=name)
    except IntegrityError as error:
        raise InputError(
            Message("You have a data set called {name!r} already. Choose another name.", name=name)
        ) from error


def share(store: Store, set_id: str, shared: bool) -> None:
    """Share a data set with the team, or stop sharing it."""
    _change(store, set_id, shared=shared)


def remove(store: Store, set_id: str) -> None:
    """Remove the rows of a data set; its content stays on the disk."""
    with store.session() as session:
        session.execute(delete(KeptDatasetRow).where(KeptDatasetRow.set_id == set_id))


def runs_with(store: Store, hashes: Collection[str]) -> list[RunRecord]:
    """The runs on datasets of these contents, those in the bin left out, the newest first."""
    query = select(RunRow).where(RunRow.dataset_hash.in_(hashes), RunRow.deleted.is_(None))
    with store.session() as session:
        return [run_record(row) for row in session.scalars(query.order_by(RunRow.number.desc()))]


def settings_by_name(store: Store, owner: str, kind: str) -> dict[str, dict[str, Any]]:
    """The settings that an owner keeps for a kind, as JSON, by name in the order of the names."""
    query = select(PresetRow).where(PresetRow.owner == owner, PresetRow.kind == kind)
    with store.session() as session:
        rows = sorted(session.scalars(query), key=lambda row: (row.name.casefold(), row.name))
        return {row.name: dict(row.settings) for row in rows}


def keep_settings(store: Store, owner: str, kind: str, name: str, settings: Mapping[str, Any]) -> None:
    """Keep settings by name, in place of those that the owner keeps by this name."""
    with store.session() as session:
        session.merge(PresetRow(owner=owner, kind=kind, name=name, settings=dict(settings), created=datetime.now(UTC)))


def remove_settings(store: Store, owner: str, kind: str, name: str) -> None:
    """Keep the settings of that name no longer."""
    with store.session() as session:
        session.execute(
            delete(PresetRow).where(PresetRow.owner == owner, PresetRow.kind == kind, PresetRow.name == name)
        )


def _kept(store: Store, *conditions: object) -> list[KeptDataset]:
    query = (
        select(KeptDatasetRow)
        .where(*conditions)  # type: ignore[arg-type]
        .order_by(KeptDatasetRow.set_id, KeptDatasetRow.version)
    )
    with store.session() as session:
        rows = list(session.scalars(query))
    kept = []
    for set_id, group in groupby(rows, key=lambda row: row.set_id):
        versions = list(group)
        newest = versions[-1]
        kept.append(
            KeptDataset(
                set_id,
                newest.owner,
                newest.name,
                newest.dataset_type,
                newest.shared,
                tuple(
                    Version(row.version, row.dataset_hash, row.n_rows, row.created, tuple(row.notices))
                    for row in versions
                ),
            )
        )
    return kept


def _locked_newest(session: Session, known: KeptDataset) -> KeptDatasetRow:
    """The newest version as it is now; nobody changes or deletes the data set until the transaction ends."""
    own = KeptDatasetRow.set_id == known.id
    session.execute(
        update(KeptDatasetRow)
        .where(own)
        .values(shared=KeptDatasetRow.shared)
        .execution_options(synchronize_session=False)
    )  # SQLite locks at the first change only
    newest = session.scalar(select(KeptDatasetRow).where(own).order_by(KeptDatasetRow.version.desc()).limit(1))
    if newest is None:
        raise InputError(
            Message(
                "The data set {name!r} was deleted meanwhile. Keep these data under a name of their own.",
                name=known.name,
            )
        )
    return newest


def _change(store: Store, set_id: str, **values: str | bool) -> None:
    with store.session() as session:
        session.execute(update(KeptDatasetRow).where(KeptDatasetRow.set_id == set_id).values(**values))
