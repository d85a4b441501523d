"""Moving the list of runs from one database to another: SQLite to PostgreSQL, or back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from sqlalchemy import URL, Connection, Engine, Table, delete, func, insert, select, text
from sqlalchemy.exc import DBAPIError

from engine.errors import InputError, RunError
from engine.language.quantities import count
from engine.messages.message import Message
from engine.runs.storage.database import location_of, open_database
from engine.runs.storage.processes import ProcessIdentity, is_alive
from engine.runs.storage.schema import (
    CommentRow,
    KeptDatasetRow,
    MemberRow,
    PresetRow,
    ProcessRow,
    RatingRow,
    RunRow,
    StarRow,
    ViewerNameRow,
    VisitRow,
)

RUNS, PROCESSES = cast(Table, RunRow.__table__), cast(Table, ProcessRow.__table__)
BESIDE_RUNS = tuple(
    cast(Table, row.__table__)
    for row in (StarRow, ViewerNameRow, KeptDatasetRow, PresetRow, RatingRow, CommentRow, VisitRow, MemberRow)
)
ROWS_AT_ONCE = 500
MOVED_SUFFIX = ".moved"
# A run that a process had begun is queued again, as when the process closes.
RELEASED = {"state": "queued", "started": None, "expected": None}


@dataclass(frozen=True)
class Move:
    """The number of runs in the source, and in the target before and after. kept_file: the former SQLite file."""

    n_source: int
    n_before: int
    n_after: int
    kept_file: Path | None = None


def move_runs(source: URL, target: URL, *, dry_run: bool = False) -> Move:
    """Copy all runs into an empty list, compare each row with its source, and put a source that is a file aside.

    What belongs to the list goes with them: kept data sets, presets, ratings, comments, stars, the names of browsers and the
    accounts of members, who sign in again. A list of kept data sets alone is not empty.

    Both databases are migrated to the newest schema first. The rows are written in one transaction: all of them or
    none. A SQLite file is renamed to `*.moved` afterwards, so that it is not taken for the list by mistake. Raises
    InputError when the source is not there or empty, when a process has it open, or when the target is not empty;
    RunError when the rows cannot be written or do not come back as they were.
    """
    source_name, target_name = location_of(source), location_of(target)
    if source == target:
        raise InputError(
            Message(
                "The runs are in {source_name} already: source and target are the same database.",
                source_name=source_name,
            )
        )
    source_file = Path(str(source.database)) if source.get_backend_name() == "sqlite" else None
    if source_file is not None and not source_file.is_file():
        raise InputError(
            Message(
                "There is no list of runs {source_file} to move. Name the database with --from.",
                source_file=source_file,
            )
        )
    source_engine = open_database(source)
    try:
        target_engine = open_database(target)
        try:
            move = _copy(source_engine, target_engine, source_name, target_name, dry_run=dry_run)
        finally:
            target_engine.dispose()
    finally:
        source_engine.dispose()
    if source_file is None or dry_run:
        return move
    return Move(move.n_source, move.n_before, move.n_after, _put_aside(source_file))


def _copy(source: Engine, target: Engine, source_name: str, target_name: str, *, dry_run: bool) -> Move:
    with source.connect() as reading, target.connect() as writing:
        _lock(writing)
        n_source, n_before = _n_runs(reading), _n_runs(writing)
        n_kept_before = _n_kept(writing)
        if not n_source and not _n_kept(reading):
            raise InputError(
                Message(
                    "The list of runs in {source_name} is empty: there is nothing to move.", source_name=source_name
                )
            )
        if n_before or n_kept_before:
            listed = (
                Message("it lists {n_before}", n_before=count(n_before, "run"))
                if not n_kept_before
                else Message(
                    "it lists {n_before} and {n_kept_before} of kept data sets",
                    n_before=count(n_before, "run"),
                    n_kept_before=count(n_kept_before, "version"),
                )
            )
            raise InputError(
                Message(
                    "{target_name} is not empty: {listed}. The {n_source} of {source_name} can be "
                    "moved into an empty database only. Nothing was changed.",
                    target_name=target_name,
                    listed=listed,
                    n_source=count(n_source, "run"),
                    source_name=source_name,
                )
            )
        _refuse_live_processes(reading, source_name)
        if dry_run:
            return Move(n_source, 0, 0)
        try:
            for rows in reading.execute(select(RUNS).order_by(RUNS.c.number)).mappings().partitions(ROWS_AT_ONCE):
                _copy_rows(writing, [dict(row) for row in rows], target_name)
            for table in BESIDE_RUNS:
                _copy_beside(reading, writing, table)
            if writing.dialect.name == "postgresql":
                writing.execute(
                    text("SELECT setval(pg_get_serial_sequence('runs', 'number'), (SELECT max(number) FROM runs))")
                )
            n_after = _n_runs(writing)
            if n_after != n_source:
                raise RunError(
                    Message(
                        "Only {n_after:,} of {n_source} arrived in {target_name}. Nothing was changed.",
                        n_after=n_after,
                        n_source=count(n_source, "run"),
                        target_name=target_name,
                    )
                )
            writing.commit()
        except DBAPIError as error:
            reason = " ".join(str(error.orig).split()).rstrip(".?")
            raise RunError(
                Message(
                    "The runs cannot be written to {target_name}: {reason}. Nothing was changed.",
                    target_name=target_name,
                    reason=reason,
                )
            ) from error
    return Move(n_source, n_before, n_after)


def _copy_rows(writing: Connection, rows: Sequence[dict[str, Any]], target_name: str) -> None:
    copies = [_released(row) for row in rows]
    writing.execute(insert(RUNS), copies)
    numbers = [copy["number"] for copy in copies]
    written = writing.execute(select(RUNS).where(RUNS.c.number.in_(numbers)).order_by(RUNS.c.number)).mappings()
    for copy, row in zip(copies, written, strict=True):
        if dict(row) != copy:
            differing = ", ".join(name for name, value in row.items() if value != copy[name])
            raise RunError(
                Message(
                    "The run {copy} does not come back from {target_name} as it was ({differing}). "
                    "Nothing was changed.",
                    copy=copy["id"],
                    target_name=target_name,
                    differing=differing,
                )
            )


def _copy_beside(reading: Connection, writing: Connection, table: Table) -> None:
    """Copy a table that belongs to the runs, in place of the stars and names that an empty list had."""
    writing.execute(delete(table))
    for rows in reading.execute(select(table)).mappings().partitions(ROWS_AT_ONCE):
        writing.execute(insert(table), [dict(row) for row in rows])


def _released(row: dict[str, Any]) -> dict[str, Any]:
    copy = row | {"process_id": None}
    return copy | RELEASED if copy["state"] == "running" else copy


def _lock(connection: Connection) -> None:
    """Let nobody else write to the list until the transaction ends."""
    connection.exec_driver_sql(
        "BEGIN IMMEDIATE" if connection.dialect.name == "sqlite" else "LOCK TABLE runs, kept_datasets IN EXCLUSIVE MODE"
    )


def _n_runs(connection: Connection) -> int:
    return int(connection.scalar(select(func.count()).select_from(RUNS)) or 0)


def _n_kept(connection: Connection) -> int:
    """The number of versions of kept data sets."""
    return int(connection.scalar(select(func.count()).select_from(KeptDatasetRow)) or 0)


def _refuse_live_processes(connection: Connection, source_name: str) -> None:
    now = datetime.now(UTC)
    alive = [
        row
        for row in connection.execute(select(PROCESSES)).mappings()
        if is_alive(ProcessIdentity(row["id"], row["host"], row["pid"], row["started"]), row["signed"], now)
    ]
    if alive:
        pids = ", ".join(str(row["pid"]) for row in alive)
        raise InputError(
            Message(
                "{source_name} is in use (by process {pids}): runs that are added meanwhile would be "
                "lost. Stop the server first.",
                source_name=source_name,
                pids=pids,
            )
        )


def _put_aside(file: Path) -> Path | None:
    """Rename the former list; None when that cannot be, or a process has it open after all."""
    target = file.with_name(file.name + MOVED_SUFFIX)
    number = 1
    while target.exists():
        number += 1
        target = file.with_name(f"{file.name}{MOVED_SUFFIX}-{number}")
    if file.with_name(f"{file.name}-wal").exists():
        return None
    try:
        os.rename(file, target)
    except OSError:
        return None
    return target
