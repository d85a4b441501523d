"""The SQLite file below the cache: opened when needed, put aside when damaged, done without when unusable."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

# Raised when the tables change: a file of another version is put aside.
FILE_VERSION = 1
# How long a statement waits for another process to finish writing.
BUSY_SECONDS = 10.0
WAL_BYTES = 64 * 2**20

# The values stand apart from what is updated at every use: SQLite rewrites whole rows.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
                                    used INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS entries_by_use ON entries (used);
CREATE TABLE IF NOT EXISTS pieces (id INTEGER PRIMARY KEY, checksum BLOB NOT NULL, value BLOB NOT NULL);
"""
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_log = logging.getLogger(__name__)
Answer = TypeVar("Answer")


class CacheFile:
    """One connection behind a lock. `read` and `write` never raise for what the disk does."""

    def __init__(self, path: Path) -> None:
        """Nothing is opened yet."""
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        self._warned = False

    def read(self, action: Callable[[sqlite3.Connection], Answer], otherwise: Answer) -> Answer:
        """What `action` returns, or `otherwise` when the file cannot be used."""
        return self._attempt(action, otherwise)

    def write(self, action: Callable[[sqlite3.Connection], Answer], otherwise: Answer) -> Answer:
        """The same, in a transaction that is kept whole or not at all."""
        def transaction(connection: sqlite3.Connection) -> Answer:
            # IMMEDIATE: a lock taken late could not be waited for (SQLITE_BUSY at once).
            connection.execute("BEGIN IMMEDIATE")
            answer = action(connection)
            connection.execute("COMMIT")
            return answer
        return self._attempt(transaction, otherwise)

    def close(self) -> None:
        """Close the file; reading and writing go on as if it were empty and full."""
        with self._lock:
            self._closed = True
            self._disconnect()

    def _attempt(self, action: Callable[[sqlite3.Connection], Answer], otherwise: Answer) -> Answer:
        with self._lock:
            if self._closed:
                return otherwise
            try:
                try:
                    return self._tried(action)
                except sqlite3.DatabaseError as error:
                    if not _is_damage(error):
                        raise
                    self._disconnect()
                    # Another process may have put the same file aside already: then ours is new and sound.
                    if not _is_sound(self._path):
                        self._put_aside(error)
                    return self._tried(action)
            except (sqlite3.Error, OSError) as error:
                self._warn_once(error)
                return otherwise

    def _tried(self, action: Callable[[sqlite3.Connection], Answer]) -> Answer:
        if self._connection is None:
            self._connection = self._connect()
        try:
            return action(self._connection)
        except BaseException:
            if self._connection.in_transaction:
                self._connection.rollback()
            raise

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, FILE_VERSION):
                connection.close()
                self._put_aside(f"version {version} where {FILE_VERSION} is read")
                return self._connect()
            connection.execute("PRAGMA journal_mode = WAL")
            # In WAL mode a crash of this process loses nothing with NORMAL, a power cut the last moments.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
            if version == 0:
                connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {FILE_VERSION}; COMMIT;")
        except BaseException:
            connection.close()
            raise
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _put_aside(self, why: object) -> None:
        aside = self._path.with_name(self._path.name + ".corrupt")
        _log.warning("The cache %s cannot be read (%s); it is put aside as %s and begun anew.", self._path, why, aside)
        self._path.replace(aside)
        for suffix in ("-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _warn_once(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            _log.warning("The cache %s cannot be used (%s); work goes on, and what cannot be kept will be computed "
                         "again.", self._path, error)


def _is_damage(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _DAMAGED  # the low byte of an extended code


def _is_sound(path: Path) -> bool:
    try:
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
        try:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        return not _is_damage(error)
