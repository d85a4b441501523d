"""The frozen record of a run, which callers get instead of a row of the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from engine.runs.storage.schema import RunRow


@dataclass(frozen=True)
class RunRecord:
    """A snapshot of a run; times are time-zone aware, in UTC.

    settings: JSON-able. done, total: items of the step that label names ("Sentence vectors: builtin/bert-mini-ja").
    message: why it failed, or that it was asked to stop. eta_seconds: estimated time until the step is done; None if
    unknown or not running. per_second: items of the step in a second, None likewise. seconds: how long it ran or has
    been running, None before it started.
    shared: the team may read it. note: the owner's comment. stored_bytes: size of its dataset and result on the disk.
    key: see `engine.runs.run_key`. deleted: when it was moved to the bin, None if it is not there. n_rows: of the
    dataset, None if not known. headline: its numbers for lists of runs, None until they were stored.
    """

    id: str
    owner: str
    kind: str
    name: str
    settings: dict[str, Any]
    dataset_name: str
    dataset_hash: str
    dataset_notices: tuple[str, ...]
    state: str
    done: int
    total: int
    label: str
    message: str
    created: datetime
    started: datetime | None
    finished: datetime | None
    eta_seconds: float | None
    seconds: float | None
    shared: bool = False
    note: str = ""
    models: tuple[str, ...] = ()
    stored_bytes: int = 0
    key: str = ""
    deleted: datetime | None = None
    tags: tuple[str, ...] = ()
    n_rows: int | None = None
    headline: dict[str, Any] | None = None
    per_second: float | None = None


@dataclass(frozen=True)
class Progress:
    """The progress of a running run."""

    run_id: str
    done: int
    total: int
    label: str
    eta_seconds: float | None
    per_second: float | None = None


def run_record(row: RunRow) -> RunRecord:
    """The record of a row, at the present time."""
    now = datetime.now(UTC)
    end = row.finished or now
    is_running = row.state == "running"
    remaining = (row.expected - now).total_seconds() if is_running and row.expected else None
    return RunRecord(
        id=row.id,
        owner=row.owner,
        kind=row.kind,
        name=row.name,
        settings=dict(row.settings),
        dataset_name=row.dataset_name,
        dataset_hash=row.dataset_hash,
        dataset_notices=tuple(row.dataset_notices),
        state=row.state,
        done=row.done,
        total=row.total,
        label=row.label,
        message=row.message,
        created=row.created,
        started=row.started,
        finished=row.finished,
        eta_seconds=remaining if remaining is not None and remaining >= 0 else None,  # unknown when overdue
        seconds=max(0.0, (end - row.started).total_seconds()) if row.started else None,
        shared=row.shared,
        note=row.note,
        models=tuple(filter(None, row.models.split("\n"))),
        stored_bytes=row.stored_bytes,
        key=row.key,
        deleted=row.deleted,
        tags=tuple(filter(None, row.tags.split("\n"))),
        n_rows=row.n_rows,
        headline=row.headline,
        per_second=row.per_second if is_running else None,
    )
