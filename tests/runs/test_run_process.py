"""Runs in processes of their own, over a backend in this one."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from multiprocessing import forkserver
from pathlib import Path

import psutil
import pytest

from engine.datasets import sample_data
from engine.errors import Cancelled, ModelError, RunError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.clusters.records import Settings
from engine.inference.backend import DownloadProgress, Piece, Request
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.models.sources.model_location import LocatedModel
from engine.processes import deaths
from engine.runs import run_conversation, run_process
from engine.runs.computing import SAMPLES_ID
from engine.runs.execution import Ending, RunFiles
from engine.runs.queue import RunQueue
from engine.runs.run_conversation import STOP_SECONDS, Report
from engine.runs.run_process import NICENESS, OOM_SCORE, PRELOADED, STARTS, RunProcesses
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.store import Store
from tests.support.fakes import FakeBackend
from tests.waiting import SECONDS, wait_until


class Instance:
    """A queue whose runs have processes of their own, and what it is over."""

    def __init__(
        self, directory: Path, backend: FakeBackend, public_owner: str | None = None, **settings: object
    ) -> None:
        self.backend, self.artifacts = backend, Artifacts(directory)
        self.store = Store(f"sqlite:///{directory / 'hakari.sqlite'}")
        self.processes = processes = RunProcesses(directory, directory / "cache.sqlite", 10**8, backend, public_owner)
        self.progress: list[tuple[int, int, str]] = []

        def evaluate(run: RunRecord, report: Report, files: RunFiles, is_stopped: Callable[[], bool]) -> Ending:
            def seen(*progress: object) -> None:
                self.progress.append(progress)  # type: ignore[arg-type]
                report(*progress)  # type: ignore[arg-type]

            return processes.evaluate(run, seen, files, is_stopped)

        self.gateway = Gateway(backend, Cache(directory / "cache.sqlite", 10**8))
        self.queue = RunQueue(self.store, self.artifacts, self.gateway, EVALUATIONS, evaluate=evaluate, **settings)  # type: ignore[arg-type]

    def submit(self, *models: str, owner: str = "local") -> str:
        settings = Settings(models or ("owner/bert",), projection="pca", resamples=100)
        return self.queue.submit("clusters", settings, sample_data.labelled_sentences(), owner).run_id

    def process(self, run_id: str) -> psutil.Process:
        """The run's own process, once it has asked for something."""
        wait_until(lambda: any(call.run_id == run_id for call in self.backend.calls))
        # Not those of a dashboard that a test of the browser left running under this process.
        server = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
        [process] = [
            process
            for process in psutil.Process(server).children()
            if Path(f"/proc/{process.pid}/oom_score_adj").read_text().strip() == str(OOM_SCORE)
        ]
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
    assert {"owner/a", "owner/b"} <= {
        label.rpartition(" ")[2] for done, total, label in instance.progress if 0 < done == total
    }


def test_a_run_stands_back_behind_the_pages(gated: Instance, gate: threading.Event) -> None:
    run_id = gated.submit()
    assert gated.process(run_id).nice() == min(19, psutil.Process().nice() + NICENESS)
    gate.set()
    assert gated.queue.wait(run_id, SECONDS).state == "done"


def test_what_every_run_needs_is_loaded_before_it_starts() -> None:
    loaded = (
        f"import {PRELOADED}; from engine.language import words; from engine.language.readings import "
        "by_pykakasi; print(by_pykakasi._kakasi.cache_info().currsize, words._tagger.cache_info().currsize)"
    )
    shown = subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True, text=True)
    assert shown.stdout.split() == ["1", "1"]


def test_the_processes_of_runs_are_known_while_they_run(gated: Instance, gate: threading.Event) -> None:
    assert gated.processes.pids() == []
    run_id = gated.submit()
    process = gated.process(run_id)
    assert gated.processes.pids() == [process.pid]
    gate.set()
    assert gated.queue.wait(run_id, SECONDS).state == "done"
    wait_until(lambda: gated.processes.pids() == [])


