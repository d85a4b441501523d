"""The list of runs in a database: what each is, its state, its progress, and which process has it.

    queued -> running -> done | failed | cancelled          queued -> cancelled | failed
    running -> queued        the process that had it closed or died; another, or the next, goes on

Every change is one UPDATE that names the states it may start from, so two threads or processes cannot
both make it.
"""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import URL, ColumnElement, delete, exists, func, or_, select, update
from sqlalchemy.exc import DatabaseError, InterfaceError, OperationalError
from sqlalchemy.orm import Session, sessionmaker

from engine.errors import RunError
from engine.runs.storage.database import open_database
from engine.runs.storage.processes import ProcessMark, is_alive
from engine.runs.storage.schema import ProcessRow, RunRow
from engine.runs.storage.searching import Search, found, next_queued
from engine.runs.storage.views import Progress, RunView, view

UNFINISHED = ("queued", "running")
SOURCES = {  # state -> the states it can be reached from
    "queued": ("running",),
    "running": ("queued",),
    "done": ("running",),
    "failed": ("queued", "running"),
    "cancelled": ("queued", "running"),
}
# 131 random bits. No signs: ids stand in links, in paths, and in keys of widgets, where "__" would mean something.
ID_LETTERS, ID_LENGTH = string.ascii_letters + string.digits, 22
MAX_ATTEMPTS = 5  # a run that takes its process down each time must not do so for ever


