"""The SQLite file of the cache: opened on first use, quarantined when damaged, ignored when unusable."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from engine.messages.message import Message

# To be incremented when the tables change: a file of another version is quarantined.
FILE_VERSION = 1
# How long a statement waits for another process to finish writing.
BUSY_SECONDS = 10.0
WAL_BYTES = 64 * 2**20

# Values are in a table of their own: SQLite rewrites whole rows, and the time of use is updated often.
_SCHEMA = Message(
    "\nCREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, size "
    "INTEGER NOT NULL,\n                                    used INTEGER NOT NULL);\nCREATE INDEX IF "
    "NOT EXISTS entries_by_use ON entries (used);\nCREATE TABLE IF NOT EXISTS pieces (id INTEGER "
    "PRIMARY KEY, checksum BLOB NOT NULL, value BLOB NOT NULL);\n"
)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_log = logging.getLogger(__name__)
Result = TypeVar("Result")


class CacheFile:
    """One connection, guarded by a lock. `read` and `write` never raise errors of the disk or of the database."""

    def __init__(self, path: Path) -> None:
        """The file is opened at first use."""
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        self._warned = False

    def read(self, action: Callable[[sqlite3.Connection], Result], default: Result) -> Result:
        """What `action` returns, or `default` when the file cannot be used."""
        return self._attempt(action, default)

    def write(self, action: Callable[[sqlite3.Connection], Result], default: Result) -> Result:
        """As `read`, in a transaction that is committed completely or rolled back."""

        def transaction(connection: sqlite3.Connection) -> Result:
            # IMMEDIATE: a read lock that is upgraded later fails with SQLITE_BUSY at once, without waiting.
            connection.execute("BEGIN IMMEDIATE")
            result = action(connection)
            connection.execute("COMMIT")
            return result

        return self._attempt(transaction, default)

    def close(self) -> None:
        """Close the file; afterwards every read and write returns its default."""
        with self._lock:
            self._closed = True
            self._disconnect()

    def _attempt(self, action: Callable[[sqlite3.Connection], Result], default: Result) -> Result:
        with self._lock:
            if self._closed:
                return default
            try:
                try:
                    return self._execute(action)
                except sqlite3.DatabaseError as error:
                    if not _is_damage(error):
                        raise
                    self._disconnect()
                    # Another process may have quarantined the file already; then this one is new and sound.
                    if not _is_sound(self._path):
                        self._quarantine(error)
                    return self._execute(action)
            except (sqlite3.Error, OSError) as error:
                self._warn_once(error)
                return default

    def _execute(self, action: Callable[[sqlite3.Connection], Result]) -> Result:
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
                self._quarantine(
                    Message(
                        "its version is {version}, expected {FILE_VERSION}", version=version, FILE_VERSION=FILE_VERSION
                    )
                )
                return self._connect()
            connection.execute("PRAGMA journal_mode = WAL")
            # In WAL mode with NORMAL, a crash of this process loses nothing, a power cut the last transactions.
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

    def _quarantine(self, reason: object) -> None:
        quarantine_path = self._path.with_name(self._path.name + ".corrupt")
        _log.warning(
            "The cache %s cannot be read (%s); it was renamed to %s and a new cache is started.",
            self._path,
            reason,
            quarantine_path,
        )
        self._path.replace(quarantine_path)
        for suffix in ("-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _warn_once(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            _log.warning(
                "The cache %s cannot be used (%s); runs continue, and uncached results will be computed again.",
                self._path,
                error,
            )


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
