"""Finished pieces on disk, by key: bounded in size, shared by threads and processes, safe to delete.

A failing cache never stops a run: what cannot be read is computed again, what cannot be written is not kept.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from engine.inference.backend import Piece
from engine.inference.cache_file import CacheFile
from engine.inference.piece_bytes import from_bytes, to_bytes
from engine.messages.message import Message
from engine.processes.garbage_collection import garbage_collection_paused

# The resolution of the time of last use: a piece used again within it costs no write.
USE_RESOLUTION_SECONDS = 600
# Older SQLite takes 999 parameters in a statement.
KEYS_PER_STATEMENT = 900
# At most so much is written in one transaction, because other processes wait for it.
BYTES_PER_TRANSACTION = 32 * 2**20
# Bytes of a row beside its value: key, index, checksum, time of use (measured: 212).
ROW_BYTES = 220
# Evict at least this share of the capacity, so that not every piece triggers an eviction.
SHARE_FREED = 0.1

# (key, checksum, value) as written; (row id, key, last use, checksum, value) as read.
_Row = tuple[str, bytes, bytes]
_StoredRow = tuple[int, str, int, bytes, bytes]
_log = logging.getLogger(__name__)


class Cache:
    """Pieces by key, at most `max_bytes` on disk; beyond that the least recently used are evicted.

    A value that fails its checksum is dropped and counts as missing. Several threads and several processes may
    use one file. A piece that is read equals the one that was written; its arrays are copies.
    """

    def __init__(self, path: Path, max_bytes: int, *, now: Callable[[], float] = time.time) -> None:
        """`path` and its folder are created at first use; `now` is the clock for the times of last use."""
        self._file = CacheFile(Path(path))
        self._max_bytes = max_bytes
        self._now = now

    def get_many(self, keys: Iterable[str]) -> dict[str, Piece]:
        """The stored pieces by key; a key without one is absent."""
        unique_keys = list(dict.fromkeys(keys))
        pieces: dict[str, Piece] = {}
        damaged_ids: list[int] = []
        stale_ids: list[int] = []
        oldest_fresh = self._now() - USE_RESOLUTION_SECONDS
        for start in range(0, len(unique_keys), KEYS_PER_STATEMENT):
            batch = unique_keys[start : start + KEYS_PER_STATEMENT]
            rows: list[_StoredRow] = self._file.read(partial(_select, batch), [])
            with garbage_collection_paused():
                for row_id, key, used, checksum, value in rows:
                    try:
                        if _checksum(key, value) != checksum:
                            raise ValueError(Message("the checksum differs"))
                        pieces[key] = from_bytes(value)
                    except ValueError:
                        damaged_ids.append(row_id)
                        continue
                    if used < oldest_fresh:
                        stale_ids.append(row_id)
        if damaged_ids:
            _log.warning("%d damaged cache entries were dropped and will be computed again.", len(damaged_ids))
            self._file.write(partial(_delete, damaged_ids), None)
        if stale_ids:
            self._file.write(partial(_touch, stale_ids, int(self._now())), None)
        return pieces

    def put_many(self, pieces: Mapping[str, Piece]) -> None:
        """Store these pieces; an existing key gets the new value."""
        for rows in _transactions(pieces):
            self._file.write(partial(self._insert, rows), None)

    def cached(
        self, keys: Sequence[str], compute_missing: Callable[[list[str]], Iterable[Mapping[str, Piece]]]
    ) -> dict[str, Piece]:
        """Read-through: the piece of every key, computed where the cache has none.

        `compute_missing` gets the missing keys, each once, in their order, and yields finished pieces part by part.
        Each part is stored at once, so an interrupted computation keeps what it finished. It is not called when
        nothing is missing.
        """
        pieces = self.get_many(keys)
        missing = [key for key in dict.fromkeys(keys) if key not in pieces]
        if missing:
            for part in compute_missing(missing):
                self.put_many(part)
                pieces.update(part)
        return pieces

    def used_bytes(self) -> int:
        """Bytes of the pages in use; the file itself may be larger, as SQLite keeps free pages for reuse."""
        return self._file.read(_used_bytes, 0)

    def clear(self) -> None:
        """Remove every piece, and shrink the file so that no deleted value stays in it."""
        self._file.write(_delete_all, None)
        self._file.read(_vacuum, None)

    def close(self) -> None:
        """Close the file; afterwards reads find nothing and writes store nothing."""
        self._file.close()

    def _insert(self, rows: list[_Row], file: sqlite3.Connection) -> None:
        keys = [key for key, _, _ in rows]
        for start in range(0, len(keys), KEYS_PER_STATEMENT):
            batch = keys[start : start + KEYS_PER_STATEMENT]
            query = f"SELECT id FROM entries WHERE key IN ({_placeholders(batch)})"
            _delete([row_id for (row_id,) in file.execute(query, batch)], file)
        if not self._make_room(file, sum(len(value) + ROW_BYTES for _, _, value in rows)):
            return
        first_id = file.execute("SELECT coalesce(max(id), 0) + 1 FROM entries").fetchone()[0]
        used = int(self._now())
        file.executemany(
            "INSERT INTO entries (id, key, size, used) VALUES (?, ?, ?, ?)",
            [(first_id + i, key, len(value), used) for i, (key, _, value) in enumerate(rows)],
        )
        file.executemany(
            "INSERT INTO pieces (id, checksum, value) VALUES (?, ?, ?)",
            [(first_id + i, checksum, value) for i, (_, checksum, value) in enumerate(rows)],
        )

    def _make_room(self, file: sqlite3.Connection, incoming: int) -> bool:
        """Evict the least recently used until `incoming` bytes fit; False when they never will."""
        if incoming > self._max_bytes:
            return False
        while (excess := _used_bytes(file) + incoming - self._max_bytes) > 0:
            oldest_ids: list[int] = []
            freed = 0
            for row_id, size in file.execute("SELECT id, size FROM entries ORDER BY used, id"):
                oldest_ids.append(row_id)
                freed += size + ROW_BYTES
                if freed >= excess + SHARE_FREED * self._max_bytes:
                    break
            if not oldest_ids:
                return False
            _delete(oldest_ids, file)
        return True


def _transactions(pieces: Mapping[str, Piece]) -> Iterator[list[_Row]]:
    rows: list[_Row] = []
    n_bytes = 0
    for key, piece in pieces.items():
        value = to_bytes(piece)
        if rows and n_bytes + len(value) > BYTES_PER_TRANSACTION:
            yield rows
            rows, n_bytes = [], 0
        rows.append((key, _checksum(key, value), value))
        n_bytes += len(value)
    if rows:
        yield rows


def _checksum(key: str, value: bytes) -> bytes:
    """Keyed by the cache key, so that a value stored under another key is detected as damage."""
    return hashlib.blake2b(value, digest_size=16, key=hashlib.sha256(key.encode()).digest()).digest()


def _select(keys: list[str], file: sqlite3.Connection) -> list[_StoredRow]:
    return file.execute(
        "SELECT id, key, used, checksum, value FROM entries JOIN pieces USING (id) "
        f"WHERE key IN ({_placeholders(keys)})",
        keys,
    ).fetchall()


def _delete(row_ids: list[int], file: sqlite3.Connection) -> None:
    rows = [(row_id,) for row_id in row_ids]
    file.executemany("DELETE FROM pieces WHERE id = ?", rows)
    file.executemany("DELETE FROM entries WHERE id = ?", rows)


def _touch(row_ids: list[int], used: int, file: sqlite3.Connection) -> None:
    file.executemany("UPDATE entries SET used = ? WHERE id = ?", [(used, row_id) for row_id in row_ids])


def _used_bytes(file: sqlite3.Connection) -> int:
    pages, free, size = (
        file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _delete_all(file: sqlite3.Connection) -> None:
    file.execute("DELETE FROM pieces")
    file.execute("DELETE FROM entries")


def _vacuum(file: sqlite3.Connection) -> None:
    file.execute("VACUUM")
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _placeholders(keys: Sequence[str]) -> str:
    return ",".join("?" * len(keys))
