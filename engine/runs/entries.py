"""The entries of finished runs beside their results, kept as their rows are."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime

from engine.errors import RunError
from engine.evaluations.shared.evaluation import AnyEvaluation
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.run_entry import entry_of, to_bytes
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search
from engine.runs.storage.store import Store

EVERY_RUN = 1_000_000_000

logger = logging.getLogger(__name__)


class RunEntries:
    """Writes `results/<run id>/run.json`, from which a result is listed again when its row is lost."""

    def __init__(self, store: Store, artifacts: Artifacts, evaluations: Mapping[str, AnyEvaluation]) -> None:
        self._store = store
        self._artifacts = artifacts
        self._evaluations = evaluations

    def of_ending(self, run: RunRecord) -> bytes:
        """The entry of a run that is about to end: with the name and note that it has by now, if the list answers."""
        try:
            run = self._store.get(run.id) or run
        except RunError:
            logger.exception("The row of run %s cannot be read; its entry has the name it started with.", run.id)
        return self._content(run)

    def refresh(self, run_id: str) -> None:
        """Write the entry of a finished run again, after a change of its row."""
        run = self._store.get(run_id)
        if run is None or run.state != "done" or not self._artifacts.has_result(run_id):
            return
        try:
            self._artifacts.save_entry(run_id, self._content(run))
        except RunError:  # a full disk: the row has the change
            logger.exception("The entry of run %s cannot be written.", run_id)

    def complete(self) -> int:
        """Write the missing entries of finished runs, as those of earlier versions are; returns their number."""
        n_written = 0
        for run in self._store.search(Search(states=("done",), deleted=None, limit=EVERY_RUN)):
            if self._artifacts.has_result(run.id) and not self._artifacts.has_entry(run.id):
                self._artifacts.save_entry(run.id, self._content(run))
                n_written += 1
        return n_written

    def _content(self, run: RunRecord) -> bytes:
        evaluation = self._evaluations.get(run.kind)  # None for a kind of another version
        dataset_type = evaluation.dataset_type.__name__ if evaluation else ""
        return to_bytes(entry_of(run, dataset_type, run.finished or datetime.now(UTC)))
