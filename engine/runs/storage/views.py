"""What callers see of a run: plain frozen records, never a row of the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from engine.runs.storage.schema import RunRow


@dataclass(frozen=True)
class RunView:
    """A run as it stood when it was asked for; times are aware and in UTC.

    settings: JSON-able. done of total items; label says of which step ("Sentence vectors: builtin/bert-mini-ja").
    message: why it failed, or that it was asked to stop. eta_seconds: until what label says is done; None unless
    running at a known pace.
    seconds: how long it ran or has been running, None before it started.
    shared: the team may read it. note: the owner's words on it. stored_bytes: its dataset and result on the disk.
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


@dataclass(frozen=True)
class Progress:
    """How far one running run is."""

    run_id: str
    done: int
    total: int
    label: str
    eta_seconds: float | None


def view(row: RunRow) -> RunView:
    """The row as it stands now."""
    now = datetime.now(UTC)
    end = row.finished or now
    running = row.state == "running"
    left = (row.expected - now).total_seconds() if running and row.expected else None
    return RunView(
        id=row.id, owner=row.owner, kind=row.kind, name=row.name, settings=dict(row.settings),
        dataset_name=row.dataset_name, dataset_hash=row.dataset_hash, dataset_notices=tuple(row.dataset_notices),
        state=row.state, done=row.done, total=row.total, label=row.label, message=row.message, created=row.created,
        started=row.started, finished=row.finished,
        eta_seconds=left if left is not None and left >= 0 else None,  # overdue is unknown, not now
        seconds=max(0.0, (end - row.started).total_seconds()) if row.started else None,
        shared=row.shared, note=row.note, models=tuple(filter(None, row.models.split("\n"))),
        stored_bytes=row.stored_bytes,
    )
