"""Execution of one run: from its record in the store to its result on the disk."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from engine.errors import Cancelled, EngineError, InputError
from engine.evaluations.shared.evaluation import AnyEvaluation
from engine.inference.gateway import Gateway
from engine.messages.message import Message, list_of
from engine.processes.freed_memory import give_back_freed_memory
from engine.runs.entries import RunEntries
from engine.runs.eta import EtaEstimator
from engine.runs.first_rows import FirstRows, evaluate_first_rows
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.json_codec import record_from_json
from engine.runs.storage.run_record import Progress, RunRecord

MAX_ERROR_CHARACTERS = 500

Room = Callable[[RunRecord, int], None]  # the run, and bytes of its result to be written; raises what refuses them

logger = logging.getLogger(__name__)


class ActiveRun:
    """A run that is being executed: its stop request and its last reported progress."""

    def __init__(self, run_id: str) -> None:
        self.stop = threading.Event()
        self._run_id = run_id
        self._eta = EtaEstimator()
        self._step = ""
        self._lock = threading.Lock()
        self._last_report: tuple[int, int, str] | None = None

    def report(self, done: int, total: int, label: str) -> None:
        """Record the progress in memory; cheap, as nothing is written to the store."""
        with self._lock:
            self._last_report = (int(done), int(total), label)

    def take_progress(self) -> list[Progress]:
        """The last reported progress if it is new since the previous call: a list of one or none."""
        with self._lock:
            last_report, self._last_report = self._last_report, None
            if last_report is None:
                return []
            done, total, label = last_report
            if label != self._step:
                self._step, self._eta = label, EtaEstimator()
            remaining = self._eta.remaining(time.monotonic(), done, total)
            return [Progress(self._run_id, done, total, label, remaining, self._eta.per_second)]


@dataclass(frozen=True)
class Ending:
    """How a run ended: the final state and its message; of an internal error type, places and traceback, for the log."""

    state: str
    message: str = ""
    error: str = ""
    where: tuple[str, ...] = ()
    traceback: str = ""


class InternalError(Exception):
    """An error of our own code in a run; its text is the traceback, from whatever process it was raised in."""


@dataclass(frozen=True)
class RunFiles:
    """What the list of runs has to do with a result that is about to be written.

    entry: the entry of the run that is kept beside the result. room: called with the result's size; it raises what
    refuses it.
    """

    entry: Callable[[], bytes]
    room: Callable[[int], None]


# Evaluates a run: in this process, or in one of its own.
Evaluate = Callable[[RunRecord, Callable[[int, int, str], None], RunFiles, Callable[[], bool]], Ending]


def execute(
    run: RunRecord,
    active: ActiveRun,
    evaluate: Evaluate,
    entries: RunEntries,
    room: Room | None,
    is_stopped: Callable[[], bool],
) -> tuple[str, str]:
    """Evaluate and store the result; returns the final state of the run and its message. Raises nothing."""
    log_fields = {"run": run.id, "user": run.owner, "kind": run.kind}
    logger.info("The run has started.", extra=log_fields)
    start = time.monotonic()
    files = RunFiles(partial(entries.of_ending, run), partial(room, run) if room else lambda _size: None)
    try:
        ending = evaluate(run, active.report, files, is_stopped)
    except Exception as error:  # the thread of the queue continues with the next run
        ending = _internal(error)
    if ending.error:
        logger.error(
            "Internal error in run %s (%s).",
            run.id,
            run.kind,
            exc_info=InternalError(ending.traceback),
            extra=log_fields | {"error": ending.error, "where": list(ending.where)},
        )
    seconds = round(time.monotonic() - start, 3)
    logger.info("The run has ended.", extra=log_fields | {"state": ending.state, "seconds": seconds})
    return ending.state, ending.message


def evaluated(
    run: RunRecord,
    evaluations: Mapping[str, AnyEvaluation],
    artifacts: Artifacts,
    gateway: Gateway,
    report: Callable[[int, int, str], None],
    files: RunFiles,
    is_stopped: Callable[[], bool],
) -> Ending:
    """Evaluate a run and store its result, in this process.

    Raises nothing: the message is that of an EngineError, or one line for any other exception.
    """
    first_rows = FirstRows(artifacts.directory)
    try:
        evaluation = evaluation_of(run.kind, evaluations)
        settings = record_from_json(evaluation.settings_type, run.settings)
        dataset = artifacts.load_dataset(
            evaluation.dataset_type, run.dataset_hash, run.dataset_name, run.dataset_notices
        )
        evaluate_first_rows(run, evaluation, settings, dataset, first_rows, gateway, report, is_stopped)
        session = gateway.session(run_id=run.id, on_progress=report, is_cancelled=is_stopped, owner=run.owner)
        give_back_freed_memory()
        result = evaluation.evaluate(settings, dataset, session)
        del dataset  # beside it there is no room for files of millions of rows
        give_back_freed_memory()
        artifacts.save_result(run.id, result, files.entry(), files.room)
        return Ending("done")
    except Cancelled:
        return Ending("cancelled", "Cancelled.")
    except EngineError as error:
        return Ending("failed", str(error))
    except Exception as error:
        return _internal(error)
    finally:
        first_rows.delete(run.id)


def _internal(error: Exception) -> Ending:
    # Only the first line: an error of a worker contains its traceback.
    first_line = next(iter(str(error).splitlines()), "")[:MAX_ERROR_CHARACTERS]
    where = tuple(
        f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)
    )
    return Ending(
        "failed",
        Message(
            "An internal error, not a problem of your data: {class_name}: {first_line} (details "
            "are in the log of the server).",
            class_name=type(error).__name__,
            first_line=first_line,
        ),
        type(error).__name__,
        where,
        "".join(traceback.format_exception(error)),
    )


def evaluation_of(kind: str, evaluations: Mapping[str, AnyEvaluation]) -> AnyEvaluation:
    """The evaluation of that kind. Raises InputError when there is none."""
    if kind not in evaluations:
        raise InputError(
            Message(
                "There is no evaluation {kind!r}; there are: {evaluations}.",
                kind=kind,
                evaluations=list_of(evaluations),
            )
        )
    return evaluations[kind]