class Store:
    """The runs in one database. Safe across threads and processes; every call is a transaction of its own."""

    def __init__(self, url: str | URL) -> None:
        """Open the database at a SQLAlchemy URL; InputError when it cannot be."""
        self._engine = open_database(url)
        self._sessions = sessionmaker(self._engine, expire_on_commit=False)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def add(self, *, owner: str, kind: str, name: str, settings: Mapping[str, Any], dataset_name: str,
            dataset_hash: str, dataset_notices: Sequence[str], key: str, process_id: str,
            stored_bytes: int = 0) -> str:
        """A new run, queued for the process `process_id`; returns its id, which cannot be guessed."""
        run_id = "".join(secrets.choice(ID_LETTERS) for _ in range(ID_LENGTH))
        with self._session() as session:
            session.add(RunRow(
                id=run_id, owner=owner, kind=kind, name=name, settings=dict(settings), dataset_name=dataset_name,
                dataset_hash=dataset_hash, dataset_notices=list(dataset_notices), key=key, state="queued",
                created=_now(), process_id=process_id, models="\n".join(_models(settings)), stored_bytes=stored_bytes,
            ))
        return run_id

    def get(self, run_id: str) -> RunView | None:
        """The run, or None when there is none of that id."""
        with self._session() as session:
            row = session.scalar(select(RunRow).where(RunRow.id == run_id))
            return view(row) if row else None

    def search(self, search: Search) -> list[RunView]:
        """The runs that a search finds, the newest first."""
        with self._session() as session:
            return [view(row) for row in session.scalars(found(search))]

    def n_by_state(self, owner: str | None = None) -> dict[str, int]:
        """How many runs are in each state that any is in: the owner's, or everybody's."""
        query = select(RunRow.state, func.count()).group_by(RunRow.state)
        with self._session() as session:
            rows = session.execute(query if owner is None else query.where(RunRow.owner == owner)).all()
        return {state: n for state, n in rows}

    def stored_bytes(self, owner: str) -> int:
        """What the owner's datasets and results take on the disk; a dataset of two runs counts with both."""
        with self._session() as session:
            return int(session.scalar(select(func.sum(RunRow.stored_bytes)).where(RunRow.owner == owner)) or 0)

    def ended_before(self, moment: datetime) -> list[str]:
        """The ids of all runs that ended before a moment, the oldest first."""
        query = select(RunRow.id).where(RunRow.finished < moment, RunRow.state.not_in(UNFINISHED))
        with self._session() as session:
            return list(session.scalars(query.order_by(RunRow.number)))

    def same(self, owner: str, key: str) -> list[RunView]:
        """The owner's runs with that key that are done, or on the way and not asked to stop; the newest first."""
        query = select(RunRow).where(RunRow.owner == owner, RunRow.key == key, RunRow.stop_requested.is_(False),
                                     RunRow.state.in_((*UNFINISHED, "done"))).order_by(RunRow.number.desc())
        with self._session() as session:
            return [view(row) for row in session.scalars(query)]

    def change(self, run_id: str, **values: str | bool) -> bool:
        """Set `name`, `note` or `shared` of the run; False when there is no such run."""
        with self._session() as session:
            return _changed(session, RunRow.id == run_id, **values)

    def delete(self, run_id: str) -> bool:
        """Forget the run, whatever its state; False when there is no such run."""
        with self._session() as session:
            result = session.execute(delete(RunRow).where(RunRow.id == run_id))
            return bool(result.rowcount)  # type: ignore[attr-defined]

    def dataset_in_use(self, dataset_hash: str) -> bool:
        """Whether a run has that dataset."""
        with self._session() as session:
            return bool(session.scalar(select(exists().where(RunRow.dataset_hash == dataset_hash))))

    def ids_and_datasets(self) -> tuple[set[str], set[str]]:
        """The ids of all runs, and the content hashes of all their datasets."""
        with self._session() as session:
            rows = session.execute(select(RunRow.id, RunRow.dataset_hash)).all()
        return {run_id for run_id, _ in rows}, {dataset_hash for _, dataset_hash in rows}

    def cancel(self, run_id: str) -> bool:
        """Take a queued run off the queue, ask a running one to stop; False when it had ended already or is unknown."""
        with self._session() as session:
            if _changed(session, RunRow.id == run_id, RunRow.state == "queued", state="cancelled", finished=_now(),
                        process_id=None, message="Cancelled before it started."):
                return True
            return _changed(session, RunRow.id == run_id, RunRow.state == "running", stop_requested=True,
                            message="Asked to stop.")

    def claim(self, process_id: str, running_per_owner: int | None = None) -> RunView | None:
        """A run queued for the process, now running; None when there is none that may start.

        Of the owner with the fewest running runs the oldest, so that many runs of one person do not keep
        another waiting. With `running_per_owner`, nobody has more than so many running at once.
        """
        while True:
            with self._session() as session:
                run_id = session.scalar(next_queued(process_id, running_per_owner))
                if run_id is None:
                    return None
                if _moved(session, run_id, "running", RunRow.process_id == process_id, started=_now(), done=0, total=0,
                          label="", message="", expected=None, attempts=RunRow.attempts + 1):
                    row = session.scalars(select(RunRow).where(RunRow.id == run_id)).one()
                    return view(row)

    def progress(self, process_id: str, reports: Iterable[Progress]) -> None:
        """Write how far runs of the process are; those that are no longer its own are left alone."""
        now = _now()
        with self._session() as session:
            for report in reports:
                expected = None if report.eta_seconds is None else now + timedelta(seconds=report.eta_seconds)
                _changed(session, RunRow.id == report.run_id, RunRow.state == "running",
                         RunRow.process_id == process_id, done=report.done, total=report.total, label=report.label,
                         expected=expected)

    def finish(self, run_id: str, process_id: str, state: str, message: str = "", result_bytes: int = 0) -> bool:
        """Bring a running run of the process to its end; False when it is no longer the process's own."""
        with self._session() as session:
            if state == "done":
                return _moved(session, run_id, state, RunRow.process_id == process_id, finished=_now(), process_id=None,
                              message=message, done=RunRow.total, label="", expected=None, stop_requested=False,
                              stored_bytes=RunRow.stored_bytes + result_bytes)
            return _moved(session, run_id, state, RunRow.process_id == process_id, finished=_now(), process_id=None,
                          message=message, expected=None)

    def to_stop(self, process_id: str, run_ids: Iterable[str]) -> set[str]:
        """Those of `run_ids` that the process should no longer work on: asked to stop, deleted, or taken over."""
        asked = set(run_ids)
        wanted = select(RunRow.id).where(RunRow.id.in_(asked), RunRow.state == "running",
                                         RunRow.process_id == process_id, RunRow.stop_requested.is_(False))
        with self._session() as session:
            return asked - set(session.scalars(wanted))

    def sign(self, process: ProcessMark) -> None:
        """Say that the process lives; the first time this makes it known."""
        with self._session() as session:
            session.merge(ProcessRow(id=process.id, host=process.host, pid=process.pid, started=process.started,
                                     signed=_now()))

    def adopt(self, process_id: str) -> int:
        """Queue for the process, in their old order, the unfinished runs that no living process has.

        One that was asked to stop is cancelled instead, and one that was started `MAX_ATTEMPTS` times without
        coming to an end has failed. Returns how many were queued.
        """
        now = _now()
        query = (select(RunRow, ProcessRow).outerjoin(ProcessRow, RunRow.process_id == ProcessRow.id)
                 .where(RunRow.state.in_(UNFINISHED), or_(RunRow.process_id.is_(None), RunRow.process_id != process_id))
                 .order_by(RunRow.number))
        with self._session() as session:
            marks = {row.id: is_alive(ProcessMark(row.id, row.host, row.pid, row.started), row.signed, now)
                     for row in session.scalars(select(ProcessRow).where(ProcessRow.id != process_id))}
            adopted = 0
            for run, process in session.execute(query).all():
                if process is None or not marks.get(process.id, False):
                    adopted += _adopted(session, run, process_id, now)
            dead = [mark for mark, alive in marks.items() if not alive]
            session.execute(delete(ProcessRow).where(ProcessRow.id.in_(dead)))
            return adopted

    def release(self, process_id: str) -> None:
        """Put everything unfinished that the process has back into the queue, for whoever opens the store next."""
        mine = RunRow.process_id == process_id
        with self._session() as session:
            _changed(session, mine, RunRow.state == "running", state="queued", started=None, expected=None,
                     process_id=None, attempts=RunRow.attempts - 1)  # it did not fail: this start does not count
            _changed(session, mine, RunRow.state == "queued", process_id=None)
            session.execute(delete(ProcessRow).where(ProcessRow.id == process_id))

    @contextmanager
    def _session(self) -> Iterator[Session]:
        try:
            with self._sessions.begin() as session:
                yield session
        except (DatabaseError, InterfaceError) as error:
            # A full disk, a lock held too long, a damaged file, a server that is away; anything else is our fault.
            if type(error) in (DatabaseError, OperationalError, InterfaceError) or error.connection_invalidated:
                what = " ".join(str(error.orig).split()).rstrip(".?")
                raise RunError(f"The list of runs cannot be read or written at the moment: {what}.") from error
            raise


