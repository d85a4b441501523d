"""Access control of runs: which runs a viewer may read and change.

    own run                 read and change
    shared with the team    read: its settings, dataset and result; submit a run of one's own with the same settings
    a sample's run          read
    any other run           none; it is reported as non-existent

Pages use this class, never the queue directly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import IO, Any

from engine.errors import AccessError, EngineError, InputError
from engine.evaluations.shared.dictionaries import SAVED
from engine.runs.access.limits import Limits
from engine.runs.access.model_policy import ModelPolicy
from engine.runs.access.quotas import Quotas
from engine.runs.access.viewers import LOCAL, SAMPLES_ID, Viewer
from engine.runs.naming import run_name, unknown_run
from engine.runs.queue import RunQueue, Submission
from engine.runs.storage.json_codec import texts_of, to_json_value
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search
from engine.runs.storage.store import Store
from engine.runs.storage.usage import corpora_in_use, release_corpus

MAX_NOTE_CHARACTERS = 5_000


@dataclass(frozen=True)
class RunAccess:
    """The queue for one viewer. Unknown and forbidden ids give the same error, so that ids cannot be probed."""

    queue: RunQueue
    store: Store
    viewer: Viewer = LOCAL
    limits: Limits = field(default_factory=Limits)
    models: ModelPolicy = field(default_factory=ModelPolicy)

    def submit(self, kind: str, settings: Any, dataset: Any, name: str | None = None, *,
               reuse: bool = True) -> Submission:
        """Queue an evaluation as a run of the viewer.

        Raises AccessError for a model or file that is not allowed, InputError or RunError beyond a limit (before
        anything is written), and what `RunQueue.submit` raises.
        """
        self._check(to_json_value(settings), n_rows=dataset.n)
        return self.queue.submit(kind, settings, dataset, owner=self.viewer.id, name=name, reuse=reuse,
                                 room=partial(self._quotas.check_dataset, self.viewer.id, dataset.content_hash))

    def submit_corpus(self, kind: str, settings: Any, uploads: Sequence[tuple[str, IO[bytes]]], title: str,
                      name: str | None = None) -> Submission:
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
            with artifacts.corpora.upload(uploads, title, in_use=lambda: corpora_in_use(self.store, artifacts),
                                          room=room) as corpus:
                return self.submit(kind, settings, corpus, name)
        except EngineError:
            release_corpus(artifacts, sizes)
            raise

    def get(self, run_id: str) -> RunRecord | None:
        """The run, or None when there is none or the viewer may not read it."""
        run = self.queue.get(run_id)
        return run if run is not None and self._may_read(run) else None

    def may_change(self, run: RunRecord) -> bool:
        """Whether the viewer may rename, note, share, cancel and delete the run."""
        return run.owner == self.viewer.id

    def mine(self, search: Search = Search()) -> list[RunRecord]:  # noqa: B008 - frozen
        """The viewer's own runs that match a search, newest first."""
        return self.store.search(replace(search, owner=self.viewer.id))

    def team(self, search: Search = Search()) -> list[RunRecord]:  # noqa: B008 - frozen
        """The shared runs of all members, the viewer's included, newest first."""
        return [run for run in self.store.search(replace(search, owner=None, shared=True))
                if run.owner != SAMPLES_ID]

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
            raise InputError(f"A note has at most {MAX_NOTE_CHARACTERS:,} characters; got {len(note):,}.")
        self._change(run_id, note=note.strip())

    def share(self, run_id: str, shared: bool) -> None:
        """Share a run with the team, or stop sharing it."""
        self._change(run_id, shared=shared)

    def delete(self, run_id: str) -> None:
        """Delete a run, its result, and its dataset unless another run uses it."""
        self._require_owner(run_id)
        self.queue.delete(run_id)

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
        for text in texts_of(settings):
            if text.startswith(SAVED) and self.get(text.removeprefix(SAVED)) is None:
                raise AccessError("There is no such idf dictionary; it may have been deleted, or is no longer shared. "
                                  "Choose another.")

    def _may_read(self, run: RunRecord) -> bool:
        return run.shared or run.owner in (self.viewer.id, SAMPLES_ID)

    def _require_readable(self, run_id: str) -> RunRecord:
        run = self.get(run_id)
        if run is None:
            raise unknown_run(run_id)
        return run

    def _change(self, run_id: str, **values: str | bool) -> None:
        self._require_owner(run_id)
        if not self.queue.change(run_id, **values):
            raise unknown_run(run_id)

    def _require_owner(self, run_id: str) -> None:
        run = self._require_readable(run_id)
        if not self.may_change(run):
            raise AccessError(f"The run {run.name!r} belongs to another user, who shares it: you may read it and start "
                              "your own run with the same settings, but not change it.")
