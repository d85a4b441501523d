"""Quotas of one user's storage, checked before anything is written; messages say what is used and what frees space."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace

from engine.errors import RunError
from engine.messages.message import Message
from engine.runs.access.limits import GIGABYTE, Limits
from engine.runs.computing import SAMPLES_ID
from engine.runs.pretraining.jobs import bytes_of
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.store import Store
from engine.runs.storage.usage import Usage, usage_of

MEGABYTE = 2**20
UNITS = ((GIGABYTE, "GB"), (MEGABYTE, "MB"), (2**10, "kB"))


class Quotas:
    """The storage quota of `limits`, for every owner but that of the sample runs.

    Thread-safe. Results of runs that end at the same moment share what is left: the room for one is reserved until its
    run has ended, and is then counted with the run.
    """

    def __init__(self, store: Store, artifacts: Artifacts, limits: Limits) -> None:
        self._store = store
        self._artifacts = artifacts
        self._limits = limits
        self._lock = threading.Lock()
        self._reserved: dict[str, tuple[str, int]] = {}  # owner and bytes of results being written, by run id

    def check_dataset(self, owner: str, content_hash: str, n_bytes: int) -> None:
        """Raise RunError when the owner has no room for a dataset; one that the owner has already takes none."""
        if (usage := self._usage(owner)) is not None:
            self._require_room(usage, 0 if content_hash in usage.datasets else n_bytes, Message("This dataset"))

    def check_corpus(self, owner: str, sizes: Mapping[str, int]) -> None:
        """Raise RunError when the owner has no room for uploaded files: bytes by SHA-256."""
        if (usage := self._usage(owner)) is not None:
            self._require_room(
                usage,
                sum(size for sha256, size in sizes.items() if sha256 not in usage.corpora),
                Message("This corpus"),
            )

    def check_pretraining(self, owner: str, n_bytes: int) -> None:
        """Raise RunError when the owner has no room for a pretraining that takes at most so many bytes."""
        if (usage := self._usage(owner)) is not None:
            self._require_room(usage, n_bytes, Message("This pretraining"))

    def check_result(self, run: RunRecord, n_bytes: int) -> None:
        """Reserve room for the result of a running run. Raises RunError when its owner has none."""
        if self._limits.storage_gb is None:
            return
        with self._lock:
            owner = (self._store.get(run.id) or run).owner  # an account may have taken the run over since it began
            if owner == SAMPLES_ID:
                return
            # Asked before the usage: a run that ends in between counts twice for a moment, and never not at all.
            self._reserved = {
                run_id: reserved
                for run_id, reserved in self._reserved.items()
                if run_id != run.id and self._is_running(run_id)
            }
            pending = sum(size for other, size in self._reserved.values() if other == owner)
            usage = self._used(owner)
            self._require_room(
                replace(usage, results=usage.results + pending),
                n_bytes,
                Message("The result"),
                Message(" Then start the run again; what was computed is kept."),
            )
            self._reserved[run.id] = owner, n_bytes

    def _is_running(self, run_id: str) -> bool:
        run = self._store.get(run_id)
        return run is not None and run.state == "running"

    def _usage(self, owner: str) -> Usage | None:
        """What the owner uses; None where that is not limited."""
        if self._limits.storage_gb is None or owner == SAMPLES_ID:
            return None
        return self._used(owner)

    def _used(self, owner: str) -> Usage:
        """What the owner's runs, data sets and pretrained models take; the models count as results."""
        usage = usage_of(self._store, self._artifacts, owner)
        return replace(usage, results=usage.results + bytes_of(self._artifacts.directory, owner))

    def _require_room(self, usage: Usage, n_bytes: int, what: str, afterwards: str = "") -> None:
        allowed = int((self._limits.storage_gb or 0) * GIGABYTE)
        if usage.total + n_bytes <= allowed:
            return
        parts = Message(
            "results {results}, datasets {datasets}, corpora {corpora}",
            results=size(usage.results),
            datasets=size(sum(usage.datasets.values())),
            corpora=size(sum(usage.corpora.values())),
        )
        largest = "; ".join(f"'{name}' ({size(value)})" for name, value in usage.largest)
        raise RunError(
            Message(
                "{what} takes {n_bytes}. Your runs take {total} ({parts}) of the {allowed} that this "
                "instance keeps for one user. Delete runs that you no longer need on the Runs page, "
                "and empty its bin, which counts too, or data sets that you keep{largest}.{afterwards}",
                what=what,
                n_bytes=size(n_bytes),
                total=size(usage.total),
                parts=parts,
                allowed=size(allowed),
                largest=Message("; the largest are: {largest}", largest=largest) if largest else "",
                afterwards=afterwards,
            )
        )


def size(n_bytes: int) -> str:
    """Bytes for a message.

    >>> size(3 * 2**30), size(1_572_864), size(2_048), size(12)
    ('3.0 GB', '1.5 MB', '2.0 kB', '12 bytes')
    """
    for unit, name in UNITS:
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return f"{n_bytes} bytes"
