"""The documents of a pretraining run: those to train on, and those kept out to measure on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from zlib import crc32

from engine.datasets.corpora.corpus import Document, read_documents, split_sentences
from engine.models.pretraining.settings import Settings

HELD_OUT_BUCKETS = 10_000
# A capital after a full stop: not after an initial or one of the titles, which are followed by names.
_ENGLISH_END = re.compile(
    r"(?<!\b[A-Z]\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bDr\.)(?<!\bSt\.)"
    r"(?:(?<=[.!?])|(?<=[.!?][’”'\")]))\s+(?=[‘“'\"(]*[A-Z])"
)


@dataclass(frozen=True)
class Writing:
    """How a language is written: its sentences, and what stands between two of them in running text."""

    sentences: Callable[[str], Iterator[str]]
    between: str


def english_sentences(text: str) -> Iterator[str]:
    """The sentences of an English text: lines, split after . ! ? and quotes that close there, before a capital."""
    for line in text.splitlines():
        yield from (sentence.strip() for sentence in _ENGLISH_END.split(line) if sentence.strip())


WRITINGS = {"ja": Writing(split_sentences, ""), "en": Writing(english_sentences, " ")}


@dataclass(frozen=True)
class Texts:
    """The texts of a run.

    corpus: files, folders and archives, whose files are documents, or hold some (`settings.documents`).
    lines: files whose lines are documents.
    """

    corpus: tuple[Path, ...]
    lines: tuple[Path, ...]
    settings: Settings

    def training(self) -> Iterator[Document]:
        """The documents to train on, of `corpus` first."""
        documents = chain(self._documents(self.corpus, self.settings.documents), self._documents(self.lines, "line"))
        return (document for document in documents if not is_held_out(document.name, self.settings))

    def held_out(self) -> Iterator[Document]:
        """The documents to measure on: of `corpus`, of `lines` only where there is no other."""
        documents = (
            self._documents(self.corpus, self.settings.documents)
            if self.corpus
            else self._documents(self.lines, "line")
        )
        return (document for document in documents if is_held_out(document.name, self.settings))

    def _documents(self, paths: tuple[Path, ...], unit: str) -> Iterator[Document]:
        return read_documents(paths, unit=unit) if paths else iter(())


def is_held_out(name: str, settings: Settings) -> bool:
    """Whether a document is held out of training: by its name and the seed, not by its position in the corpus."""
    return crc32(f"{settings.seed}:{name}".encode()) % HELD_OUT_BUCKETS < settings.held_out_share * HELD_OUT_BUCKETS
