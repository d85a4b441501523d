"""The runs in a database: description, state, progress, and the process that owns each.

    queued -> running -> done | failed | cancelled          queued -> cancelled | failed
    running -> queued        its process closed or died; another process resumes it

Every change is one UPDATE with the allowed source states in its condition, so only one of two concurrent threads or
processes can make it.
"""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import URL, ColumnElement, delete, exists, func, make_url, or_, select, update
from sqlalchemy.exc import DatabaseError, DataError, InterfaceError, OperationalError
from sqlalchemy.orm import Session, sessionmaker

from engine.errors import InputError, RunError
from engine.messages.message import Message
from engine.runs.storage.database import location_of, open_database
from engine.runs.storage.processes import ProcessIdentity, is_alive
from engine.runs.storage.run_record import Progress, RunRecord, run_record
from engine.runs.storage.schema import CommentRow, KeptDatasetRow, ProcessRow, RatingRow, RunRow, StarRow
from engine.runs.storage.searching import Search, next_queued, search_query

UNFINISHED = ("queued", "running")
SOURCE_STATES = {  # state -> the states that it can be reached from
    "queued": ("running",),
    "running": ("queued",),
    "done": ("running",),
    "failed": ("queued", "running"),
    "cancelled": ("queued", "running"),
}
# 131 random bits. Letters and digits only: ids are used in URLs, paths and widget keys, where "__" is reserved.
ID_LETTERS, ID_LENGTH = string.ascii_letters + string.digits, 22
MAX_ATTEMPTS = 5  # a run that kills its process must not be restarted for ever


