"""The files of a corpus, kept on the disk: a dataset that says where its texts are instead of holding them."""

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
# Uploads are kept so long, for a second tokenizer and for a run that waits; and no more than so much of them.
KEPT_SECONDS = 7 * 24 * 3600
KEPT_BYTES = 8 * 2**30
BLOCK_BYTES = 2**20
MAX_NAME_CHARACTERS = 100


@dataclass(frozen=True)
class CorpusFile:
    """One file: the name it was given, where it lies, its size and the SHA-256 of its bytes."""

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
        """Bytes of all files as they lie on the disk."""
        return sum(file.n_bytes for file in self.files)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of names and contents in their order; where the files lie does not count."""
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
        """Where the files lie. Raises InputError naming those that are no longer there."""
        gone = [file.name for file in self.files if not file.path.is_file()]
        if gone:
            raise InputError(f"No longer on the disk: {', '.join(gone)}. A corpus is kept for "
                             f"{KEPT_SECONDS // 86400} days; upload it again.")
        return [file.path for file in self.files]


def keep_corpus(uploads: Iterable[tuple[str, IO[bytes]]], folder: Path, name: str) -> CorpusFiles:
    """Write uploads, each a name and an open file, into `folder`, and say where they are; equal ones are kept once.

    What was kept there for KEPT_SECONDS, and the oldest beyond KEPT_BYTES, goes. Raises InputError when nothing was
    given, a file is empty, or the disk takes no more.
    """
    files = []
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for given, content in uploads:
            files.append(_kept(given, content, folder))
        _sweep(folder, {file.path.parent for file in files})
    except OSError as error:
        raise InputError(f"The corpus cannot be kept in {folder}: {error.strerror or error}.") from error
    empty = [file.name for file in files if not file.n_bytes]
    if empty or not files:
        raise InputError(f"Empty: {', '.join(empty)}. Leave these files out." if empty else
                         "A corpus needs at least one text file, or an archive of them.")
    return CorpusFiles(name, tuple(files))


def _kept(given: str, content: IO[bytes], folder: Path) -> CorpusFile:
    name = _file_name(given)
    digest, n_bytes = hashlib.sha256(), 0
    aside = folder / f".tmp-{secrets.token_hex(8)}"
    try:
        with aside.open("wb") as file:
            while block := content.read(BLOCK_BYTES):
                digest.update(block)
                n_bytes += file.write(block)
        # By content, in a folder of its own: so messages can call it by its name.
        target = folder / digest.hexdigest() / name
        target.parent.mkdir(mode=0o700, exist_ok=True)
        os.replace(aside, target)
        os.utime(target.parent)  # kept from now on
    finally:
        aside.unlink(missing_ok=True)
    return CorpusFile(name, target, n_bytes, digest.hexdigest())


def _file_name(given: str) -> str:
    """The name without folders and without what a file system may not take."""
    base = unicodedata.normalize("NFC", given).replace("\\", "/").rsplit("/", 1)[-1]
    plain = "".join(character for character in base if character.isprintable() and character not in '<>:"|?*')
    stem, dot, suffix = plain.strip(". ").partition(".")
    while len(stem.encode()) + len(suffix.encode()) > MAX_NAME_CHARACTERS * 2 and stem:
        stem = stem[:-1]
    return f"{stem or 'corpus'}{dot}{suffix}"


def _sweep(folder: Path, wanted: set[Path]) -> None:
    kept = sorted(((path.stat().st_mtime, path) for path in folder.iterdir() if path.is_dir()), reverse=True)
    used = 0
    for modified, path in kept:
        used += sum(file.stat().st_size for file in path.iterdir())
        if path not in wanted and (modified < time.time() - KEPT_SECONDS or used > KEPT_BYTES):
            shutil.rmtree(path, ignore_errors=True)
