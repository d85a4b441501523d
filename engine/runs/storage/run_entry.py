"""The entry of a run, kept beside its result (`results/<run id>/run.json`): all that its row in the list of runs says.

A result whose row is lost is listed again from it (`engine.runs.storage.adoption`).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any

from engine.errors import InputError, RunError
from engine.messages.message import Message
from engine.runs.storage.json_codec import record_from_json
from engine.runs.storage.run_record import RunRecord
from engine.version import VERSION

ENTRY = "run.json"
SCHEMA = 1


@dataclass(frozen=True)
class RunEntry:
    """What a finished run's row says, as JSON values.

    created, started, finished: ISO 8601 with a time zone. dataset_type: the name of the class of its data set. key: see
    `engine.runs.run_key`. deleted: when the run was moved to the bin, None if it is not there. version: that of Hakari
    that stored the result.
    """

    id: str
    owner: str
    kind: str
    name: str
    settings: dict[str, Any]
    dataset_type: str
    dataset_name: str
    dataset_hash: str
    created: str
    finished: str
    started: str | None = None
    dataset_notices: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    key: str = ""
    shared: bool = False
    note: str = ""
    deleted: str | None = None
    tags: tuple[str, ...] = ()
    n_rows: int | None = None
    version: str = VERSION


def entry_of(run: RunRecord, dataset_type: str, finished: datetime) -> RunEntry:
    """The entry of a run that ended, or ends, at `finished`."""
    return RunEntry(
        id=run.id,
        owner=run.owner,
        kind=run.kind,
        name=run.name,
        settings=run.settings,
        dataset_type=dataset_type,
        dataset_name=run.dataset_name,
        dataset_hash=run.dataset_hash,
        created=run.created.isoformat(),
        finished=finished.isoformat(),
        started=run.started.isoformat() if run.started else None,
        dataset_notices=run.dataset_notices,
        models=run.models,
        key=run.key,
        shared=run.shared,
        note=run.note,
        deleted=run.deleted.isoformat() if run.deleted else None,
        tags=run.tags,
        n_rows=run.n_rows,
    )


def to_bytes(entry: RunEntry) -> bytes:
    """The entry as the content of its file, with its own CRC-32."""
    values = {"schema": SCHEMA, **asdict(entry)}
    return json.dumps(values | {"checksum": _checksum(values)}, indent=1).encode()


def from_bytes(raw: bytes, what: str) -> RunEntry:
    """The entry that `to_bytes` wrote; fields of a later version are left out.

    Raises RunError, starting with `what`, when it is damaged or lacks a field.
    """
    try:
        values: Mapping[str, Any] = json.loads(raw)
        checksum = values["checksum"]
        described = {name: value for name, value in values.items() if name != "checksum"}
        is_sound = checksum == _checksum(described)
        known = {field.name for field in fields(RunEntry)}
        entry = record_from_json(RunEntry, {name: value for name, value in described.items() if name in known}, "entry")
        settings: dict[str, Any] = described["settings"]
        for moment in (entry.created, entry.finished, entry.started, entry.deleted):
            if moment is not None and datetime.fromisoformat(moment).tzinfo is None:
                raise ValueError(Message("the time {moment} has no time zone", moment=moment))
    except (ValueError, KeyError, TypeError, RecursionError, InputError) as error:
        raise RunError(
            Message("{what} is damaged: {ENTRY} is no entry of a run ({error}).", what=what, ENTRY=ENTRY, error=error)
        ) from error
    if not is_sound:
        raise RunError(Message("{what} is damaged: {ENTRY} is not as it was written.", what=what, ENTRY=ENTRY))
    # As stored: a value that is not finite stays in its JSON form, as in the settings of a row.
    return replace(entry, settings=settings)


def _checksum(values: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(values, sort_keys=True).encode())