class Store:
    """The runs in one database. Safe for several threads and processes; every call is one transaction.

    `location`: where the database is, for messages.
    """

    def __init__(self, url: str | URL) -> None:
        """Open the database at a SQLAlchemy URL. Raises InputError when that fails."""
        self.location = location_of(make_url(url))
        self._engine = open_database(url)
        self._sessions = sessionmaker(self._engine, expire_on_commit=False)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def add(
        self,
        *,
        owner: str,
        kind: str,
        name: str,
        settings: Mapping[str, Any],
        dataset_name: str,
        dataset_hash: str,
        dataset_notices: Sequence[str],
        key: str,
        process_id: str,
        stored_bytes: int = 0,
        n_rows: int | None = None,
    ) -> str:
        """Add a run, queued for the process `process_id`; returns its unguessable id."""
        run_id = "".join(secrets.choice(ID_LETTERS) for _ in range(ID_LENGTH))
        with self.session() as session:
            session.add(
                RunRow(
                    id=run_id,
                    owner=owner,
                    kind=kind,
                    name=name,
                    settings=dict(settings),
                    dataset_name=dataset_name,
                    dataset_hash=dataset_hash,
                    dataset_notices=list(dataset_notices),
                    key=key,
                    state="queued",
                    created=_now(),
                    process_id=process_id,
                    models="\n".join(models_of(settings)),
                    stored_bytes=stored_bytes,
                    n_rows=n_rows,
                )
            )
        return run_id

    def get(self, run_id: str) -> RunRecord | None:
        """The run, or None when there is no such run."""
        with self.session() as session:
            row = session.scalar(select(RunRow).where(RunRow.id == run_id))
            return run_record(row) if row else None

    def search(self, search: Search) -> list[RunRecord]:
        """The runs that match a search, newest first."""
        with self.session() as session:
            return [run_record(row) for row in session.scalars(search_query(search))]

    def n_by_state(self, owner: str | None = None) -> dict[str, int]:
        """The number of runs by state (states without runs are absent): of the owner, or of all."""
        query = select(RunRow.state, func.count()).group_by(RunRow.state)
        with self.session() as session:
            rows = session.execute(query if owner is None else query.where(RunRow.owner == owner)).all()
        return {state: n for state, n in rows}

    def ended_before(self, moment: datetime) -> list[str]:
        """The ids of all runs that ended before `moment`, oldest first."""
        query = select(RunRow.id).where(RunRow.finished < moment, RunRow.state.not_in(UNFINISHED))
        with self.session() as session:
            return list(session.scalars(query.order_by(RunRow.number)))

    def deleted_before(self, moment: datetime) -> list[str]:
        """The ids of the runs that were moved to the bin before `moment`, those first that were moved first."""
        query = select(RunRow.id).where(RunRow.deleted < moment).order_by(RunRow.deleted)
        with self.session() as session:
            return list(session.scalars(query))

    def runs_with_key(self, owner: str, key: str) -> list[RunRecord]:
        """The owner's runs with that key that are done, or unfinished without a stop request; newest first.

        Those in the bin come after the others.
        """
        query = select(RunRow).where(
            RunRow.owner == owner,
            RunRow.key == key,
            RunRow.stop_requested.is_(False),
            RunRow.state.in_((*UNFINISHED, "done")),
        )
        query = query.order_by(RunRow.deleted.is_not(None), RunRow.number.desc())
        with self.session() as session:
            return [run_record(row) for row in session.scalars(query)]

    def change(self, run_id: str, **values: Any) -> bool:
        """Set columns that describe the run (name, note, shared, tags, deleted …); False when there is no such run."""
        with self.session() as session:
            return _update(session, RunRow.id == run_id, **values)

    def delete(
        self, run_id: str, binned_before: datetime | None = None, before_commit: Callable[[], object] | None = None
    ) -> bool:
        """Delete the run in any state; False when there is no such run.

        binned_before: only a run that was moved to the bin before that moment and is still there. before_commit: called
        once it is certain that the run goes, while others still see it.
        """
        demanded = [RunRow.id == run_id] + ([] if binned_before is None else [RunRow.deleted < binned_before])
        with self.session() as session:
            result = session.execute(delete(RunRow).where(*demanded))
            if not result.rowcount:  # type: ignore[attr-defined]
                return False
            session.execute(delete(StarRow).where(StarRow.run_id == run_id))
            session.execute(delete(RatingRow).where(RatingRow.run_id == run_id))
            session.execute(delete(CommentRow).where(CommentRow.run_id == run_id))
            if before_commit is not None:
                before_commit()
            return True

    def dataset_in_use(self, dataset_hash: str) -> bool:
        """Whether any run uses the dataset, or it is kept by name."""
        with self.session() as session:
            return any(
                session.scalar(select(exists().where(row.dataset_hash == dataset_hash)))
                for row in (RunRow, KeptDatasetRow)
            )

    def ids_and_datasets(self) -> tuple[set[str], set[str]]:
        """The ids of all runs, and the content hashes of all datasets that are theirs or kept by name."""
        with self.session() as session:
            rows = session.execute(select(RunRow.id, RunRow.dataset_hash)).all()
            kept_hashes = session.scalars(select(KeptDatasetRow.dataset_hash)).all()
        return {run_id for run_id, _ in rows}, {*(dataset_hash for _, dataset_hash in rows), *kept_hashes}

    def cancel(self, run_id: str) -> bool:
        """Cancel a queued run, request a running one to stop; False when it has already ended or is unknown."""
        with self.session() as session:
            if _update(
                session,
                RunRow.id == run_id,
                RunRow.state == "queued",
                state="cancelled",
                finished=_now(),
                process_id=None,
                message=Message("Cancelled before it started."),
            ):
                return True
            return _update(
                session,
                RunRow.id == run_id,
                RunRow.state == "running",
                stop_requested=True,
                message=Message("Asked to stop."),
            )

    def claim(self, process_id: str, running_per_owner: int | None = None) -> RunRecord | None:
        """Set a run that is queued for the process to running, and return it; None when no run may start.

        It is the oldest of the owner with the fewest running runs, so that many runs of one owner do not delay those of
        others. `running_per_owner`: the largest number of runs of one owner that run at once.
        """
        while True:
            with self.session() as session:
                run_id = session.scalar(next_queued(process_id, running_per_owner))
                if run_id is None:
                    return None
                if _set_state(
                    session,
                    run_id,
                    "running",
                    RunRow.process_id == process_id,
                    started=_now(),
                    done=0,
                    total=0,
                    label="",
                    message="",
                    expected=None,
                    attempts=RunRow.attempts + 1,
                ):
                    row = session.scalars(select(RunRow).where(RunRow.id == run_id)).one()
                    return run_record(row)

    def progress(self, process_id: str, reports: Iterable[Progress]) -> None:
        """Write the progress of runs of the process; runs that it no longer owns are not changed."""
        now = _now()
        with self.session() as session:
            for report in reports:
                expected = None if report.eta_seconds is None else now + timedelta(seconds=report.eta_seconds)
                _update(
                    session,
                    RunRow.id == report.run_id,
                    RunRow.state == "running",
                    RunRow.process_id == process_id,
                    done=report.done,
                    total=report.total,
                    label=report.label,
                    expected=expected,
                    per_second=report.per_second,
                )

    def finish(self, run_id: str, process_id: str, state: str, message: str = "", result_bytes: int = 0) -> bool:
        """Set the final state of a running run of the process; False when the process no longer owns it."""
        with self.session() as session:
            if state == "done":
                return _set_state(
                    session,
                    run_id,
                    state,
                    RunRow.process_id == process_id,
                    finished=_now(),
                    process_id=None,
                    message=message,
                    done=RunRow.total,
                    label="",
                    expected=None,
                    stop_requested=False,
                    stored_bytes=RunRow.stored_bytes + result_bytes,
                )
            return _set_state(
                session,
                run_id,
                state,
                RunRow.process_id == process_id,
                finished=_now(),
                process_id=None,
                message=message,
                expected=None,
            )

    def stop_requested(self, process_id: str, run_ids: Iterable[str]) -> set[str]:
        """Those of `run_ids` that the process should stop: stop requested, deleted, or adopted by another process."""
        asked_ids = set(run_ids)
        continuing = select(RunRow.id).where(
            RunRow.id.in_(asked_ids),
            RunRow.state == "running",
            RunRow.process_id == process_id,
            RunRow.stop_requested.is_(False),
        )
        with self.session() as session:
            return asked_ids - set(session.scalars(continuing))

    def heartbeat(self, process: ProcessIdentity) -> None:
        """Record that the process is alive; the first call registers it."""
        with self.session() as session:
            session.merge(
                ProcessRow(
                    id=process.id, host=process.host, pid=process.pid, started=process.started, last_heartbeat=_now()
                )
            )

    def adopt(self, process_id: str) -> int:
        """Queue for the process, in order of submission, the unfinished runs that no live process owns.

        A run with a stop request is cancelled instead, and a run that was started `MAX_ATTEMPTS` times without ending
        fails. Returns the number of queued runs.
        """
        now = _now()
        query = (
            select(RunRow, ProcessRow)
            .outerjoin(ProcessRow, RunRow.process_id == ProcessRow.id)
            .where(RunRow.state.in_(UNFINISHED), or_(RunRow.process_id.is_(None), RunRow.process_id != process_id))
            .order_by(RunRow.number)
        )
        with self.session() as session:
            process_rows = session.scalars(select(ProcessRow).where(ProcessRow.id != process_id))
            alive_by_id = {
                row.id: is_alive(ProcessIdentity(row.id, row.host, row.pid, row.started), row.last_heartbeat, now)
                for row in process_rows
            }
            n_adopted = 0
            for run, process in session.execute(query).all():
                if process is None or not alive_by_id.get(process.id, False):
                    n_adopted += _adopt(session, run, process_id, now)
            dead_ids = [dead_id for dead_id, alive in alive_by_id.items() if not alive]
            session.execute(delete(ProcessRow).where(ProcessRow.id.in_(dead_ids)))
            return n_adopted

    def release(self, process_id: str) -> None:
        """Put the unfinished runs of the process back into the queue, without an owning process."""
        owned = RunRow.process_id == process_id
        with self.session() as session:
            _update(
                session,
                owned,
                RunRow.state == "running",
                state="queued",
                started=None,
                expected=None,
                process_id=None,
                attempts=RunRow.attempts - 1,
            )  # an interrupted start does not count as an attempt
            _update(session, owned, RunRow.state == "queued", process_id=None)
            session.execute(delete(ProcessRow).where(ProcessRow.id == process_id))

    @contextmanager
    def session(self) -> Iterator[Session]:
        """One transaction.

        Raises RunError when the database cannot be read or written at the moment, InputError for a value that it does
        not take, such as a NUL in a text (PostgreSQL).
        """
        try:
            with self._sessions.begin() as session:
                yield session
        except DataError as error:
            reason = " ".join(str(error.orig).split()).rstrip(".?")
            raise InputError(Message("The list of runs takes no such value: {reason}.", reason=reason)) from error
        except (DatabaseError, InterfaceError) as error:
            # Full disk, lock timeout, damaged file, unreachable server; anything else is a bug.
            if type(error) in (DatabaseError, OperationalError, InterfaceError) or error.connection_invalidated:
                reason = " ".join(str(error.orig).split()).rstrip(".?")
                raise RunError(
                    Message("The list of runs cannot be read or written at the moment: {reason}.", reason=reason)
                ) from error
            raise


