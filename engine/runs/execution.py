"""One run, from its record in the store to its result on the disk."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping

from engine.errors import Cancelled, EngineError, InputError
from engine.evaluations.shared.evaluation import Evaluation
from engine.inference.gateway import Gateway
from engine.runs.eta import Pace
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.json_codec import from_plain
from engine.runs.storage.views import Progress, RunView

MAX_ERROR_CHARACTERS = 500

logger = logging.getLogger(__name__)


class Running:
    """A run that is worked on: whether it should stop, and how far it said it is."""

    def __init__(self, run_id: str) -> None:
        self.stop = threading.Event()
        self._run_id = run_id
        self._pace = Pace()
        self._step = ""
        self._lock = threading.Lock()
        self._said: tuple[int, int, str] | None = None

    def report(self, done: int, total: int, label: str) -> None:
        """Say it; this writes nothing, so it may be called as often as one likes."""
        with self._lock:
            self._said = (int(done), int(total), label)

    def fresh_progress(self) -> list[Progress]:
        """What was said last, if that was after the former call: one report or none."""
        with self._lock:
            said, self._said = self._said, None
            if said is None:
                return []
            done, total, label = said
            if label != self._step:
                self._step, self._pace = label, Pace()
            return [Progress(self._run_id, done, total, label, self._pace.remaining(time.monotonic(), done, total))]


def execute(run: RunView, running: Running, evaluations: Mapping[str, Evaluation], artifacts: Artifacts,
            gateway: Gateway, is_stopped: Callable[[], bool]) -> tuple[str, str]:
    """Evaluate and keep the result; returns the state the run ends in and the message that goes with it.

    Nothing is raised: what a user can mend is told in the words of its EngineError, anything else in one line,
    while its traceback goes to the log.
    """
    about = {"run": run.id, "user": run.owner, "kind": run.kind}
    logger.info("A run begins.", extra=about)
    begun = time.monotonic()
    state, message = _executed(run, running, evaluations, artifacts, gateway, is_stopped)
    logger.info("A run ends.", extra=about | {"state": state, "seconds": round(time.monotonic() - begun, 3)})
    return state, message


def _executed(run: RunView, running: Running, evaluations: Mapping[str, Evaluation], artifacts: Artifacts,
              gateway: Gateway, is_stopped: Callable[[], bool]) -> tuple[str, str]:
    try:
        evaluation = evaluation_of(run.kind, evaluations)
        settings = from_plain(evaluation.settings_type, run.settings)
        dataset = artifacts.load_dataset(evaluation.dataset_type, run.dataset_hash, run.dataset_name,
                                         run.dataset_notices)
        session = gateway.session(run_id=run.id, on_progress=running.report, is_cancelled=is_stopped)
        artifacts.save_result(run.id, evaluation.evaluate(settings, dataset, session))
        return "done", ""
    except Cancelled:
        return "cancelled", "Cancelled."
    except EngineError as error:
        return "failed", str(error)
    except Exception as error:
        logger.exception("Run %s (%s) met an internal error.", run.id, run.kind,
                         extra={"run": run.id, "user": run.owner, "kind": run.kind})
        # The first line only: a worker's error brings its traceback along.
        what = next(iter(str(error).splitlines()), "")[:MAX_ERROR_CHARACTERS]
        return "failed", (f"An internal error, not a fault of your data: {type(error).__name__}: {what} "
                          "(the log of the server has the details).")


def evaluation_of(kind: str, evaluations: Mapping[str, Evaluation]) -> Evaluation:
    """The evaluation of that kind; InputError when there is none."""
    if kind not in evaluations:
        raise InputError(f"There is no evaluation {kind!r}; there are: {', '.join(evaluations)}.")
    return evaluations[kind]