@pytest.mark.parametrize("public_owner", [SAMPLES_ID, None])
def test_pieces_of_a_run_answer_the_runs_of_others_only_where_they_are_shared(
    tmp_path: Path, public_owner: str | None
) -> None:
    opened = Instance(tmp_path, FakeBackend(), public_owner)
    n = sample_data.labelled_sentences().n
    n_computed, results = [], []
    for owner in ("ann", "ben", "ann"):
        run_id = opened.submit(owner=owner)
        assert opened.queue.wait(run_id, SECONDS).state == "done"
        n_computed.append(opened.backend.n_items("sentence_vectors"))
        results.append(opened.queue.result(run_id))
    assert n_computed == ([n, 2 * n, 2 * n] if public_owner else [n, n, n])
    for name in ("models", "classes", "intervals", "points", "neighbours"):
        assert getattr(results[0], name).equals(getattr(results[1], name)), name
    opened.close()


def test_errors_arrive_with_their_words(tmp_path: Path) -> None:
    text = sample_data.labelled_sentences().texts[3]
    opened = Instance(tmp_path, FakeBackend(errors={text: ModelError("This text is refused.")}))
    missing = opened.queue.wait(opened.submit("missing/model"), SECONDS)
    assert missing.state == "failed" and "There is no model 'missing/model'" in missing.message
    failed = opened.queue.wait(opened.submit(), SECONDS)
    assert (failed.state, failed.message) == ("failed", "This text is refused.")
    opened.close()


def test_a_refused_result_is_not_written(tmp_path: Path) -> None:
    def no_room(run: RunRecord, n_bytes: int) -> None:
        raise RunError(f"{run.owner} has no room for {n_bytes > 100}.")

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
    wait_until(lambda: not process.is_running())


def test_the_chunk_that_is_computed_when_a_run_stops_is_kept(gated: Instance, gate: threading.Event) -> None:
    gate.set()
    gated.gateway.session("before").describe("owner/bert")  # what is asked first is in the cache
    gate.clear()
    run_id = gated.submit()
    wait_until(lambda: gated.backend.n_items("sentence_vectors"))
    assert gated.queue.cancel(run_id)
    time.sleep(0.5)
    gate.set()
    assert gated.queue.wait(run_id, SECONDS).state == "cancelled"
    n_computed = gated.backend.n_items("sentence_vectors")
    assert gated.queue.wait(gated.submit(), SECONDS).state == "done"
    assert gated.backend.n_items("sentence_vectors") == n_computed > 0


def test_a_killed_process_is_replaced_once(gated: Instance, gate: threading.Event) -> None:
    run_id = gated.submit()
    gated.process(run_id).send_signal(signal.SIGKILL)
    gate.set()
    assert gated.queue.wait(run_id, SECONDS).state == "done"