def _set_state(session: Session, run_id: str, state: str, *conditions: ColumnElement[bool], **values: Any) -> bool:
    may_change = RunRow.state.in_(SOURCE_STATES[state])
    return _update(session, RunRow.id == run_id, may_change, *conditions, state=state, **values)


def _update(session: Session, *conditions: ColumnElement[bool], **values: Any) -> bool:
    change = update(RunRow).where(*conditions).values(**values).execution_options(synchronize_session=False)
    result = session.execute(change)
    return bool(result.rowcount)  # type: ignore[attr-defined]


def _adopt(session: Session, run: RunRow, process_id: str, now: datetime) -> bool:
    unchanged = RunRow.process_id.is_(None) if run.process_id is None else RunRow.process_id == run.process_id
    if run.stop_requested:
        _set_state(session, run.id, "cancelled", unchanged, process_id=None, finished=now, message="Cancelled.")
        return False
    if run.attempts >= MAX_ATTEMPTS:
        _set_state(
            session,
            run.id,
            "failed",
            unchanged,
            process_id=None,
            finished=now,
            expected=None,
            message=Message(
                "The server ended {attempts} times while this run was running, most likely because "
                "it ran out of memory. Choose a smaller model or fewer rows and start it again.",
                attempts=run.attempts,
            ),
        )
        return False
    return _update(
        session,
        RunRow.id == run.id,
        RunRow.state.in_(UNFINISHED),
        unchanged,
        state="queued",
        process_id=process_id,
        started=None,
        expected=None,
    )


def models_of(settings: Mapping[str, Any]) -> list[str]:
    """The names of the models in a run's settings: `models`, or the one `model`."""
    return [*settings.get("models", ()), *([settings["model"]] if settings.get("model") else [])]


def _now() -> datetime:
    return datetime.now(UTC)
