"""The log of who did what: one JSON line for each action, with ids and addresses and without a word of the data.

    {"time": "2026-01-31T09:30:00.123+00:00", "action": "share", "user": "member:…", "address": "ann@lab.example",
     "run": "…"}

Names of runs, data sets and files are their owners' texts and are left out.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from engine.errors import reason_of
from engine.messages.message import Message
from engine.runs.access.viewers import Viewer

VARIABLE = "HAKARI_AUDIT_LOG"
FILE = "audit.jsonl"  # in the data directory

logger = logging.getLogger(__name__)


class AuditLog:
    """Appends to one file, which may be rotated at any time. Safe across threads and processes.

    path: None records nothing. `fault`: why the last line could not be written, "" where it was.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.fault = ""

    def record(self, action: str, viewer: Viewer | None = None, **fields: str | int | bool) -> None:
        """Append an action. Never raises: what cannot be written is reported in the server's log and by `fault`."""
        if self._path is None:
            return
        who = {} if viewer is None else {"user": viewer.id} | ({"address": viewer.address} if viewer.address else {})
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "action": action, **who, **fields}
        try:
            descriptor = os.open(self._path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
            try:
                # One call, so that lines stay whole.
                os.write(descriptor, (json.dumps(line, ensure_ascii=False) + "\n").encode())
            finally:
                os.close(descriptor)
            self.fault = ""
        except OSError as error:
            if not self.fault:
                logger.error("The audit log cannot be written.")
            self.fault = Message(
                "the audit log {path} cannot be written: {error}", path=self._path, error=reason_of(error)
            )


def audit_log(environment: Mapping[str, str], data_dir: Path, *, hosted: bool) -> AuditLog:
    """The log of HAKARI_AUDIT_LOG, a file or "off"; by default in the data directory of a hosted instance."""
    value = environment.get(VARIABLE, "").strip()
    if value.lower() == "off" or (not value and not hosted):
        return AuditLog()
    return AuditLog(Path(value).expanduser().absolute() if value else data_dir / FILE)
