"""The files of a corpus, kept on the disk: a dataset that holds the paths of its texts instead of the texts."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import pandas as pd

from engine.datasets import rows
from engine.errors import InputError, reason_of
from engine.messages.message import Message, list_of

KIND = "corpus"
# Uploads are kept this long, for a second tokenizer.
KEPT_SECONDS = 7 * 24 * 3600
RESERVED_BYTES = 256 * 2**20  # of the disk, which no corpus may take
BLOCK_BYTES = 2**20
MOST_NAME_BYTES = 200


@dataclass(frozen=True)
class CorpusFile:
    """One file: its name, its path, its size and the SHA-256 of its bytes."""

    name: str
    path: Path
    n_bytes: int
    sha256: str


@dataclass(frozen=True)
class CorpusFiles:
    """Text files and archives of them, in the order in which they are read."""

    name: str
    files: tuple[CorpusFile, ...]
    notices: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of files, an archive counting as one."""
        return len(self.files)

    @property
    def n_bytes(self) -> int:
        """Size of all files on the disk, in bytes."""
        return sum(file.n_bytes for file in self.files)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of names and contents in their order; the paths do not count."""
        return rows.content_hash(
            KIND, {"name": [file.name for file in self.files], "sha256": [file.sha256 for file in self.files]}
        )

    def to_frame(self) -> pd.DataFrame:
        """Columns name, path, n_bytes, sha256."""
        return pd.DataFrame(
            {
                "name": pd.Series([file.name for file in self.files], dtype="str"),
                "path": pd.Series([str(file.path) for file in self.files], dtype="str"),
                "n_bytes": pd.Series([file.n_bytes for file in self.files], dtype="int64"),
                "sha256": pd.Series([file.sha256 for file in self.files], dtype="str"),
            }
        )

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, name: str) -> CorpusFiles:
        """The dataset whose `to_frame` this is."""
        return cls(
            name,
            tuple(
                CorpusFile(str(line["name"]), Path(line["path"]), int(line["n_bytes"]), str(line["sha256"]))
                for line in frame.to_dict("records")
            ),
        )

    def paths(self) -> list[Path]:
        """The paths of the files. Raises InputError naming those that are no longer there."""
        missing = [file.name for file in self.files if not file.path.is_file()]
        if missing:
            raise InputError(
                Message(
                    "No longer on the disk: {missing}. A corpus is kept for {KEPT_SECONDS} days; upload it again.",
                    missing=list_of(missing),
                    KEPT_SECONDS=KEPT_SECONDS // 86400,
                )
            )
        return [file.path for file in self.files]


def keep_corpus(
    uploads: Iterable[tuple[str, IO[bytes]]],
    folder: Path,
    name: str,
    *,
    in_use: Collection[str] = (),
    room: Callable[[Mapping[str, int]], None] | None = None,
) -> CorpusFiles:
    """Write uploads, each a name and an open file that can be read twice, into `folder`; equal ones are kept once.

    room: called with the size of each file by its SHA-256 before anything is written; it raises what refuses them.
    Files that were uploaded more than KEPT_SECONDS ago are removed, unless their SHA-256 is `in_use`. Raises InputError
    when there are no uploads, a file is empty, or the disk has no room for them.
    """
    described = [(_file_name(upload_name), content, *_digest(content)) for upload_name, content in uploads]
    empty = [file_name for file_name, _, _, n_bytes in described if not n_bytes]
    if empty or not described:
        raise InputError(
            Message("Empty: {empty}. Leave these files out.", empty=list_of(empty))
            if empty
            else Message("A corpus needs at least one text file, or an archive of them.")
        )
    sizes = {sha256: n_bytes for _, _, sha256, n_bytes in described}
    if room is not None:
        room(sizes)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_expired(folder, {*sizes, *in_use})
        _require_space(folder, sum(n_bytes for sha256, n_bytes in sizes.items() if not (folder / sha256).is_dir()))
        files = [
            CorpusFile(file_name, _keep_upload(file_name, content, sha256, folder), n_bytes, sha256)
            for file_name, content, sha256, n_bytes in described
        ]
    except OSError as error:
        raise InputError(
            Message("The corpus cannot be kept in {folder}: {error}.", folder=folder, error=reason_of(error))
        ) from error
    return CorpusFiles(name, tuple(files))


def _digest(content: IO[bytes]) -> tuple[str, int]:
    """SHA-256 and size of an open file, which is at its start afterwards."""
    digest, n_bytes = hashlib.sha256(), 0
    content.seek(0)
    while block := content.read(BLOCK_BYTES):
        digest.update(block)
        n_bytes += len(block)
    content.seek(0)
    return digest.hexdigest(), n_bytes


def _require_space(folder: Path, n_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if n_bytes > free - RESERVED_BYTES:
        raise InputError(
            Message(
                "The corpus takes {n_bytes:,.1f} MB, and the disk of {folder} has {free:,.1f} MB "
                "left, of which a part is kept for results. Delete runs that you no longer need, or "
                "free some space there.",
                n_bytes=n_bytes / 2**20,
                folder=folder,
                free=free / 2**20,
            )
        )


def _keep_upload(name: str, content: IO[bytes], sha256: str, folder: Path) -> Path:
    temporary = folder / f".tmp-{secrets.token_hex(8)}"
    try:
        with temporary.open("wb") as file:
            shutil.copyfileobj(content, file, BLOCK_BYTES)
        # In a folder named after its content, so that the file keeps its own name for messages.
        target = folder / sha256 / name
        target.parent.mkdir(mode=0o700, exist_ok=True)
        os.replace(temporary, target)
        os.utime(target.parent)  # kept from now on
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _file_name(upload_name: str) -> str:
    """The name without folders and without characters that a file system may not allow."""
    base = unicodedata.normalize("NFC", upload_name).replace("\\", "/").rsplit("/", 1)[-1]
    printable = "".join(character for character in base if character.isprintable() and character not in '<>:"|?*')
    stem, dot, suffix = printable.strip(". ").partition(".")
    # a request may name a file by a million characters
    stem, suffix = stem[:MOST_NAME_BYTES], suffix[-MOST_NAME_BYTES:]
    while len(stem.encode()) + len(suffix.encode()) > MOST_NAME_BYTES and stem:
        stem = stem[:-1]
    while len(suffix.encode()) > MOST_NAME_BYTES:  # what stands behind the first of several dots
        suffix = suffix[1:]
    return f"{stem or 'corpus'}{dot}{suffix}"


def remove_expired(folder: Path, hashes_in_use: Collection[str]) -> int:
    """Remove what was uploaded into a folder more than KEPT_SECONDS ago and is not in use; returns how much. OSError."""
    before, n_removed = time.time() - KEPT_SECONDS, 0
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another server was quicker
            if path.name not in hashes_in_use and path.stat().st_mtime < before:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()  # half an upload of a process that died
                n_removed += 1
    return n_removed
