"""Times of rows and files moved into the future: what a server finds whose clock was turned back."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from datetime import timedelta

from sqlalchemy import select

from engine.runs.storage.schema import KeptDatasetRow, ProcessRow, RunRow
from tests.faults.site import Site

COLUMNS = {
    RunRow: ("created", "started", "finished", "deleted"),
    ProcessRow: ("last_heartbeat",),
    KeptDatasetRow: ("created",),
}


def move(site: Site, seconds: int) -> None:
    """Move every time that the disk holds by so many seconds."""
    with site.store() as store, store.session() as session:
        for table, columns in COLUMNS.items():
            for row in session.scalars(select(table)):
                for column in columns:
                    time = getattr(row, column, None)
                    if time is not None:
                        setattr(row, column, time + timedelta(seconds=seconds))
    if (site.data / "cache.sqlite").exists():
        with contextlib.closing(sqlite3.connect(site.data / "cache.sqlite", timeout=30)) as file, file:
            file.execute("UPDATE entries SET used = used + ?", (seconds,))
    for path in site.data.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            stat = path.stat()
            os.utime(path, (stat.st_atime + seconds, stat.st_mtime + seconds))
