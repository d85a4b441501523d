"""Health check of an instance: the database, the disk, the workers, the list of members, the audit log."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from engine.errors import EngineError, reason_of
from engine.messages.message import Message
from engine.runs.open import Engine
from engine.runs.storage.unlisted import MEGABYTE, advice

MIN_FREE_BYTES = 256 * MEGABYTE


@dataclass(frozen=True)
class Health:
    """`parts`: status of each part, "ok" or the fault. `notices`: what is no fault, but needs the operator."""

    parts: dict[str, str]
    notices: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every part is ok."""
        return all(status == "ok" for status in self.parts.values())


def health(engine: Engine) -> Health:
    """Check each part now; errors of a part are reported in its status."""
    notices: tuple[str, ...] = ()
    parts = {"database": "ok", "disk": disk_fault(engine.data_dir) or "ok", "workers": "ok"}
    try:
        engine.store.n_by_state()
        if unlisted := engine.unlisted.current():
            notices = (advice(unlisted),)
    except EngineError as error:
        parts["database"] = str(error)
    if fault := engine.backend.fault():
        parts["workers"] = fault
    if engine.membership is not None:
        engine.membership.listed.current()
        parts["members"] = engine.membership.listed.fault or "ok"
        parts["audit log"] = engine.audit.fault or "ok"
    return Health(parts, notices)


def disk_fault(directory: Path, min_free_bytes: int = MIN_FREE_BYTES) -> str:
    """Why nothing more can be stored in a directory, or soon cannot; "" where it can."""
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(b"x")
            file.flush()
        free = shutil.disk_usage(directory).free
    except OSError as error:
        return Message("{directory} cannot be written: {error}", directory=directory, error=reason_of(error))
    return (
        ""
        if free >= min_free_bytes
        else Message(
            "{MEGABYTE:,.0f} MB are free at {directory}, less than "
            "{MEGABYTE_:,.0f} MB. Delete runs, or empty the cache and the "
            "bin (python -m engine clean).",
            MEGABYTE=free / MEGABYTE,
            directory=directory,
            MEGABYTE_=min_free_bytes / MEGABYTE,
        )
    )
