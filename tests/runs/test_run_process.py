"""Runs in processes of their own, over a backend in this one."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from engine.datasets import sample_data
from engine.errors import ModelError, RunError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.clusters.records import Settings
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.runs.execution import Ending, RunFiles
from engine.runs.queue import RunQueue
from engine.runs.run_process import OOM_SCORE, Report, RunProcesses
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.store import Store
from tests.support.fakes import FakeBackend
from tests.waiting import wait_until

SECONDS = 60.0


class Instance:
    """A queue whose runs have processes of their own, and what it is over."""

    def __init__(self, directory: Path, backend: FakeBackend, **settings: object) -> None:
        self.backend, self.artifacts = backend, Artifacts(directory)
        self.store = Store(f"sqlite:///{directory / 'hakari.sqlite'}")
        processes = RunProcesses(directory, directory / "cache.sqlite", 10**8, backend)
        self.progress: list[tuple[int, int, str]] = []

        def evaluate(run: RunRecord, report: Report, files: RunFiles, is_stopped: Callable[[], bool]) -> Ending:
            def seen(*progress: object) -> None:
                self.progress.append(progress)  # type: ignore[arg-type]
                report(*progress)  # type: ignore[arg-type]

            return processes.evaluate(run, seen, files, is_stopped)

        self.queue = RunQueue(self.store, self.artifacts, Gateway(backend, Cache(directory / "cache.sqlite", 10**8)),
                              EVALUATIONS, evaluate=evaluate, **settings)  # type: ignore[arg-type]

    def submit(self, *models: str) -> str:
        settings = Settings(models or ("owner/bert",), projection="pca", resamples=100)
        return self.queue.submit("clusters", settings, sample_data.labelled_sentences()).run_id

    def process(self, run_id: str) -> psutil.Process:
        """The run's own process, once it has asked for something."""
        wait_until(lambda: any(call.run_id == run_id for call in self.backend.calls), seconds=SECONDS)
        [process] = [process for process in psutil.Process().children(recursive=True)
                     if Path(f"/proc/{process.pid}/oom_score_adj").read_text().strip() == str(OOM_SCORE)]
        return process

    def close(self) -> None:
        self.queue.close()
        self.backend.close()
        self.store.close()


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    opened = Instance(tmp_path, FakeBackend())
    yield opened
    opened.close()


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def gated(tmp_path: Path, gate: threading.Event) -> Iterator[Instance]:
    """Its backend computes nothing before the gate opens."""
    opened = Instance(tmp_path, FakeBackend(gate=gate))
    yield opened
    gate.set()
    opened.close()


def test_a_run_gives_what_it_gives_in_a_thread(instance: Instance, tmp_path: Path) -> None:
    run_id = instance.submit("owner/a", "owner/b")
    run = instance.queue.wait(run_id, SECONDS)
    assert (run.state, run.message) == ("done", "")
    assert instance.artifacts.has_entry(run_id) and run.stored_bytes > 0
    store = Store(f"sqlite:///{tmp_path / 'other.sqlite'}")
    cache = Cache(tmp_path / "other-cache.sqlite", 10**8)
    in_thread = RunQueue(store, Artifacts(tmp_path / "other"), Gateway(FakeBackend(), cache), EVALUATIONS)
    settings = instance.queue.settings(run_id)
    other = in_thread.submit("clusters", settings, sample_data.labelled_sentences()).run_id
    assert in_thread.wait(other, SECONDS).state == "done"
    ours, theirs = instance.queue.result(run_id), in_thread.result(other)
    for name in ("models", "classes", "intervals", "points", "neighbours"):
        assert getattr(ours, name).equals(getattr(theirs, name)), name
    assert ours.signature == theirs.signature
    in_thread.close()
    store.close()
    assert instance.backend.statistics.read().misses > 0  # counted where the workers are
    assert {"owner/a", "owner/b"} <= {label.rpartition(" ")[2] for done, total, label in instance.progress
                                      if 0 < done == total}


def test_errors_arrive_with_their_words(tmp_path: Path) -> None:
    text = sample_data.labelled_sentences().texts[3]
    opened = Instance(tmp_path, FakeBackend(errors={text: ModelError("This text is refused.")}))
    missing = opened.queue.wait(opened.submit("missing/model"), SECONDS)
    assert missing.state == "failed" and "There is no model 'missing/model'" in missing.message
    failed = opened.queue.wait(opened.submit(), SECONDS)
    assert (failed.state, failed.message) == ("failed", "This text is refused.")
    opened.close()


def test_a_refused_result_is_not_written(tmp_path: Path) -> None:
    def no_room(owner: str, n_bytes: int) -> None:
        raise RunError(f"{owner} has no room for {n_bytes > 100}.")

    opened = Instance(tmp_path, FakeBackend(), room=no_room)
    run = opened.queue.wait(opened.submit(), SECONDS)
    assert (run.state, run.message) == ("failed", "local has no room for True.")
    assert not opened.artifacts.has_result(run.id)
    opened.close()


def test_a_run_is_cancelled_while_it_waits(gated: Instance) -> None:
    run_id = gated.submit()
    process = gated.process(run_id)
    start = time.monotonic()
    assert gated.queue.cancel(run_id)
    assert gated.queue.wait(run_id, SECONDS).state == "cancelled" and time.monotonic() - start < 10
    wait_until(lambda: not process.is_running(), seconds=SECONDS)


def test_a_killed_process_is_replaced_once(gated: Instance, gate: threading.Event) -> None:
    run_id = gated.submit()
    gated.process(run_id).send_signal(signal.SIGKILL)
    gate.set()
    assert gated.queue.wait(run_id, SECONDS).state == "done"


def test_a_process_that_is_killed_again_fails_with_words(gated: Instance) -> None:
    run_id = gated.submit()
    for n_calls in (1, 2):
        wait_until(lambda n=n_calls: len(gated.backend.calls) >= n, seconds=SECONDS)  # type: ignore[misc]
        gated.process(run_id).send_signal(signal.SIGKILL)
    run = gated.queue.wait(run_id, SECONDS)
    assert run.state == "failed" and "was ended by SIGKILL" in run.message and "submit it again" in run.message


def test_closing_ends_the_processes(tmp_path: Path, gate: threading.Event) -> None:
    opened = Instance(tmp_path, FakeBackend(gate=gate))
    process = opened.process(opened.submit())
    opened.close()
    wait_until(lambda: not process.is_running(), seconds=SECONDS)
