"""The queue of runs: submitted here, worked on by a few threads, watched, cancelled, taken up again.

A run is in the store, and its dataset on the disk, before `submit` returns: nothing depends on the page
that asked. When the process closes or dies, the next one to open the same data (or another that has it
open) goes on with what was unfinished; the gateway's cache makes the repetition cheap.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from engine.errors import InputError, RunError
from engine.evaluations.shared import dictionaries
from engine.evaluations.shared.evaluation import Evaluation
from engine.inference.gateway import Gateway
from engine.runs.execution import Running, evaluation_of, execute
from engine.runs.run_key import run_key
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.json_codec import from_plain, to_plain
from engine.runs.storage.processes import SIGN_SECONDS, this_process
from engine.runs.storage.searching import Search
from engine.runs.storage.store import UNFINISHED, Store
from engine.runs.storage.views import RunView

PROGRESS_SECONDS = 0.2  # between two writes of progress
STOP_CHECK_SECONDS = 1.0  # between two looks at whether another process wants a run stopped
CLOSING_SECONDS = 5.0  # that running runs have to come to a stop
RETRY_SECONDS = 1.0  # when the store cannot be written
MAX_NAME_CHARACTERS = 200

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Submission:
    """The run that answers, and whether it was there already (`reused`)."""

    run_id: str
    reused: bool


class RunQueue:
    """Runs, from submission to result. Safe across threads, and beside other processes with the same store."""

    def __init__(self, store: Store, artifacts: Artifacts, gateway: Gateway, evaluations: Mapping[str, Evaluation],
                 max_running: int = 2, *, resume: bool = True, running_per_owner: int | None = None) -> None:
        """Start `max_running` threads. `resume`: take up what dead processes left, now and whenever one dies.

        `running_per_owner`: how many runs of one owner may run at once; the others wait in the queue.
        """
        self._store = store
        self._artifacts = artifacts
        self._gateway = gateway
        self._evaluations = evaluations
        self._resume = resume
        self._running_per_owner = running_per_owner
        self._process = this_process()
        self._running: dict[str, Running] = {}
        # Nothing is submitted while the queue closes, and no dataset deleted while a run that needs it is submitted.
        self._submitting = threading.Lock()
        self._closing = threading.Event()
        self._news = threading.Condition()
        self._n_news = 0
        store.sign(self._process)
        if resume:
            artifacts.sweep(*store.ids_and_datasets())
            store.adopt(self._process.id)
        self._threads = [threading.Thread(target=self._work, name=f"run-{i}", daemon=True) for i in range(max_running)]
        self._threads.append(threading.Thread(target=self._watch, name="run-watch", daemon=True))
        for thread in self._threads:
            thread.start()

    def submit(self, kind: str, settings: Any, dataset: Any, owner: str = "local", name: str | None = None, *,
               reuse: bool = True) -> Submission:
        """Queue an evaluation of `dataset` under `settings`.

        With `reuse`, a run of the same owner that is done or on its way and must give the same result
        (`engine.runs.run_key`) answers instead. Raises InputError for a kind that does not exist,
        RunError when the queue is closed or the disk full.
        """
        evaluation = evaluation_of(kind, self._evaluations)
        for given, wanted in ((settings, evaluation.settings_type), (dataset, evaluation.dataset_type)):
            if not isinstance(given, wanted):
                raise TypeError(f"A run of kind {kind!r} takes a {wanted.__qualname__}; got {type(given).__name__}.")
        plain = to_plain(settings)
        from_plain(evaluation.settings_type, plain)  # what could not be read back after a restart fails here
        dataset_hash = dataset.content_hash
        key = run_key(kind, plain, dataset_hash)
        with self._submitting:
            if self._closing.is_set():
                raise RunError("The queue is closed: no run is taken any more. Open the engine again.")
            for found in self._store.same(owner, key) if reuse else ():
                if self._resume if found.state in UNFINISHED else self._artifacts.has_result(found.id):
                    return Submission(found.id, reused=True)
            self._store.sign(self._process)
            self._artifacts.save_dataset(dataset)
            run_id = self._store.add(
                owner=owner, kind=kind, settings=plain, key=key, process_id=self._process.id,
                name=run_name(name or f"{evaluation.title}: {dataset.name}"[:MAX_NAME_CHARACTERS]),
                dataset_name=dataset.name, dataset_hash=dataset_hash, dataset_notices=getattr(dataset, "notices", ()),
                stored_bytes=self._artifacts.dataset_bytes(type(dataset), dataset_hash),
            )
        self._announce()
        return Submission(run_id, reused=False)

    def get(self, run_id: str) -> RunView | None:
        """The run as it stands, or None when there is none of that id."""
        return self._store.get(run_id)

    def recent(self, owner: str = "local", limit: int = 20, kind: str | None = None) -> list[RunView]:
        """The owner's runs, the newest first; of one kind where it is named."""
        return self._store.search(Search(owner=owner, kind=kind, limit=limit))

    def wait(self, run_id: str, timeout: float | None = None) -> RunView:
        """The run once it has ended, or as it stands after `timeout` seconds. Raises RunError for an unknown id."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            run = self._known(run_id)
            if run.state not in UNFINISHED or (end is not None and time.monotonic() >= end):
                return run
            time.sleep(0.05)

    def result(self, run_id: str) -> Any:
        """What a finished run found, as its evaluation's result type.

        Raises RunError when there is no such run, it is not done, or its files are damaged.
        """
        run = self._done(run_id)
        return self._artifacts.load_result(run_id, evaluation_of(run.kind, self._evaluations).result_type)

    def table(self, run_id: str, field: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """One table of a result, or some of its columns, without reading the rest. Raises like `result`."""
        self._done(run_id)
        return self._artifacts.load_table(run_id, field, columns)

    def dataset(self, run_id: str) -> Any:
        """The dataset of a run, as it was submitted. Raises RunError when the run or its file is not there."""
        run = self._known(run_id)
        return self._artifacts.load_dataset(evaluation_of(run.kind, self._evaluations).dataset_type, run.dataset_hash,
                                            run.dataset_name, run.dataset_notices)

    def settings(self, run_id: str) -> Any:
        """The settings of a run as its evaluation's type; InputError when another version made them."""
        run = self._known(run_id)
        return from_plain(evaluation_of(run.kind, self._evaluations).settings_type, run.settings)

    def cancel(self, run_id: str) -> bool:
        """Take a run off the queue or ask it to stop; False when it had ended already or does not exist."""
        stopped = self._store.cancel(run_id)
        if stopped and (running := self._running.get(run_id)):
            running.stop.set()
        return stopped

    def delete(self, run_id: str) -> None:
        """Forget a run and its files; the dataset too unless another run has it. Raises RunError for an unknown id."""
        run = self._known(run_id)
        self._store.delete(run_id)
        if running := self._running.get(run_id):
            running.stop.set()
        self._artifacts.delete_result(run_id)
        dictionaries.forget(run_id)
        with self._submitting:
            if not self._store.dataset_in_use(run.dataset_hash):
                self._artifacts.delete_dataset(run.dataset_hash)

    def close(self, timeout: float = CLOSING_SECONDS) -> None:
        """Take no more runs, stop the running ones, leave what is unfinished to the next process.

        A run that has not stopped after `timeout` seconds is left behind: what it still finds is not recorded.
        """
        with self._submitting:
            if self._closing.is_set():
                return
            self._closing.set()
        self._announce()
        end = time.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        self._store.release(self._process.id)

    def _work(self) -> None:
        while not self._closing.is_set():
            seen = self._n_news
            try:
                run = self._store.claim(self._process.id, self._running_per_owner)
            except RunError:
                logger.exception("The next run cannot be taken from the store.")
                self._closing.wait(RETRY_SECONDS)
                continue
            if run is not None:
                self._execute(run)
                if self._running_per_owner is not None:
                    self._announce()  # the next of its owner's runs may start now, in whichever thread
            else:
                with self._news:
                    self._news.wait_for(lambda: self._n_news != seen or self._closing.is_set())  # noqa: B023

    def _execute(self, run: RunView) -> None:
        running = self._running[run.id] = Running(run.id)
        try:
            state, message = execute(run, running, self._evaluations, self._artifacts, self._gateway,
                                     lambda: running.stop.is_set() or self._closing.is_set())
            # What is interrupted by closing, or fails because of it, stays unfinished and is taken up again.
            while state == "done" or not self._closing.is_set():
                try:
                    self._store.progress(self._process.id, running.fresh_progress())
                    size = self._artifacts.result_bytes(run.id) if state == "done" else 0
                    ended = self._store.finish(run.id, self._process.id, state, message, size)
                    if not ended and not self._store.get(run.id):
                        self._artifacts.delete_result(run.id)  # it was deleted while it ran
                    return
                except RunError:
                    logger.exception("The end of run %s cannot be written to the store.", run.id)
                    if self._closing.wait(RETRY_SECONDS):
                        return
        finally:
            del self._running[run.id]

    def _watch(self) -> None:
        """Write progress, notice requests to stop from other processes, sign that this one lives."""
        check, sign = 0.0, time.monotonic() + SIGN_SECONDS
        while not self._closing.wait(PROGRESS_SECONDS):
            now = time.monotonic()
            running = dict(self._running)
            try:
                reports = [report for one in running.values() for report in one.fresh_progress()]
                if reports:
                    self._store.progress(self._process.id, reports)
                if running and now >= check:
                    check = now + STOP_CHECK_SECONDS
                    for run_id in self._store.to_stop(self._process.id, running):
                        running[run_id].stop.set()
                if now >= sign:
                    sign = now + SIGN_SECONDS
                    self._store.sign(self._process)
                    if self._resume and self._store.adopt(self._process.id):
                        self._announce()
            except RunError:
                logger.exception("The store cannot be read or written.")

    def _announce(self) -> None:
        with self._news:
            self._n_news += 1
            self._news.notify_all()

    def _known(self, run_id: str) -> RunView:
        run = self._store.get(run_id)
        if run is None:
            raise unknown_run(run_id)
        return run

    def _done(self, run_id: str) -> RunView:
        run = self._known(run_id)
        if run.state != "done":
            raise RunError(f"The run {run.name!r} is {run.state} and has no result. {run.message}".strip())
        return run


def run_name(name: str) -> str:
    """A name as a run may have it, without white space around it; InputError for an empty or very long one."""
    name = name.strip()
    if not name:
        raise InputError("A run needs a name; got an empty one.")
    if len(name) > MAX_NAME_CHARACTERS:
        raise InputError(f"A name has at most {MAX_NAME_CHARACTERS} characters; got {len(name)}.")
    return name


def unknown_run(run_id: str) -> RunError:
    """The error for an id behind which there is no run."""
    return RunError(f"There is no run {run_id!r}; it may have been deleted.")
