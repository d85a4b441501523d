"""Access control of kept data sets, as of runs: one's own, and what the team shares.

    own data set            read, rename, share, extend, delete
    shared with the team    read, and use in runs of one's own
    any other               none; it is reported as non-existent

Without sign-in everybody may read the data sets of all browsers, and change those that belong to no browser.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from engine.datasets.appending import READERS
from engine.errors import AccessError, EngineError, InputError
from engine.language.quantities import count
from engine.messages.message import Message
from engine.runs.access.access import RunAccess
from engine.runs.access.quotas import Quotas
from engine.runs.naming import MAX_NAME_CHARACTERS
from engine.runs.storage import kept
from engine.runs.storage.kept import KeptDataset, Version
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import BROWSER_PREFIX

# The notice of data that a run has from a kept data set, and not from a file of that name.
FROM_KEPT = Message("Kept data set: {name}")

# What can be kept, by the name of its class.
TYPES: Mapping[str, type[Any]] = {dataset_type.__name__: dataset_type for dataset_type in READERS}


@dataclass(frozen=True)
class DatasetAccess:
    """The kept data sets for the viewer of `runs`. Unknown and forbidden ids give the same error."""

    runs: RunAccess

    def keep(self, dataset: Any, name: str) -> str:
        """Keep a dataset under a name; returns the id of the data set.

        Raises InputError for a name that is empty, too long or taken, beyond the limit of rows, and for a kind of
        dataset that cannot be kept; RunError when there is no room.
        """
        return self._add(dataset, _checked_name(name), None)

    def extend(self, set_id: str, dataset: Any) -> None:
        """Keep a dataset as the next version of a data set; the former versions stay. Raises as `keep`."""
        known = self._require_own(set_id)
        if type(dataset).__name__ != known.dataset_type:
            raise InputError(
                Message(
                    "{name!r} is of another kind than these data; keep them under a name of their own.", name=known.name
                )
            )
        if dataset.content_hash == known.newest.dataset_hash:
            raise InputError(Message("Nothing new: the newest version of {name!r} has the same rows.", name=known.name))
        self._add(dataset, known.name, known)

    def readable(self, *dataset_types: type[Any]) -> list[KeptDataset]:
        """The data sets that the viewer may read, own ones first, by name; only of these types, if any are given."""
        names = {dataset_type.__name__ for dataset_type in dataset_types} or set(TYPES)
        readable = [
            known for known in kept.every(self.runs.store) if known.dataset_type in names and self._may_read(known)
        ]
        return sorted(readable, key=lambda known: not self.may_change(known))

    def get(self, set_id: str) -> KeptDataset | None:
        """The data set, or None when there is none or the viewer may not read it."""
        known = kept.get(self.runs.store, set_id)
        return known if known is not None and self._may_read(known) else None

    def may_change(self, known: KeptDataset) -> bool:
        """Whether the viewer may rename, share, extend and delete the data set."""
        return known.owner in self.runs.own

    def owner_name(self, known: KeptDataset) -> str:
        """What the owner of a data set that the viewer may read is called."""
        return self.runs.owner_names([known.owner])[known.owner]

    def dataset(self, set_id: str, number: int | None = None) -> Any:
        """The content of a version, of the newest for None, under the name of the data set.

        Raises AccessError when there is none that the viewer may read; RunError when the content is damaged.
        """
        known = self._require(set_id)
        version = known.version(number)
        if version is None:
            raise AccessError(
                Message(
                    "{name!r} has no version {number}; there are 1 to {newest}.",
                    name=known.name,
                    number=number,
                    newest=known.newest.number,
                )
            )
        return self.runs.queue.artifacts.load_dataset(
            TYPES[known.dataset_type], version.dataset_hash, title(known, version), version.notices
        )

    def used_by(self, set_id: str) -> list[tuple[RunRecord, tuple[int, ...]]]:
        """The runs that the viewer may read on any version of a data set, newest first, with the versions' numbers."""
        known = self._require(set_id)
        numbers: dict[str, tuple[int, ...]] = {}
        for version in known.versions:
            numbers[version.dataset_hash] = (*numbers.get(version.dataset_hash, ()), version.number)
        return [
            (run, numbers[run.dataset_hash])
            for run in kept.runs_with(self.runs.store, numbers)
            if self.runs.get(run.id) is not None
        ]

    def rename(self, set_id: str, name: str) -> None:
        """Rename a data set. Raises as `keep`."""
        self._require_own(set_id)
        kept.rename(self.runs.store, set_id, _checked_name(name))

    def share(self, set_id: str, shared: bool) -> None:
        """Share a data set with the team, or stop sharing it."""
        self._require_own(set_id)
        kept.share(self.runs.store, set_id, shared)
        self.runs.audit.record("share" if shared else "stop sharing", self.runs.viewer, dataset=set_id)

    def delete(self, set_id: str) -> None:
        """Delete a data set with all its versions; runs keep the content that they use."""
        known = self._require_own(set_id)
        kept.remove(self.runs.store, set_id)
        for dataset_hash in {version.dataset_hash for version in known.versions}:
            self.runs.queue.release_dataset(dataset_hash)
        self.runs.audit.record("delete", self.runs.viewer, dataset=set_id)

    def _add(self, dataset: Any, name: str, extends: KeptDataset | None) -> str:
        if TYPES.get(type(dataset).__name__) is not type(dataset):
            raise InputError(Message("Only sentences and pairs can be kept by name; these data are of another kind."))
        most = self.runs.limits.rows
        if most is not None and dataset.n > most:
            raise InputError(
                Message("The dataset has {n:,} rows; this instance takes at most {most:,}.", n=dataset.n, most=most)
            )
        store, artifacts, owner = self.runs.store, self.runs.queue.artifacts, self.runs.viewer.id
        # The row first: from then on nobody deletes the content that another run may have brought already.
        set_id = kept.add(
            store,
            owner=extends.owner if extends else owner,
            name=name,
            dataset_type=type(dataset).__name__,
            dataset_hash=dataset.content_hash,
            n_rows=dataset.n,
            notices=dataset.notices,
            extends=extends,
        )
        quotas = Quotas(store, artifacts, self.runs.limits)
        try:
            artifacts.save_dataset(dataset, partial(quotas.check_dataset, owner, dataset.content_hash))
        except EngineError:
            kept.remove_version(store, set_id, dataset.content_hash)
            raise
        return set_id

    def _may_read(self, known: KeptDataset) -> bool:
        of_a_browser = not self.runs.viewer.signed_in and known.owner.startswith(BROWSER_PREFIX)
        return known.shared or of_a_browser or self.may_change(known)

    def _require(self, set_id: str) -> KeptDataset:
        known = self.get(set_id)
        if known is None:
            raise AccessError(Message("There is no such data set; it may have been deleted, or is no longer shared."))
        return known

    def _require_own(self, set_id: str) -> KeptDataset:
        known = self._require(set_id)
        if not self.may_change(known):
            raise AccessError(
                Message(
                    "The data set {name!r} belongs to somebody else: you may read it and use it in "
                    "your runs, but not change it. To extend it, download it, upload the file on a "
                    "page and keep it under a name of your own.",
                    name=known.name,
                )
            )
        return known


def title(known: KeptDataset, version: Version) -> str:
    """What runs on a version call their data.

    >>> title(KeptDataset("i", "o", "pairs", "SentencePairs", False, ()), Version(2, "h", 3, None))
    'pairs (version 2)'
    """
    return (
        known.name
        if version.number == 1
        else Message("{name} (version {number})", name=known.name, number=version.number)
    )


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise InputError(Message("A data set needs a name of printable characters."))
    if len(name) > MAX_NAME_CHARACTERS:
        raise InputError(
            Message(
                "A name has at most {MAX_NAME_CHARACTERS}; got {name}.",
                MAX_NAME_CHARACTERS=count(MAX_NAME_CHARACTERS, "character"),
                name=len(name),
            )
        )
    return name
