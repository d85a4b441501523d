"""Uploaded corpora on the disk: `corpora/<SHA-256>/<name>`, kept as long as a run or the time of an upload allows.

A corpus goes when the last run that uses it is deleted, and KEPT_SECONDS after it was uploaded, unless an unfinished
run uses it (`engine.datasets.corpora.corpus_files`). It never goes for the upload of another.
"""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from engine.datasets.corpora.corpus_files import CorpusFiles, keep_corpus, remove_expired

FOLDER = "corpora"

Sizes = Mapping[str, int]  # bytes by SHA-256


class Corpora:
    """The corpora below one data directory. Thread-safe."""

    def __init__(self, directory: Path) -> None:
        self._folder = directory / FOLDER
        self._writing = threading.Lock()  # uploads one after the other, so that each sees what the others take
        self._lock = threading.Lock()
        self._uploading: Counter[str] = Counter()  # SHA-256 of files whose run is not in the list yet

    @contextmanager
    def upload(
        self,
        uploads: Sequence[tuple[str, IO[bytes]]],
        name: str,
        *,
        in_use: Callable[[], Collection[str]],
        room: Callable[[Sizes], None],
    ) -> Iterator[CorpusFiles]:
        """Write uploads below the directory, as `keep_corpus` does; they are safe from `release` within the block."""
        reserved: list[str] = []

        def reserve(sizes: Sizes) -> None:
            room(sizes)
            reserved.extend(sizes)
            with self._lock:
                self._uploading.update(sizes.keys())

        try:
            with self._writing:
                corpus = keep_corpus(uploads, self._folder, name, in_use=in_use(), room=reserve)
            yield corpus
        finally:
            with self._lock:
                self._uploading.subtract(reserved)

    def located(self, corpus: CorpusFiles) -> CorpusFiles:
        """The corpus with the paths that its files have in this directory, which may be a restored or moved one."""
        files = [
            replace(file, path=moved)
            if not file.path.is_file() and (moved := self._folder / file.sha256 / file.name).is_file()
            else file
            for file in corpus.files
        ]
        return replace(corpus, files=tuple(files))

    def expire(self, in_use: Collection[str]) -> int:
        """Remove what was uploaded more than KEPT_SECONDS ago, unless its SHA-256 is in use; returns how much. OSError."""
        with self._writing:
            return remove_expired(self._folder, in_use) if self._folder.is_dir() else 0

    def release(self, hashes: Iterable[str]) -> None:
        """Remove the files of these SHA-256, which no run uses any more, unless they are just being uploaded again."""
        with self._lock:
            for sha256 in hashes:
                if self._uploading[sha256] <= 0:
                    shutil.rmtree(self._folder / sha256, ignore_errors=True)
