"""Access control of runs: which runs a viewer may read and change.

    own run                 read and change; in the bin: restore, delete for good
    shared with the team    read: its settings, dataset and result; submit a run of one's own with the same settings
    a sample's run          read
    any other run           none; it is reported as non-existent

Without sign-in everybody may read the runs of all browsers, and change those that belong to no browser. A run in the
bin is reported as non-existent to everybody, its owner included, but for the methods of the bin.

Pages use this class, never the queue directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import IO, Any

from engine.errors import AccessError, EngineError, InputError
from engine.evaluations.shared.dictionaries import SAVED
from engine.messages.message import Message
from engine.runs.access.audit import AuditLog
from engine.runs.access.browsers import default_name, passes_for_another
from engine.runs.access.configuration import DEFAULT_BIN_DAYS
from engine.runs.access.limits import Limits
from engine.runs.access.model_policy import ModelPolicy, file_names
from engine.runs.access.quotas import Quotas
from engine.runs.access.tags import checked_tags
from engine.runs.access.viewers import LOCAL, LOCAL_ID, Viewer
from engine.runs.computing import SAMPLES_ID
from engine.runs.first_rows import FirstRows
from engine.runs.naming import run_name, shown_text, unknown_run
from engine.runs.queue import RunQueue, Submission
from engine.runs.storage import listing, members
from engine.runs.storage.json_codec import to_json_value
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import BROWSER_PREFIX, Scope, Search
from engine.runs.storage.store import Store
from engine.runs.storage.usage import corpora_in_use, release_corpus

MAX_NOTE_CHARACTERS = 5_000
MAX_VIEWER_NAME_CHARACTERS = 40
END_OF_TIME = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class RunAccess:
    """The queue for one viewer. Unknown and forbidden ids give the same error, so that ids cannot be probed."""

    queue: RunQueue
    store: Store
    viewer: Viewer = LOCAL
    limits: Limits = field(default_factory=Limits)
    models: ModelPolicy = field(default_factory=ModelPolicy)
    bin_days: float = DEFAULT_BIN_DAYS
    audit: AuditLog = field(default_factory=AuditLog)

    def submit(
        self, kind: str, settings: Any, dataset: Any, name: str | None = None, *, reuse: bool = True
    ) -> Submission:
        """Queue an evaluation as a run of the viewer.

        Raises AccessError for a model or file that is not allowed, InputError or RunError beyond a limit (before
        anything is written), and what `RunQueue.submit` raises.
        """
        self._check(to_json_value(settings), n_rows=dataset.n)
        submission = self.queue.submit(
            kind,
            settings,
            dataset,
            owner=self.viewer.id,
            name=name,
            reuse=reuse,
            room=partial(self._quotas.check_dataset, self.viewer.id, dataset.content_hash),
        )
        self.audit.record("submit", self.viewer, run=submission.run_id, kind=kind, reused=submission.reused)
        return submission

    def submit_corpus(
        self, kind: str, settings: Any, uploads: Sequence[tuple[str, IO[bytes]]], title: str, name: str | None = None
    ) -> Submission:
        """Write uploads, each a name and an open file, as a corpus called `title`, and queue a run of it.

        Every limit is checked before anything is written; a corpus whose run is refused after all is removed. Raises
        what `submit` and `engine.datasets.corpora.corpus_files.keep_corpus` raise.
        """
        self._check(to_json_value(settings), n_rows=len(uploads))
        artifacts = self.queue.artifacts
        sizes: dict[str, int] = {}

        def room(wanted: Mapping[str, int]) -> None:
            self._quotas.check_corpus(self.viewer.id, wanted)
            sizes.update(wanted)

        try:
            with artifacts.corpora.upload(
                uploads, title, in_use=lambda: corpora_in_use(self.store, artifacts), room=room
            ) as corpus:
                return self.submit(kind, settings, corpus, name)
        except EngineError:
            release_corpus(artifacts, sizes)
            raise

    def get(self, run_id: str) -> RunRecord | None:
        """The run, or None when there is none or the viewer may not read it."""
        run = self.queue.get(run_id)
        return run if run is not None and self._may_read(run) else None

    def may_change(self, run: RunRecord) -> bool:
        """Whether the viewer may rename, note, tag, share, cancel and delete the run."""
        return run.owner in self.own

    def mine(self, search: Search = Search()) -> list[RunRecord]:  # noqa: B008 - frozen
        """The viewer's own runs that match a search, newest first unless it says otherwise.

        Without sign-in also the runs without an owner and those that the viewer has starred.
        """
        return self.store.search(self._scoped(search, team=False))

    def team(self, search: Search = Search()) -> list[RunRecord]:  # noqa: B008 - frozen
        """The shared runs of all members, the viewer's included; without sign-in all runs that were started so."""
        return self.store.search(self._scoped(search, team=True))

    def count(self, search: Search, *, team: bool) -> int:
        """The number of runs of `team` or `mine` that match a search, whatever its limit."""
        return listing.n_matching(self.store, self._scoped(search, team=team))

    def facets(self, *, team: bool, deleted: bool = False) -> listing.Facets:
        """The values that occur among the runs of `team`, `mine` or the bin."""
        return listing.facets(self.store, self._scoped(Search(deleted=deleted), team=team))

    def starred(self, runs: Sequence[RunRecord]) -> set[str]:
        """The ids of those of the runs that the viewer has starred."""
        return listing.starred(self.store, self.viewer.id, [run.id for run in runs])

    def star(self, run_id: str, starred: bool) -> None:
        """Star a run that the viewer may read, or take the star away; only the viewer sees it."""
        self._require_readable(run_id)
        listing.set_star(self.store, self.viewer.id, run_id, starred=starred)

    def owner_names(self, owners: Iterable[str]) -> dict[str, str]:
        """What the owners of runs that the viewer may read are called, by id."""
        owners = set(owners)
        names = (members.shown_addresses if self.viewer.signed_in else listing.viewer_names)(self.store, owners)
        return {owner: names.get(owner) or default_name(owner) for owner in sorted(owners)}

    def name_myself(self, name: str) -> None:
        """Set the name of the viewer's browser, "" for none.

        Raises InputError for one that is too long or taken, AccessError for a viewer who has a name from elsewhere.
        """
        if not self.viewer.id.startswith(BROWSER_PREFIX):
            raise AccessError(Message("Only a browser of an instance without sign-in can be given a name."))
        name = " ".join(name.split())
        if len(name) > MAX_VIEWER_NAME_CHARACTERS:
            raise InputError(
                Message(
                    "A name has at most {MAX_VIEWER_NAME_CHARACTERS} characters; got {name}.",
                    MAX_VIEWER_NAME_CHARACTERS=MAX_VIEWER_NAME_CHARACTERS,
                    name=len(name),
                )
            )
        if passes_for_another(name):
            raise InputError(Message("The name {name!r} can be taken for another's. Choose another.", name=name))
        listing.set_viewer_name(self.store, self.viewer.id, name)

    def settings(self, run_id: str) -> Any:
        """`RunQueue.settings` of a run that the viewer may read."""
        self._require_readable(run_id)
        return self.queue.settings(run_id)

    def dataset(self, run_id: str) -> Any:
        """`RunQueue.dataset` of a run that the viewer may read."""
        self._require_readable(run_id)
        return self.queue.dataset(run_id)

    def result(self, run_id: str) -> Any:
        """`RunQueue.result` of a run that the viewer may read."""
        self._require_readable(run_id)
        return self.queue.result(run_id)

    def first_rows(self, run_id: str, result_type: type[Any]) -> Any:
        """The result of the first rows of a running run that the viewer may read. Raises RunError without one."""
        self._require_readable(run_id)
        return FirstRows(self.queue.artifacts.directory).load(run_id, result_type)

    def cancel(self, run_id: str) -> bool:
        """`RunQueue.cancel` of the viewer's own run. Like all changes, raises AccessError for another owner's run."""
        self._require_owner(run_id)
        return self.queue.cancel(run_id)

    def rename(self, run_id: str, name: str) -> None:
        """Rename a run. Raises InputError for an empty or too long name."""
        self._change(run_id, name=run_name(name))

    def annotate(self, run_id: str, note: str) -> None:
        """Set the note of a run, "" for none. Raises InputError for a too long one."""
        if len(note) > MAX_NOTE_CHARACTERS:
            raise InputError(
                Message(
                    "A note has at most {MAX_NOTE_CHARACTERS:,} characters; got {note:,}.",
                    MAX_NOTE_CHARACTERS=MAX_NOTE_CHARACTERS,
                    note=len(note),
                )
            )
        self._change(run_id, note=shown_text(note).strip())

    def share(self, run_id: str, shared: bool) -> None:
        """Share a run with the team, or stop sharing it."""
        self._change(run_id, shared=shared, shared_at=datetime.now(UTC) if shared else None)
        self.audit.record("share" if shared else "stop sharing", self.viewer, run=run_id)

    def close_comments(self, run_id: str, closed: bool) -> None:
        """Take no more comments on a run, or take them again."""
        self._change(run_id, comments_closed=closed)

    def tag(self, run_id: str, tags: Sequence[str]) -> None:
        """Set the tags of a run. Raises InputError for too many or too long ones."""
        self._change(run_id, tags="\n".join(checked_tags(tags)))

    def describe(self, run_id: str, headline: Mapping[str, Any], n_rows: int | None) -> None:
        """Store what lists show of a finished run, so that its result is not read again for them."""
        self._require_readable(run_id)
        self.store.change(run_id, headline=dict(headline), n_rows=n_rows)

    def move_to_bin(self, run_id: str) -> None:
        """Move a run to the bin, after cancelling it if it has not ended; where there is no bin, delete it for good."""
        self._require_owner(run_id)
        if self.bin_days:
            self.queue.cancel(run_id)
            self.queue.change(run_id, deleted=datetime.now(UTC))
        else:
            self.queue.delete(run_id)
        self.audit.record("move to the bin" if self.bin_days else "delete", self.viewer, run=run_id)

    def in_bin(self, run_id: str) -> RunRecord | None:
        """The run if it is in the bin and the viewer's own, else None."""
        run = self.queue.get(run_id)
        return run if run is not None and run.deleted is not None and self.may_change(run) else None

    def binned(self, search: Search = Search()) -> list[RunRecord]:  # noqa: B008 - frozen
        """The viewer's own runs in the bin that match a search, the last deleted first."""
        return self.store.search(self._scoped(replace(search, deleted=True, order="last deleted"), team=False))

    def restore(self, run_id: str) -> None:
        """Take a run out of the bin."""
        if self.in_bin(run_id) is None or not self.queue.change(run_id, deleted=None):
            raise unknown_run(run_id)
        self.audit.record("restore", self.viewer, run=run_id)

    def delete(self, run_id: str) -> None:
        """Delete a run for good, its result, and its dataset unless another run uses it; also from the bin."""
        if self.in_bin(run_id) is None:
            self._require_owner(run_id)
            self.queue.delete(run_id)
        elif not self.queue.delete(run_id, END_OF_TIME):
            raise unknown_run(run_id)
        self.audit.record("delete", self.viewer, run=run_id)

    @property
    def own(self) -> tuple[str, ...]:
        """The owners whose runs the viewer may change."""
        return (self.viewer.id,) if self.viewer.signed_in else tuple(dict.fromkeys((self.viewer.id, LOCAL_ID)))

    def _scoped(self, search: Search, *, team: bool) -> Search:
        """The search, within the runs that the viewer may see; of the bin, within the viewer's own."""
        if self.viewer.signed_in and not team:
            return replace(search, owner=self.viewer.id)
        if self.viewer.signed_in:
            return replace(search, shared=True, but_owners=(*search.but_owners, SAMPLES_ID), deleted=False)
        if search.deleted is not False:
            return replace(search, within=(Scope(owners=self.own),), deleted=True)
        readable = Scope(owners=self.own, browsers=True, shared=True)
        within = (readable,) if team else (readable, Scope(owners=self.own, starred_by=self.viewer.id))
        return replace(search, within=within, but_owners=(*search.but_owners, SAMPLES_ID))

    @property
    def _quotas(self) -> Quotas:
        return Quotas(self.store, self.queue.artifacts, self.limits)

    def _check(self, settings: Mapping[str, Any], n_rows: int) -> None:
        self.models.check(settings)
        self._check_dictionaries(settings)
        if self.limits != Limits():
            self.limits.check(n_rows=n_rows, n_by_state=self.store.n_by_state(self.viewer.id))

    def _check_dictionaries(self, settings: Mapping[str, Any]) -> None:
        """Only viewers who may read the run that made a saved dictionary may use the dictionary."""
        for text in file_names(settings):
            if text.startswith(SAVED) and self.get(text.removeprefix(SAVED)) is None:
                raise AccessError(
                    Message(
                        "There is no such idf dictionary; it may have been deleted, or is no longer "
                        "shared. Choose another."
                    )
                )

    def _may_read(self, run: RunRecord) -> bool:
        if run.deleted is not None:
            return False
        without_sign_in = not self.viewer.signed_in and run.owner.startswith(BROWSER_PREFIX)
        return run.shared or without_sign_in or run.owner in (*self.own, SAMPLES_ID)

    def _require_readable(self, run_id: str) -> RunRecord:
        run = self.get(run_id)
        if run is None:
            raise unknown_run(run_id)
        return run

    def _change(self, run_id: str, **values: Any) -> None:
        self._require_owner(run_id)
        if not self.queue.change(run_id, **values):
            raise unknown_run(run_id)

    def _require_owner(self, run_id: str) -> None:
        run = self._require_readable(run_id)
        if not self.may_change(run):
            raise AccessError(
                Message(
                    "The run {name!r} belongs to another user, who shares it: you may read it and start your own "
                    "run with the same settings, but not change it.",
                    name=run.name,
                )
                if self.viewer.signed_in
                else Message(
                    "The run {name!r} belongs to another browser: you may read it and start your own run with the "
                    "same settings, but not change it.",
                    name=run.name,
                )
            )