def _moved(session: Session, run_id: str, state: str, *where: ColumnElement[bool], **values: Any) -> bool:
    return _changed(session, RunRow.id == run_id, RunRow.state.in_(SOURCES[state]), *where, state=state, **values)


def _changed(session: Session, *where: ColumnElement[bool], **values: Any) -> bool:
    change = update(RunRow).where(*where).values(**values).execution_options(synchronize_session=False)
    result = session.execute(change)
    return bool(result.rowcount)  # type: ignore[attr-defined]


def _adopted(session: Session, run: RunRow, process_id: str, now: datetime) -> bool:
    unchanged = RunRow.process_id.is_(None) if run.process_id is None else RunRow.process_id == run.process_id
    if run.stop_requested:
        _moved(session, run.id, "cancelled", unchanged, process_id=None, finished=now, message="Cancelled.")
        return False
    if run.attempts >= MAX_ATTEMPTS:
        _moved(session, run.id, "failed", unchanged, process_id=None, finished=now, expected=None,
               message=f"The server ended {run.attempts} times while this run was running, most likely because it ran "
                       "out of memory. Choose a smaller model or fewer rows and start it again.")
        return False
    return _changed(session, RunRow.id == run.id, RunRow.state.in_(UNFINISHED), unchanged, state="queued",
                    process_id=process_id, started=None, expected=None)


def _models(settings: Mapping[str, Any]) -> list[str]:
    """The names of the models in a run's settings: `models`, or the one `model`."""
    return [*settings.get("models", ()), *([settings["model"]] if settings.get("model") else [])]


def _now() -> datetime:
    return datetime.now(UTC)
