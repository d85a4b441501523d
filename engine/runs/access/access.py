"""Runs as one person may see and change them: the one place where that is decided.

    own run                 everything
    shared with the team    read: look at it, its settings, dataset and result; submit the same again as one's own
    a sample's run          read
    anything else           it does not exist, whether or not it does

Pages ask here and never the queue itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from engine.errors import AccessError, InputError
from engine.evaluations.shared.dictionaries import SAVED
from engine.runs.access.limits import Limits
from engine.runs.access.model_policy import ModelPolicy
from engine.runs.access.viewers import LOCAL, SAMPLES_ID, Viewer
from engine.runs.queue import RunQueue, Submission, run_name, unknown_run
from engine.runs.storage.json_codec import texts_of, to_plain
from engine.runs.storage.searching import Search
from engine.runs.storage.store import Store
from engine.runs.storage.views import RunView

MAX_NOTE_CHARACTERS = 5_000


@dataclass(frozen=True)
class Desk:
    """The queue for one viewer. Unknown and forbidden ids are answered alike, so that nothing can be found out."""

    queue: RunQueue
    store: Store
    viewer: Viewer = LOCAL
    limits: Limits = field(default_factory=Limits)
    models: ModelPolicy = field(default_factory=ModelPolicy)

    def submit(self, kind: str, settings: Any, dataset: Any, name: str | None = None, *,
               reuse: bool = True) -> Submission:
        """Queue an evaluation as the viewer's own run.

        Raises AccessError for a model or file that may not be named, InputError or RunError beyond a limit, and
        what `RunQueue.submit` raises.
        """
        plain = to_plain(settings)
        self.models.check(plain)
        self._check_dictionaries(plain)
        if self.limits != Limits():
            self.limits.check(n_rows=dataset.n, n_by_state=self.store.n_by_state(self.viewer.id),
                              stored_bytes=self.store.stored_bytes(self.viewer.id))
        return self.queue.submit(kind, settings, dataset, owner=self.viewer.id, name=name, reuse=reuse)

    def get(self, run_id: str) -> RunView | None:
        """The run, or None when the viewer may not read it or there is none."""
        run = self.queue.get(run_id)
        return run if run is not None and self._may_read(run) else None

    def may_change(self, run: RunView) -> bool:
        """Whether the viewer may rename, note, share, cancel and delete the run."""
        return run.owner == self.viewer.id

    def mine(self, search: Search = Search()) -> list[RunView]:  # noqa: B008 - frozen
        """The viewer's own runs that a search finds, the newest first."""
        return self.store.search(replace(search, owner=self.viewer.id))

    def team(self, search: Search = Search()) -> list[RunView]:  # noqa: B008 - frozen
        """The runs that members share, the viewer's own among them, the newest first."""
        return [run for run in self.store.search(replace(search, owner=None, shared=True))
                if run.owner != SAMPLES_ID]

    def settings(self, run_id: str) -> Any:
        """Like `RunQueue.settings`, for a run that the viewer may read; so with the three that follow."""
        self._readable(run_id)
        return self.queue.settings(run_id)

    def dataset(self, run_id: str) -> Any:
        """The dataset of a run."""
        self._readable(run_id)
        return self.queue.dataset(run_id)

    def result(self, run_id: str) -> Any:
        """What a finished run found."""
        self._readable(run_id)
        return self.queue.result(run_id)

    def table(self, run_id: str, field: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """One table of a result, or some of its columns."""
        self._readable(run_id)
        return self.queue.table(run_id, field, columns)

    def cancel(self, run_id: str) -> bool:
        """Like `RunQueue.cancel`; this and what follows are for the viewer's own runs, AccessError for another's."""
        self._own(run_id)
        return self.queue.cancel(run_id)

    def rename(self, run_id: str, name: str) -> None:
        """Call a run otherwise; InputError for an empty or very long name."""
        self._change(run_id, name=run_name(name))

    def annotate(self, run_id: str, note: str) -> None:
        """Set the note of a run, "" for none; InputError for a very long one."""
        if len(note) > MAX_NOTE_CHARACTERS:
            raise InputError(f"A note has at most {MAX_NOTE_CHARACTERS:,} characters; got {len(note):,}.")
        self._change(run_id, note=note.strip())

    def share(self, run_id: str, shared: bool) -> None:
        """Let the team read a run, or no longer."""
        self._change(run_id, shared=shared)

    def delete(self, run_id: str) -> None:
        """Forget a run with its result, and its dataset unless another run has it."""
        self._own(run_id)
        self.queue.delete(run_id)

    def _check_dictionaries(self, settings: Mapping[str, Any]) -> None:
        """A saved dictionary is the result of a run: who may not read the run may not use it."""
        for text in texts_of(settings):
            if text.startswith(SAVED) and self.get(text.removeprefix(SAVED)) is None:
                raise AccessError("There is no such idf dictionary; it may have been deleted, or is no longer shared. "
                                  "Choose another.")

    def _may_read(self, run: RunView) -> bool:
        return run.shared or run.owner in (self.viewer.id, SAMPLES_ID)

    def _readable(self, run_id: str) -> RunView:
        run = self.get(run_id)
        if run is None:
            raise unknown_run(run_id)
        return run

    def _change(self, run_id: str, **values: str | bool) -> None:
        self._own(run_id)
        if not self.store.change(run_id, **values):
            raise unknown_run(run_id)

    def _own(self, run_id: str) -> None:
        run = self._readable(run_id)
        if not self.may_change(run):
            raise AccessError(f"The run {run.name!r} belongs to somebody else, who shares it: you may look at it and "
                              "start your own with the same settings, but not change it.")
