"""Finished pieces on disk, by key: bounded, shared by threads and processes, safe to lose.

Nothing here stops the work: what cannot be read is computed again, what cannot be written is not kept.
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

# The time of last use is kept this exactly: a piece used again within it costs no write.
USE_RESOLUTION_SECONDS = 600
# Older SQLite takes 999 parameters in a statement.
KEYS_PER_STATEMENT = 900
# What one transaction writes: other processes wait that long at most.
BYTES_PER_TRANSACTION = 32 * 2**20
# What a row costs beside its value: key, its index, checksum, time of use (measured: 212).
ROW_BYTES = 220
# Room is made in steps of this share, so that it is not made again for every piece.
SHARE_FREED = 0.1

# key, checksum, value; and with the row's number and its last use, as it is read.
_Row = tuple[str, bytes, bytes]
_Found = tuple[int, str, int, bytes, bytes]
_log = logging.getLogger(__name__)


class Cache:
    """Pieces by key, at most `max_bytes` on disk; past that the least recently used go.

    A value that fails its checksum is dropped and counts as missing. Several threads and several processes may
    use one file. A piece comes back equal to what was put, with arrays of its own.
    """

    def __init__(self, path: Path, max_bytes: int, *, now: Callable[[], float] = time.time) -> None:
        """`path` is made at first use, its folder too; `now` is the clock that last uses are read from."""
        self._file = CacheFile(Path(path))
        self._max_bytes = max_bytes
        self._now = now

    def get_many(self, keys: Iterable[str]) -> dict[str, Piece]:
        """The pieces there are; a key without one is absent from the answer."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, Piece] = {}
        damaged: list[int] = []
        stale: list[int] = []
        oldest_fresh = self._now() - USE_RESOLUTION_SECONDS
        for start in range(0, len(wanted), KEYS_PER_STATEMENT):
            some = wanted[start:start + KEYS_PER_STATEMENT]
            rows: list[_Found] = self._file.read(partial(_select, some), [])
            for number, key, used, checksum, value in rows:
                try:
                    if _checksum(key, value) != checksum:
                        raise ValueError("the checksum differs")
                    found[key] = from_bytes(value)
                except ValueError:
                    damaged.append(number)
                    continue
                if used < oldest_fresh:
                    stale.append(number)
        if damaged:
            _log.warning("%d damaged entries of the cache are dropped and will be computed again.", len(damaged))
            self._file.write(partial(_delete, damaged), None)
        if stale:
            self._file.write(partial(_touch, stale, int(self._now())), None)
        return found

    def put_many(self, pieces: Mapping[str, Piece]) -> None:
        """Keep these pieces; a key that is there already gets the new value."""
        for rows in _transactions(pieces):
            self._file.write(partial(self._insert, rows), None)

    def cached(
        self, keys: Sequence[str], compute_missing: Callable[[list[str]], Iterable[Mapping[str, Piece]]]
    ) -> dict[str, Piece]:
        """Read through: the piece of every key, computed where there is none.

        `compute_missing` gets the missing keys, each once, in their order, and hands back what it finished part by
        part; each part is kept at once, so work that is stopped midway keeps what it finished. It is not called
        when nothing is missing.
        """
        pieces = self.get_many(keys)
        missing = [key for key in dict.fromkeys(keys) if key not in pieces]
        if missing:
            for part in compute_missing(missing):
                self.put_many(part)
                pieces.update(part)
        return pieces

    def used_bytes(self) -> int:
        """Bytes on disk that hold something; the file itself keeps emptied pages for later."""
        return self._file.read(_used_bytes, 0)

    def clear(self) -> None:
        """Remove every piece, and overwrite on the disk where it stood."""
        self._file.write(_empty, None)
        self._file.read(_shrink, None)

    def close(self) -> None:
        """Close the file; after that the cache is empty and keeps nothing."""
        self._file.close()

    def _insert(self, rows: list[_Row], file: sqlite3.Connection) -> None:
        keys = [key for key, _, _ in rows]
        for start in range(0, len(keys), KEYS_PER_STATEMENT):
            some = keys[start:start + KEYS_PER_STATEMENT]
            query = f"SELECT id FROM entries WHERE key IN ({_marks(some)})"
            _delete([number for (number,) in file.execute(query, some)], file)
        if not self._make_room(file, sum(len(value) + ROW_BYTES for _, _, value in rows)):
            return
        first = file.execute("SELECT coalesce(max(id), 0) + 1 FROM entries").fetchone()[0]
        used = int(self._now())
        file.executemany("INSERT INTO entries (id, key, size, used) VALUES (?, ?, ?, ?)",
                         [(first + i, key, len(value), used) for i, (key, _, value) in enumerate(rows)])
        file.executemany("INSERT INTO pieces (id, checksum, value) VALUES (?, ?, ?)",
                         [(first + i, checksum, value) for i, (_, checksum, value) in enumerate(rows)])

    def _make_room(self, file: sqlite3.Connection, incoming: int) -> bool:
        """Delete the least recently used until `incoming` bytes fit; False when they never will."""
        if incoming > self._max_bytes:
            return False
        while (excess := _used_bytes(file) + incoming - self._max_bytes) > 0:
            oldest: list[int] = []
            freed = 0
            for number, size in file.execute("SELECT id, size FROM entries ORDER BY used, id"):
                oldest.append(number)
                freed += size + ROW_BYTES
                if freed >= excess + SHARE_FREED * self._max_bytes:
                    break
            if not oldest:
                return False
            _delete(oldest, file)
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
    """Over the key too: a value that stands under another key is damage."""
    return hashlib.blake2b(value, digest_size=16, key=hashlib.sha256(key.encode()).digest()).digest()


def _select(keys: list[str], file: sqlite3.Connection) -> list[_Found]:
    return file.execute("SELECT id, key, used, checksum, value FROM entries JOIN pieces USING (id) "
                        f"WHERE key IN ({_marks(keys)})", keys).fetchall()


def _delete(numbers: list[int], file: sqlite3.Connection) -> None:
    rows = [(number,) for number in numbers]
    file.executemany("DELETE FROM pieces WHERE id = ?", rows)
    file.executemany("DELETE FROM entries WHERE id = ?", rows)


def _touch(numbers: list[int], used: int, file: sqlite3.Connection) -> None:
    file.executemany("UPDATE entries SET used = ? WHERE id = ?", [(used, number) for number in numbers])


def _used_bytes(file: sqlite3.Connection) -> int:
    pages, free, size = (file.execute(f"PRAGMA {name}").fetchone()[0]
                         for name in ("page_count", "freelist_count", "page_size"))
    return int((pages - free) * size)


def _empty(file: sqlite3.Connection) -> None:
    file.execute("DELETE FROM pieces")
    file.execute("DELETE FROM entries")


def _shrink(file: sqlite3.Connection) -> None:
    file.execute("VACUUM")
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _marks(keys: Sequence[str]) -> str:
    return ",".join("?" * len(keys))
