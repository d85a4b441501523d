"""Logs as JSON lines for log collectors, without user data.

Log messages are fixed texts with ids, not names. The message of an exception may quote a sentence, so only its type and
stack locations are logged.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

VARIABLE = "HAKARI_LOG"  # "json", or "text"
FIELDS = ("run", "user", "kind", "operation", "seconds", "state", "route", "status", "error", "where")


class JsonLines(logging.Formatter):
    """Fields: time, level, logger, message; FIELDS if the record has them; type and locations of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            line["error"] = type(error).__name__
            line["where"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)
            ]
        line |= {field: getattr(record, field) for field in FIELDS if hasattr(record, field)}
        return json.dumps(line, ensure_ascii=False)


def set_up_logs() -> None:
    """Configure the engine's log by HAKARI_LOG: JSON lines on stderr for "json", else Python's default."""
    logger = logging.getLogger(__name__.partition(".runs.")[0])
    logger.setLevel(logging.INFO)
    if os.environ.get(VARIABLE, "").strip().lower() != "json":
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logger.handlers = [handler]
    logger.propagate = False