def test_a_run_goes_on_whatever_is_killed_from_outside(
    gated: Instance, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own process, and the server that such processes are forked from, more often than a run may end by itself."""
    monkeypatch.setattr(run_process, "RESTART_SECONDS", 0.01)
    run_id = gated.submit()
    for n_calls in range(1, STARTS + 2):
        wait_until(lambda n=n_calls: len(gated.backend.calls) >= n)  # type: ignore[misc]
        process = gated.process(run_id)
        if n_calls == 1:
            psutil.Process(forkserver._forkserver._forkserver_pid).kill()  # type: ignore[attr-defined]
        process.kill()
    gate.set()
    assert gated.queue.wait(run_id, SECONDS).state == "done"


def test_a_process_that_hangs_is_replaced(
    gated: Instance, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = gated.submit()
    stopped = gated.process(run_id)
    monkeypatch.setattr(run_conversation, "SILENT_SECONDS", 0.5)
    stopped.suspend()
    wait_until(lambda: not stopped.is_running())
    monkeypatch.undo()
    gate.set()
    assert gated.queue.wait(run_id, SECONDS).state == "done"


def test_a_process_for_which_memory_runs_out_again_fails_with_words(
    gated: Instance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(deaths, "_COUNTERS", tmp_path / "none")  # SIGKILL is then taken for that
    run_id = gated.submit()
    for n_calls in (1, 2):
        wait_until(lambda n=n_calls: len(gated.backend.calls) >= n)  # type: ignore[misc]
        gated.process(run_id).send_signal(signal.SIGKILL)
    run = gated.queue.wait(run_id, SECONDS)
    assert (
        run.state == "failed"
        and "was ended by SIGKILL, as the system does when memory runs out, 2 times" in run.message
    )
    assert "submit it again" in run.message and "need less memory" in run.message


def test_cancelling_ends_a_download(tmp_path: Path) -> None:
    endings: list[BaseException] = []

    class Slow(FakeBackend):
        def locate(
            self, model: str, revision: str | None = None, report: DownloadProgress | None = None
        ) -> LocatedModel:
            assert report is not None
            try:
                for n_bytes in range(10_000):
                    report(n_bytes, 10_000, f"downloading {model}")
                    time.sleep(0.01)
            except BaseException as error:
                endings.append(error)
                raise
            return super().locate(model, revision, report)

    opened = Instance(tmp_path, Slow())
    run_id = opened.submit()
    wait_until(lambda: any(label.startswith("downloading") for _, _, label in opened.progress))
    start = time.monotonic()
    opened.queue.cancel(run_id)
    assert opened.queue.wait(run_id, SECONDS).state == "cancelled"
    assert time.monotonic() - start < STOP_SECONDS - 1  # it was not killed
    wait_until(lambda: bool(endings))
    assert isinstance(endings[0], Cancelled)
    opened.close()


def test_a_backend_that_takes_no_chunk_fails_the_run_alone(tmp_path: Path) -> None:
    class Refusing(FakeBackend):
        def run(self, operation: str, request: Request, run_id: str) -> Future[list[Piece]]:
            if request["model"] == "owner/refused":
                raise RunError("The workers were closed.")
            return super().run(operation, request, run_id)

    opened = Instance(tmp_path, Refusing(), max_running=1)
    refused = opened.queue.wait(opened.submit("owner/refused"), SECONDS)
    assert (refused.state, refused.message) == ("failed", "The workers were closed.")
    assert opened.queue.wait(opened.submit(), SECONDS).state == "done"  # by the same thread
    opened.close()


class LocalError(ModelError):
    """Its pickle cannot be read: it takes two arguments and keeps one."""

    def __init__(self, model: str, text: str) -> None:
        super().__init__(f"{model}: {text}")


@pytest.mark.parametrize("error", [LocalError("model", "text"), ValueError(lambda: None)])
def test_errors_that_cannot_be_sent_end_the_run(error: Exception, tmp_path: Path) -> None:
    opened = Instance(tmp_path, FakeBackend(errors={sample_data.labelled_sentences().texts[3]: error}))
    run = opened.queue.wait(opened.submit(), SECONDS)
    assert run.state == "failed" and type(error).__name__ in run.message
    opened.close()


def test_answers_that_cannot_be_sent_end_the_run(tmp_path: Path) -> None:
    class Odd(FakeBackend):
        def run(self, operation: str, request: Request, run_id: str) -> Future[list[Piece]]:
            future: Future[list[Piece]] = Future()
            future.set_result([{"vectors": threading.Lock()} for _ in request["items"]])
            return future

    opened = Instance(tmp_path, Odd())
    run = opened.queue.wait(opened.submit(), SECONDS)
    assert run.state == "failed" and "pickle" in run.message
    opened.close()


def test_a_process_that_cannot_be_started_fails_with_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Instance(tmp_path, FakeBackend(), max_running=1)
    with monkeypatch.context() as patched:
        patched.setattr(run_process, "RESTART_SECONDS", 0.01)

        def no_descriptor(*_: object) -> None:
            raise OSError(24, "Too many open files")

        patched.setattr(forkserver, "connect_to_new_process", no_descriptor)
        run = opened.queue.wait(opened.submit(), SECONDS)
    assert run.state == "failed" and "could not be started ([Errno 24] Too many open files), 10 times" in run.message
    assert opened.queue.wait(opened.submit("owner/other"), SECONDS).state == "done"  # by the same thread
    opened.close()


def test_closing_ends_the_processes(tmp_path: Path, gate: threading.Event) -> None:
    opened = Instance(tmp_path, FakeBackend(gate=gate))
    process = opened.process(opened.submit())
    opened.close()
    wait_until(lambda: not process.is_running())
