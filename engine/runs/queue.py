"""The queue of runs: submission, execution in a few threads, progress, cancellation and resumption.

A run is in the store, and its dataset on the disk, before `submit` returns, so it does not depend on the page that
submitted it. When the process closes or dies, another process that opens the same data resumes the unfinished runs;
the gateway's cache makes the repetition cheap.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.errors import RunError
from engine.evaluations.shared import dictionaries
from engine.evaluations.shared.evaluation import AnyEvaluation
from engine.inference.gateway import Gateway
from engine.messages.message import Message, together
from engine.runs.entries import RunEntries
from engine.runs.execution import ActiveRun, Evaluate, Room, evaluated, evaluation_of, execute
from engine.runs.naming import MAX_NAME_CHARACTERS, run_name, shown_text, unknown_run
from engine.runs.run_key import run_key
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.json_codec import record_from_json, to_json_value
from engine.runs.storage.processes import HEARTBEAT_SECONDS, this_process
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search
from engine.runs.storage.store import UNFINISHED, Store
from engine.runs.storage.usage import release_dataset

PROGRESS_SECONDS = 0.2  # between two writes of progress
STOP_CHECK_SECONDS = 1.0  # between two checks whether another process has requested a stop
CLOSING_SECONDS = 5.0  # for running runs to stop
RETRY_SECONDS = 1.0  # after the store could not be read or written

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Submission:
    """The id of the run, whether an existing run was reused, and whether that was taken out of the bin."""

    run_id: str
    reused: bool
    restored: bool = False


class RunQueue:
    """Runs, from submission to result. Thread-safe; several processes may share the store. `artifacts`: their files."""

    def __init__(
        self,
        store: Store,
        artifacts: Artifacts,
        gateway: Gateway,
        evaluations: Mapping[str, AnyEvaluation],
        max_running: int = 2,
        *,
        resume: bool = True,
        running_per_owner: int | None = None,
        room: Room | None = None,
        evaluate: Evaluate | None = None,
    ) -> None:
        """Start `max_running` threads. `resume`: adopt the unfinished runs of dead processes, now and later.

        `running_per_owner`: the largest number of runs of one owner that run at once; the others stay queued.
        `room`: called with a run and the size of its result before it is written; it raises what refuses it.
        `evaluate`: evaluates a run elsewhere (`engine.runs.run_process`); None: in the thread that claimed it.
        """
        self._store = store
        self.artifacts = artifacts
        self._evaluate = evaluate or (
            lambda run, report, files, is_stopped: evaluated(
                run, evaluations, artifacts, gateway, report, files, is_stopped
            )
        )
        self._evaluations = evaluations
        self._resume = resume
        self._running_per_owner = running_per_owner
        self._room = room
        self._entries = RunEntries(store, artifacts, evaluations)
        self._process = this_process()
        self._active: dict[str, ActiveRun] = {}
        # Excludes submission during closing, and deletion of a dataset during the submission of a run that uses it.
        self._submitting = threading.Lock()
        self._closing = threading.Event()
        self._changed = threading.Condition()
        self._n_changes = 0
        store.heartbeat(self._process)
        if resume:
            artifacts.remove_temporary_files()
            store.adopt(self._process.id)
        self._threads = [
            threading.Thread(target=self._run_loop, name=f"run-{i}", daemon=True) for i in range(max_running)
        ]
        self._threads.append(threading.Thread(target=self._watch_loop, name="run-watch", daemon=True))
        for thread in self._threads:
            thread.start()

    def submit(
        self,
        kind: str,
        settings: Any,
        dataset: Any,
        owner: str = "local",
        name: str | None = None,
        *,
        reuse: bool = True,
        room: Callable[[int], None] | None = None,
    ) -> Submission:
        """Queue an evaluation of `dataset` under `settings`.

        With `reuse`, an existing run of the same owner with the same key (`engine.runs.run_key`) is returned instead,
        if it is done, queued or running; one in the bin is taken out of it. `room`: called with the size of the dataset
        before it is written; it raises what refuses it. Raises InputError for an unknown kind, RunError when the queue
        is closed or the disk is full.
        """
        evaluation = evaluation_of(kind, self._evaluations)
        for value, expected_type in ((settings, evaluation.settings_type), (dataset, evaluation.dataset_type)):
            if not isinstance(value, expected_type):
                raise TypeError(
                    f"A run of kind {kind!r} takes a {expected_type.__qualname__}; got {type(value).__name__}."
                )
        stored_settings = to_json_value(settings)
        # Refuse settings that could not be restored after a restart.
        record_from_json(evaluation.settings_type, stored_settings)
        dataset_hash = dataset.content_hash
        key = run_key(kind, stored_settings, dataset_hash)
        with self._submitting:
            if self._closing.is_set():
                raise RunError(Message("The queue is closed and accepts no runs. Open the engine again."))
            for candidate in self._store.runs_with_key(owner, key) if reuse else ():
                if self._resume if candidate.state in UNFINISHED else self.artifacts.has_result(candidate.id):
                    self.artifacts.save_dataset(dataset)  # repairs a damaged file
                    in_bin = candidate.deleted is not None
                    if not in_bin or self.change(candidate.id, deleted=None):
                        return Submission(candidate.id, reused=True, restored=in_bin)
            self._store.heartbeat(self._process)
            self.artifacts.save_dataset(dataset, room)
            run_id = self._store.add(
                owner=owner,
                kind=kind,
                settings=stored_settings,
                key=key,
                process_id=self._process.id,
                name=run_name(name or f"{evaluation.title}: {dataset.name}"[:MAX_NAME_CHARACTERS]),
                dataset_name=shown_text(dataset.name),
                dataset_hash=dataset_hash,
                dataset_notices=getattr(dataset, "notices", ()),
                stored_bytes=self.artifacts.dataset_bytes(type(dataset), dataset_hash),
                n_rows=dataset.n,
            )
            # Another process may have deleted its last run with this dataset before it saw the row of the new one.
            if not self.artifacts.has_dataset(type(dataset), dataset_hash):
                self.artifacts.save_dataset(dataset)
        self._notify()
        return Submission(run_id, reused=False)

    def get(self, run_id: str) -> RunRecord | None:
        """The current record of the run, or None when there is no such run."""
        return self._store.get(run_id)

    def recent(self, owner: str = "local", limit: int = 20, kind: str | None = None) -> list[RunRecord]:
        """The owner's runs, newest first; only those of `kind` if given."""
        return self._store.search(Search(owner=owner, kind=kind, limit=limit))

    def wait(self, run_id: str, timeout: float | None = None) -> RunRecord:
        """The run once it has ended, or after `timeout` seconds. Raises RunError for an unknown id."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            run = self._require(run_id)
            if run.state not in UNFINISHED or (deadline is not None and time.monotonic() >= deadline):
                return run
            time.sleep(0.05)

    def result(self, run_id: str) -> Any:
        """The result of a finished run, as its evaluation's result type.

        Raises RunError when there is no such run, it is not done, or its files are damaged.
        """
        run = self._require_done(run_id)
        return self.artifacts.load_result(run_id, evaluation_of(run.kind, self._evaluations).result_type)

    def dataset(self, run_id: str) -> Any:
        """The dataset of a run, as submitted. Raises RunError when the run or its file does not exist."""
        run = self._require(run_id)
        return self.artifacts.load_dataset(
            evaluation_of(run.kind, self._evaluations).dataset_type,
            run.dataset_hash,
            run.dataset_name,
            run.dataset_notices,
        )

    def settings(self, run_id: str) -> Any:
        """The settings of a run as its evaluation's type. Raises InputError when another version made them."""
        run = self._require(run_id)
        return record_from_json(evaluation_of(run.kind, self._evaluations).settings_type, run.settings)

    def cancel(self, run_id: str) -> bool:
        """Cancel a queued run, or request a running one to stop; False when it has already ended or does not exist."""
        stopped = self._store.cancel(run_id)
        if stopped and (active := self._active.get(run_id)):
            active.stop.set()
        return stopped

    def change(self, run_id: str, **values: Any) -> bool:
        """Set columns that describe a run (`Store.change`), and its entry; False when there is no such run."""
        changed = self._store.change(run_id, **values)
        if changed:
            self._entries.refresh(run_id)
        return changed

    def delete(self, run_id: str, binned_before: datetime | None = None) -> bool:
        """Delete a run, its result, and its dataset and corpus unless another run uses them.

        binned_before: only if it is in the bin since before then; else False. Raises RunError for an unknown id.
        """
        run = self._require(run_id)
        # Nothing of a run is lost that was restored, and its result is never seen without it.
        if not self._store.delete(run_id, binned_before, lambda: self.artifacts.delete_result(run_id)):
            return False
        if active := self._active.get(run_id):
            active.stop.set()
        self.artifacts.delete_result(run_id)
        dictionaries.forget(run_id)
        self.release_dataset(run.dataset_hash)
        return True

    def release_dataset(self, dataset_hash: str) -> None:
        """Delete a dataset and its corpus unless a run or a kept data set uses them."""
        with self._submitting:
            release_dataset(self._store, self.artifacts, dataset_hash)

    def close(self, timeout: float = CLOSING_SECONDS) -> None:
        """Accept no more runs, stop the running ones, and release the unfinished ones to other processes.

        A run that has not stopped after `timeout` seconds is abandoned: its result is not recorded.
        """
        with self._submitting:
            if self._closing.is_set():
                return
            self._closing.set()
        self._notify()
        deadline = time.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._store.release(self._process.id)

    def _run_loop(self) -> None:
        while not self._closing.is_set():
            n_changes = self._n_changes
            try:
                run = self._store.claim(self._process.id, self._running_per_owner)
            except RunError:
                logger.exception("The next run cannot be claimed from the store.")
                self._closing.wait(RETRY_SECONDS)
                continue
            if run is not None:
                self._execute(run)
                if self._running_per_owner is not None:
                    self._notify()  # another thread may now start the next run of the same owner
            else:
                with self._changed:
                    self._changed.wait_for(lambda: self._n_changes != n_changes or self._closing.is_set())  # noqa: B023

    def _execute(self, run: RunRecord) -> None:
        active = self._active[run.id] = ActiveRun(run.id)
        try:
            state, message = execute(
                run,
                active,
                self._evaluate,
                self._entries,
                self._room,
                lambda: active.stop.is_set() or self._closing.is_set(),
            )
            # A run that is interrupted by closing, or fails because of it, stays unfinished and is resumed later.
            while state == "done" or not self._closing.is_set():
                try:
                    self._store.progress(self._process.id, active.take_progress())
                    size = self.artifacts.result_bytes(run.id) if state == "done" else 0
                    ended = self._store.finish(run.id, self._process.id, state, message, size)
                    if not ended and not self._store.get(run.id):
                        self.artifacts.delete_result(run.id)  # it was deleted while it ran
                    return
                except RunError:
                    logger.exception("The final state of run %s cannot be written to the store.", run.id)
                    if self._closing.wait(RETRY_SECONDS):
                        return
        finally:
            del self._active[run.id]

    def _watch_loop(self) -> None:
        """Write progress, check for stop requests of other processes, and send the heartbeat of this one."""
        if self._resume:
            self._complete_entries()
        next_stop_check, next_heartbeat = 0.0, time.monotonic() + HEARTBEAT_SECONDS
        while not self._closing.wait(PROGRESS_SECONDS):
            now = time.monotonic()
            active = dict(self._active)
            try:
                reports = [report for active_run in active.values() for report in active_run.take_progress()]
                if reports:
                    self._store.progress(self._process.id, reports)
                if active and now >= next_stop_check:
                    next_stop_check = now + STOP_CHECK_SECONDS
                    for run_id in self._store.stop_requested(self._process.id, active):
                        active[run_id].stop.set()
                if now >= next_heartbeat:
                    next_heartbeat = now + HEARTBEAT_SECONDS
                    self._store.heartbeat(self._process)
                    if self._resume and self._store.adopt(self._process.id):
                        self._notify()
            except RunError:
                logger.exception("The store cannot be read or written.")

    def _complete_entries(self) -> None:
        try:
            self._entries.complete()
        except RunError:  # the next opening writes them
            logger.exception("The entries of earlier runs cannot be written.")

    def _notify(self) -> None:
        with self._changed:
            self._n_changes += 1
            self._changed.notify_all()

    def _require(self, run_id: str) -> RunRecord:
        run = self._store.get(run_id)
        if run is None:
            raise unknown_run(run_id)
        return run

    def _require_done(self, run_id: str) -> RunRecord:
        run = self._require(run_id)
        if run.state != "done":
            said = Message("The run {name!r} is {state} and has no result.", name=run.name, state=run.state)
            raise RunError(together(" ", filter(None, (said, run.message))))
        return run
