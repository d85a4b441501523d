"""The files of a corpus, kept on the disk: a dataset that holds the paths of its texts instead of the texts."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import time
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import pandas as pd

from engine.datasets import rows
from engine.errors import InputError

KIND = "corpus"
# Uploads are kept this long, for a second tokenizer and for queued runs, and up to this total size.
KEPT_SECONDS = 7 * 24 * 3600
KEPT_BYTES = 8 * 2**30
BLOCK_BYTES = 2**20
MAX_NAME_CHARACTERS = 100


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
        return rows.content_hash(KIND, {"name": [file.name for file in self.files],
                                        "sha256": [file.sha256 for file in self.files]})

    def to_frame(self) -> pd.DataFrame:
        """Columns name, path, n_bytes, sha256."""
        return pd.DataFrame({
            "name": pd.Series([file.name for file in self.files], dtype="str"),
            "path": pd.Series([str(file.path) for file in self.files], dtype="str"),
            "n_bytes": pd.Series([file.n_bytes for file in self.files], dtype="int64"),
            "sha256": pd.Series([file.sha256 for file in self.files], dtype="str"),
        })

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, name: str) -> CorpusFiles:
        """The dataset whose `to_frame` this is."""
        return cls(name, tuple(CorpusFile(str(line["name"]), Path(line["path"]), int(line["n_bytes"]),
                                          str(line["sha256"])) for line in frame.to_dict("records")))

    def paths(self) -> list[Path]:
        """The paths of the files. Raises InputError naming those that are no longer there."""
        missing = [file.name for file in self.files if not file.path.is_file()]
        if missing:
            raise InputError(f"No longer on the disk: {', '.join(missing)}. A corpus is kept for "
                             f"{KEPT_SECONDS // 86400} days; upload it again.")
        return [file.path for file in self.files]


def keep_corpus(uploads: Iterable[tuple[str, IO[bytes]]], folder: Path, name: str) -> CorpusFiles:
    """Write uploads, each a name and an open file, into `folder`; equal ones are kept once.

    Files kept there for more than KEPT_SECONDS, and the oldest beyond KEPT_BYTES, are removed. Raises InputError when
    there are no uploads, a file is empty, or the disk is full.
    """
    files = []
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for upload_name, content in uploads:
            files.append(_keep_upload(upload_name, content, folder))
        _remove_expired(folder, {file.path.parent for file in files})
    except OSError as error:
        raise InputError(f"The corpus cannot be kept in {folder}: {error.strerror or error}.") from error
    empty = [file.name for file in files if not file.n_bytes]
    if empty or not files:
        raise InputError(f"Empty: {', '.join(empty)}. Leave these files out." if empty else
                         "A corpus needs at least one text file, or an archive of them.")
    return CorpusFiles(name, tuple(files))


def _keep_upload(upload_name: str, content: IO[bytes], folder: Path) -> CorpusFile:
    name = _file_name(upload_name)
    digest, n_bytes = hashlib.sha256(), 0
    temporary = folder / f".tmp-{secrets.token_hex(8)}"
    try:
        with temporary.open("wb") as file:
            while block := content.read(BLOCK_BYTES):
                digest.update(block)
                n_bytes += file.write(block)
        # In a folder named after its content, so that the file keeps its own name for messages.
        target = folder / digest.hexdigest() / name
        target.parent.mkdir(mode=0o700, exist_ok=True)
        os.replace(temporary, target)
        os.utime(target.parent)  # kept from now on
    finally:
        temporary.unlink(missing_ok=True)
    return CorpusFile(name, target, n_bytes, digest.hexdigest())


def _file_name(upload_name: str) -> str:
    """The name without folders and without characters that a file system may not allow."""
    base = unicodedata.normalize("NFC", upload_name).replace("\\", "/").rsplit("/", 1)[-1]
    printable = "".join(character for character in base if character.isprintable() and character not in '<>:"|?*')
    stem, dot, suffix = printable.strip(". ").partition(".")
    while len(stem.encode()) + len(suffix.encode()) > MAX_NAME_CHARACTERS * 2 and stem:
        stem = stem[:-1]
    return f"{stem or 'corpus'}{dot}{suffix}"


def _remove_expired(folder: Path, folders_in_use: set[Path]) -> None:
    kept = sorted(((path.stat().st_mtime, path) for path in folder.iterdir() if path.is_dir()), reverse=True)
    used = 0
    for modified, path in kept:
        used += sum(file.stat().st_size for file in path.iterdir())
        if path not in folders_in_use and (modified < time.time() - KEPT_SECONDS or used > KEPT_BYTES):
            shutil.rmtree(path, ignore_errors=True)
