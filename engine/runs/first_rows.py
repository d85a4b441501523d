"""The first rows of a long run, evaluated before the others: its page shows them while the rest is computed.

Their pieces answer the run itself from the cache, so that little is computed twice. Their result is a temporary file,
results/.tmp-first-rows-<run id>/: the run removes it when it ends, and what a crash leaves goes with other leftovers.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from engine.errors import Cancelled, RunError
from engine.evaluations.shared.evaluation import AnyEvaluation
from engine.inference.gateway import Gateway
from engine.messages.message import Message
from engine.runs.storage.artifacts import TEMPORARY
from engine.runs.storage.disk import full_disk_explained, write_to_disk
from engine.runs.storage.packing import RECORD, pack, unpack
from engine.runs.storage.run_record import RunRecord

# A run has first rows from so many rows on: one row in SHARE, at most MOST_ROWS.
LEAST_ROWS, SHARE, MOST_ROWS = 400, 20, 200

Record = TypeVar("Record")

logger = logging.getLogger(__name__)


class FirstRows:
    """The results of first rows below one data directory. Safe across threads and processes."""

    def __init__(self, data_dir: Path) -> None:
        """Nothing is made or read yet."""
        self._folder = data_dir / "results"

    def save(self, run_id: str, result: Any) -> None:
        """Keep the result of a run's first rows; a former one is replaced. Raises RunError when the disk is full."""
        aside = self._folder / f"{TEMPORARY}{secrets.token_hex(8)}"
        with full_disk_explained(self._folder):
            try:
                aside.mkdir(mode=0o700)
                for name, content in pack(result).items():
                    write_to_disk(aside / name, content)
                self.delete(run_id)
                os.rename(aside, self._place(run_id))
            finally:
                shutil.rmtree(aside, ignore_errors=True)

    def load(self, run_id: str, result_type: type[Record]) -> Record:
        """The result that was kept. Raises RunError where there is none, or it goes at this moment."""
        what = Message("The result of the first rows of run {run_id}", run_id=run_id)
        try:
            return unpack(result_type, lambda name: (self._place(run_id) / name).read_bytes(), what)
        except OSError as error:
            raise RunError(Message("{what} is not on the disk.", what=what)) from error

    def has(self, run_id: str) -> bool:
        """Whether there is a result of the run's first rows."""
        return (self._place(run_id) / RECORD).is_file()

    def delete(self, run_id: str) -> None:
        """Remove the result of a run's first rows, if there is one."""
        shutil.rmtree(self._place(run_id), ignore_errors=True)

    def _place(self, run_id: str) -> Path:
        return self._folder / f"{TEMPORARY}first-rows-{run_id}"


def first_rows(evaluation: AnyEvaluation, settings: Any, dataset: Any) -> tuple[Any, Any] | None:
    """Settings and dataset of the first rows, under the first model; None for a run that has none."""
    if evaluation.first_rows is None or len(dataset) < LEAST_ROWS:
        return None
    n, frame = min(MOST_ROWS, len(dataset) // SHARE), dataset.to_frame()
    if evaluation.classes_in_first_rows:
        labels = frame["label"].unique()[: n // 2]  # two of each class at least
        some = frame[frame["label"].isin(labels)].groupby("label", sort=False).head(n // len(labels))
    else:
        some = frame.head(n)
    return (
        replace(settings, models=settings.models[:1], **evaluation.first_rows),
        type(dataset).from_frame(some.reset_index(drop=True), dataset.name),
    )


def evaluate_first_rows(
    run: RunRecord,
    evaluation: AnyEvaluation,
    settings: Any,
    dataset: Any,
    kept: FirstRows,
    gateway: Gateway,
    report: Callable[[int, int, str], None],
    is_stopped: Callable[[], bool],
) -> None:
    """Evaluate the first rows of a run that has them, and keep their result.

    The progress is reported as a part of the run's. Raises Cancelled; any other error is the run's to raise, so it is
    only logged here.
    """
    try:
        some = first_rows(evaluation, settings, dataset)
        if some is None:
            return
        settings_of_some, rows = some

        def report_as_part(done: int, total: int, label: str) -> None:
            report(done, total if total == 1 else max(total, total * len(dataset) // len(rows)), label)

        session = gateway.session(run_id=run.id, on_progress=report_as_part, is_cancelled=is_stopped, owner=run.owner)
        kept.save(run.id, evaluation.evaluate(settings_of_some, rows, session))
    except Cancelled:
        raise
    except Exception as error:
        logger.warning("The first rows of run %s could not be evaluated: %s", run.id, error)
