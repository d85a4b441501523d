"""Operation of a server: health, metrics, restarts, backups. No browser is needed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from engine.datasets import sample_data
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.evaluations.clusters import records as clusters
from engine.runs.open import open_engine
from engine.runs.storage.database import URL_VARIABLE
from tests.browser.server import Server, serving
from tests.support import postgres
from tests.support.database import ON_POSTGRESQL
from tests.support.fakes import FakeBackend
from tests.waiting import wait_until

DEPLOY = Path(__file__).parents[2] / "deploy"
N_RUNS = 10


def some(n: int) -> LabelledSentences:
    frame = sample_data.labelled_sentences().to_frame()
    return LabelledSentences.from_frame(frame.iloc[n * 3 :: 9], f"part {n}")


def settings(**given: object) -> clusters.Settings:
    return clusters.Settings(("builtin/bert-mini-ja",), projection="pca", resamples=100, **given)  # type: ignore[arg-type]


def figure(server: Server, name: str, **labels: str) -> float:
    with urllib.request.urlopen(f"{server.operator_url}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return next(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and sample.labels == labels
    )


def test_health_and_metrics_over_http(data_dir: Path) -> None:
    with serving(data_dir) as server:
        with urllib.request.urlopen(f"{server.operator_url}/healthz", timeout=10) as answer:
            assert json.load(answer) == {"ok": True, "database": "ok", "disk": "ok", "workers": "ok"}
        assert figure(server, "hakari_runs", state="queued") == 0
        assert figure(server, "hakari_memory_bytes", process="web") < 1.5e9
        with urllib.request.urlopen(f"{server.operator_url}/metrics", timeout=10) as answer:
            assert b"active_sessions" in answer.read()  # Streamlit's own
        for path in ("/healthz", "/metrics", "/_stcore/metrics"):
            with pytest.raises(urllib.error.HTTPError) as hidden:
                urllib.request.urlopen(f"{server.url}{path}", timeout=10)
            hidden.value.close()
            assert hidden.value.code == 404


@pytest.mark.nightly
def test_a_server_that_starts_with_ten_queued_runs_finishes_them_without_a_visitor(data_dir: Path) -> None:
    gate = threading.Event()
    with open_engine(data_dir, backend=FakeBackend(gate=gate)) as engine:
        ids = [engine.runs.submit("clusters", settings(seed=n), some(n % 3)).run_id for n in range(N_RUNS)]
        gate.set()
    with serving(data_dir) as server:
        wait_until(lambda: figure(server, "hakari_runs", state="done") == N_RUNS)
    with open_engine(data_dir, backend=FakeBackend(), resume=False) as engine:
        for n, run_id in enumerate(ids):
            result = engine.runs.result(run_id)
            assert result.settings.seed == n and set(result.points["text"]) == set(some(n % 3).texts)


@pytest.mark.nightly
def test_a_server_that_is_stopped_leaves_its_runs_to_the_next(data_dir: Path) -> None:
    with open_engine(data_dir, backend=FakeBackend(gate=threading.Event())) as engine:
        ids = [
            engine.runs.submit("clusters", settings(seed=n), sample_data.labelled_sentences()).run_id for n in range(4)
        ]
    with serving(data_dir) as server:
        wait_until(lambda: figure(server, "hakari_runs", state="running") > 0)
    assert server.process.returncode != -signal.SIGKILL  # asked to stop while they ran, it did not hang
    with open_engine(data_dir, backend=FakeBackend(), resume=False) as engine:
        states = {engine.runs.get(run_id).state for run_id in ids}  # type: ignore[union-attr]
        assert states <= {"queued", "done"}, states  # none failed, none is lost
    with serving(data_dir) as server:
        wait_until(lambda: figure(server, "hakari_runs", state="done") == len(ids))


def test_an_unreachable_database_makes_the_server_unhealthy_but_not_dead(data_dir: Path) -> None:
    if not ON_POSTGRESQL:
        pytest.skip("needs the tests to run on PostgreSQL: make test DATABASE=postgresql")
    with postgres.running() as own, serving(data_dir, environment={URL_VARIABLE: own.url}) as server:
        own.stop()
        with pytest.raises(urllib.error.HTTPError) as ill:
            urllib.request.urlopen(f"{server.operator_url}/healthz", timeout=30)
        assert ill.value.code == 503 and "at the moment" in json.load(ill.value)["database"]
        own.start()
        with urllib.request.urlopen(f"{server.operator_url}/healthz", timeout=30) as answer:
            assert json.load(answer)["ok"]


def test_a_backup_is_restored_on_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as servers:
        # Two database servers where the tests run on PostgreSQL: a dump holds the whole database.
        urls = [servers.enter_context(postgres.running()).url if ON_POSTGRESQL else "" for _ in range(2)]
        monkeypatch.setenv(URL_VARIABLE, urls[0])
        with open_engine(tmp_path / "first", backend=FakeBackend()) as engine:
            submitted = engine.runs.submit("clusters", settings(), sample_data.labelled_sentences())
            run = engine.runs.wait(submitted.run_id, 60)
            assert run.state == "done", run.message
        assert script(tmp_path / "first", "backup.sh", str(tmp_path / "backups")).returncode == 0
        (archive,) = (tmp_path / "backups").iterdir()
        assert archive.stat().st_mode & 0o077 == 0  # it holds unpublished sentences

        monkeypatch.setenv(URL_VARIABLE, urls[1])
        restored = script(tmp_path / "second", "restore.sh", str(archive))
        assert restored.returncode == 0, restored.stderr
        with open_engine(tmp_path / "second", backend=FakeBackend()) as engine:
            assert engine.runs.result(run.id).points["text"].tolist() == list(sample_data.labelled_sentences().texts)
            assert engine.runs.dataset(run.id) == sample_data.labelled_sentences()
        again = script(tmp_path / "second", "restore.sh", str(archive))
        assert again.returncode == 2 and "empty directory" in again.stderr  # nothing is overwritten


def script(folder: Path, name: str, argument: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [DEPLOY / name, argument], capture_output=True, text=True, env=os.environ | {"HAKARI_DATA_DIR": str(folder)}
    )
