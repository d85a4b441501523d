"""What the runs and kept data sets of an owner take on the disk, each shared thing counted once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.datasets.corpora.corpus_files import CorpusFile, CorpusFiles
from engine.errors import RunError
from engine.runs.storage import kept
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.searching import Search
from engine.runs.storage.store import UNFINISHED, Store

EVERY_RUN = 1_000_000_000


@dataclass(frozen=True)
class Usage:
    """Bytes. datasets: by content hash. corpora: uploaded files, by SHA-256. largest: names of runs with their bytes.

    A dataset or a file that several runs of the owner use is counted once; one that another owner uses too is counted
    for both.
    """

    results: int = 0
    datasets: Mapping[str, int] = field(default_factory=dict)
    corpora: Mapping[str, int] = field(default_factory=dict)
    largest: tuple[tuple[str, int], ...] = ()

    @property
    def total(self) -> int:
        """All bytes."""
        return self.results + sum(self.datasets.values()) + sum(self.corpora.values())


def usage_of(store: Store, artifacts: Artifacts, owner: str, n_largest: int = 3) -> Usage:
    """What the owner's runs and kept data sets take now, runs in the bin included.

    Raises RunError when the list cannot be read.
    """
    runs = store.search(Search(owner=owner, deleted=None, limit=EVERY_RUN))
    sizes = artifacts.dataset_sizes()
    hashes = {*(run.dataset_hash for run in runs), *kept.hashes_of(store, owner)}
    datasets = {content_hash: sizes[content_hash] for content_hash in hashes if content_hash in sizes}
    corpora = {content_hash: corpus_of(artifacts, content_hash) for content_hash in datasets}
    # The size in a row is that of the dataset and the result together.
    results = sum(max(0, run.stored_bytes - datasets.get(run.dataset_hash, 0)) for run in runs)
    whole = [(run.name, run.stored_bytes + sum(corpora.get(run.dataset_hash, {}).values())) for run in runs]
    return Usage(
        results,
        datasets,
        {sha256: size for corpus in corpora.values() for sha256, size in corpus.items()},
        tuple(sorted(whole, key=lambda item: -item[1])[:n_largest]),
    )


def corpus_of(artifacts: Artifacts, content_hash: str) -> dict[str, int]:
    """Bytes by SHA-256 of the uploaded files that a dataset names and that are on the disk; {} for other types."""
    return {file.sha256: file.n_bytes for file in files_of_corpus(artifacts, content_hash)}


def files_of_corpus(artifacts: Artifacts, content_hash: str) -> list[CorpusFile]:
    """The uploaded files that a dataset names and that are on the disk; none for other types."""
    if not artifacts.has_dataset(CorpusFiles, content_hash):
        return []
    try:
        files = artifacts.load_dataset(CorpusFiles, content_hash, "corpus").files
    except RunError:  # damaged, or deleted meanwhile
        return []
    return [file for file in files if file.path.is_file()]


def release_dataset(store: Store, artifacts: Artifacts, content_hash: str) -> None:
    """Delete a dataset and its corpus from the disk unless a run or a kept data set uses them."""
    if not store.dataset_in_use(content_hash):
        corpus = corpus_of(artifacts, content_hash)
        artifacts.delete_dataset(content_hash, lambda: store.dataset_in_use(content_hash))
        release_corpus(artifacts, corpus)


def corpora_in_use(store: Store, artifacts: Artifacts) -> set[str]:
    """The SHA-256 of the uploaded files that unfinished runs use, of all owners."""
    waiting = store.search(Search(states=UNFINISHED, deleted=None, limit=EVERY_RUN))
    return {
        sha256
        for content_hash in {run.dataset_hash for run in waiting}
        for sha256 in corpus_of(artifacts, content_hash)
    }


def release_corpus(artifacts: Artifacts, corpus: Mapping[str, int]) -> None:
    """Remove uploaded files, unless a dataset that is still there names them."""
    if corpus:
        others = [
            content_hash
            for name, (content_hash, _) in artifacts.stored_datasets().items()
            if name.startswith(CorpusFiles.__name__)
        ]
        artifacts.corpora.release(set(corpus).difference(*(corpus_of(artifacts, other) for other in others)))
