"""What an operator sees of an instance: health, figures, logs, cleaning up."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from engine.__main__ import main
from engine.datasets import sample_data
from engine.datasets.corpora.corpus_files import KEPT_SECONDS, keep_corpus
from engine.errors import InputError, RunError
from engine.evaluations.clusters import evaluate as clusters
from engine.runs import open as opening
from engine.runs.access.viewers import LOCAL
from engine.runs.open import Engine, open_engine
from engine.runs.operation.health import health
from engine.runs.operation.logs import JsonLines, set_up_logs
from engine.runs.operation.metrics import exposition
from engine.runs.operation.retention import RetentionThread
from tests.support.fakes import FakeBackend
from tests.waiting import SECONDS, wait_until

SETTINGS = clusters.Settings(("a",), projection="pca", resamples=100)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path, backend=FakeBackend()) as opened:
        yield opened


def run_clusters(engine: Engine) -> str:
    run = engine.runs.wait(engine.runs.submit("clusters", SETTINGS, sample_data.labelled_sentences()).run_id, 60)
    assert run.state == "done", run.message
    return run.id


def metrics(engine: Engine) -> dict[tuple[str, ...], float]:
    families = text_string_to_metric_families(exposition(engine).decode())
    return {(sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples}


def test_figures_follow_what_happened(engine: Engine) -> None:
    before = metrics(engine)
    assert before[("hakari_queue_length",)] == before[("hakari_cache_hits_total",)] == 0
    run_clusters(engine)
    after = metrics(engine)
    assert after[("hakari_runs", "done")] == 1 and after[("hakari_runs", "queued")] == 0
    n = sample_data.labelled_sentences().n
    assert after[("hakari_cache_misses_total",)] >= n
    assert after[("hakari_cache_bytes",)] > before[("hakari_cache_bytes",)]
    engine.runs.submit("clusters", SETTINGS, sample_data.labelled_sentences(), reuse=False)
    engine.runs.wait(engine.runs.recent()[0].id, 60)
    again = metrics(engine)
    assert again[("hakari_cache_hits_total",)] - after[("hakari_cache_hits_total",)] >= n
    assert again[("hakari_memory_bytes", "web")] > 2**20
    names = exposition(engine).decode()
    assert not any(text in names for text in sample_data.labelled_sentences().texts[:20])


def test_the_memory_of_runs_is_that_of_their_processes(engine: Engine) -> None:
    assert metrics(engine)[("hakari_memory_bytes", "runs")] == 0  # runs of this engine are evaluated in threads
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    processes = SimpleNamespace(pids=lambda: [os.getpid(), ended.pid])
    counted = metrics(replace(engine, run_processes=processes))  # type: ignore[arg-type]  # what is asked of it alone
    assert counted[("hakari_memory_bytes", "runs")] == pytest.approx(counted[("hakari_memory_bytes", "web")], rel=0.1)


def test_health_names_the_part_that_is_ill(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert health(engine).ok and health(engine).parts == {"database": "ok", "disk": "ok", "workers": "ok"}

    def unreachable() -> dict[str, int]:
        raise RunError("The list of runs cannot be read or written at the moment: gone.")

    monkeypatch.setattr(engine.store, "n_by_state", unreachable)
    monkeypatch.setattr(engine.backend, "fault", lambda: "the workers were closed")
    unhealthy = health(engine)
    assert not unhealthy.ok and "gone" in unhealthy.parts["database"]
    assert unhealthy.parts["workers"] == "the workers were closed"
    with pytest.raises(RunError):
        exposition(engine)


def test_logs_tell_run_and_user_and_never_a_sentence(
    engine: Engine, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = sample_data.labelled_sentences().texts[0]

    def fail(*_: object) -> None:
        raise ValueError(f"cannot stand {secret}")

    monkeypatch.setattr(clusters, "dispersion", fail)
    with caplog.at_level(logging.INFO, logger="engine"):
        engine.runs.wait(engine.runs.submit("clusters", SETTINGS, sample_data.labelled_sentences()).run_id, 60)
    lines = [JsonLines().format(record) for record in caplog.records if record.name.startswith("engine")]
    records = [json.loads(line) for line in lines]
    assert not any(secret in line for line in lines) and secret in caplog.text  # in words it would be there
    begins, error, ends = records
    assert begins["run"] == error["run"] == ends["run"] and begins["user"] == "local" and begins["kind"] == "clusters"
    assert error["error"] == "ValueError" and any("clusters/evaluate.py" in location for location in error["where"])
    assert ends["state"] == "failed" and ends["seconds"] >= 0 and ends["level"] == "info"


def test_logs_are_json_where_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logger = logging.getLogger("engine")
    before = logger.handlers, logger.propagate, logger.level
    monkeypatch.setenv("HAKARI_LOG", "json")
    try:
        set_up_logs()
        logging.getLogger("engine.runs").warning("It is %d.", 3, extra={"run": "abc"})
    finally:
        logger.handlers, logger.propagate = before[0], before[1]
        logger.setLevel(before[2])
    line = json.loads(capsys.readouterr().err)
    assert line["message"] == "It is 3." and line["run"] == "abc" and line["level"] == "warning"


def test_clean_forgets_what_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = opening.open_engine
    monkeypatch.setattr(
        "engine.commands.clean.open_engine",
        lambda data_dir, resume: opened(data_dir, resume=resume, backend=FakeBackend()),
    )
    with opened(tmp_path, backend=FakeBackend()) as engine:
        run_id = run_clusters(engine)
        used = engine.cache.used_bytes()
    clean = ["clean", "--cache", str(tmp_path)]
    assert main(clean) == 2 and "--older-than" in capsys.readouterr().err
    assert main([*clean, "--older-than", "-1"]) == 2
    assert main([*clean, "--older-than", "1"]) == 0 and "0 runs" in capsys.readouterr().out
    with opened(tmp_path, backend=FakeBackend()) as engine:
        engine.access(LOCAL).move_to_bin(run_id)
    assert main([*clean, "--bin", "-1"]) == 2 and "--bin" in capsys.readouterr().err
    assert main([*clean, "--bin", "1000000"]) == 2 and "--bin is a number of days, 0 to" in capsys.readouterr().err
    assert main([*clean, "--older-than", "36500"]) == 0 and "0 runs" in capsys.readouterr().out
    assert main([*clean, "--bin"]) == 0 and "Deleted: 0 runs, moved to the bin more than 30" in capsys.readouterr().out
    assert main([*clean, "--bin", "0", "--dry-run"]) == 0
    assert "Would be deleted: 1 run, moved to the bin more than 0 days ago." in capsys.readouterr().out
    with opened(tmp_path, backend=FakeBackend()) as engine:
        engine.access(LOCAL).restore(run_id)
    assert main([*clean, "--older-than", "0", "--pieces", "--dry-run"]) == 0
    assert "Would be deleted: 1 run, ended more than 0 days ago." in capsys.readouterr().out
    assert main([*clean, "--older-than", "0", "--pieces"]) == 0
    with opened(tmp_path, backend=FakeBackend()) as engine:
        assert engine.runs.get(run_id) is None and engine.cache.used_bytes() < used / 2
        assert not list((tmp_path / "datasets").iterdir()) and not list((tmp_path / "results").iterdir())
        run_id = run_clusters(engine)
        engine.access(LOCAL).move_to_bin(run_id)
    assert main([*clean, "--bin", "0"]) == 0 and "Deleted: 1 run, moved" in capsys.readouterr().out
    with opened(tmp_path, backend=FakeBackend()) as engine:
        assert engine.runs.get(run_id) is None and not list((tmp_path / "results").iterdir())


def test_a_running_server_empties_the_bin_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_BIN_DAYS", "0.000001")  # a twelfth of a second
    with open_engine(tmp_path, backend=FakeBackend()) as engine:
        run_id, kept = (
            run_clusters(engine),
            engine.runs.submit("clusters", SETTINGS, sample_data.labelled_sentences(), reuse=False).run_id,
        )
        assert engine.configuration.bin_days == 0.000001
        engine.runs.wait(kept, 60)
        engine.access(LOCAL).move_to_bin(run_id)
        time.sleep(0.2)  # the bin is emptied at the start, and then every hour
    with open_engine(tmp_path, backend=FakeBackend()) as engine:
        end = time.monotonic() + SECONDS
        while engine.runs.get(run_id) is not None:
            assert time.monotonic() < end
            time.sleep(0.02)
        assert engine.runs.get(kept) is not None


def test_a_running_server_forgets_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_RETENTION_DAYS", "0.000001")  # a twelfth of a second
    with open_engine(tmp_path, backend=FakeBackend()) as engine:
        run_id = run_clusters(engine)
        retention = RetentionThread(engine.store, engine.runs, engine.configuration.retention_days, every_seconds=0.05)
        end = time.monotonic() + SECONDS
        while engine.runs.get(run_id) is not None:
            assert time.monotonic() < end
            time.sleep(0.02)
        retention.close()


def test_a_running_server_removes_old_uploads_of_which_nobody_makes_another(tmp_path: Path) -> None:
    with open_engine(tmp_path, backend=FakeBackend()) as engine:
        kept = [
            keep_corpus([(name, io.BytesIO(name.encode()))], tmp_path / "corpora", "m").files[0].path.parent
            for name in ("old.txt", "young.txt")
        ]
        week_ago = time.time() - KEPT_SECONDS - 60
        os.utime(kept[0], (week_ago, week_ago))
        retention = RetentionThread(engine.store, engine.runs, None, bin_days=30, every_seconds=0.05)
        wait_until(lambda: not kept[0].exists(), 20)
        retention.close()
        assert kept[1].is_dir()


@pytest.mark.parametrize("variable", ["HAKARI_RETENTION_DAYS", "HAKARI_RUNNING", "HAKARI_USER_ROWS", "HAKARI_BIN_DAYS"])
def test_variables_that_make_no_sense_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "many")
    with pytest.raises(InputError, match=variable):
        open_engine(tmp_path, backend=FakeBackend())
    if variable.endswith("DAYS"):
        monkeypatch.setenv(variable, "1e9")
        with pytest.raises(InputError, match=f"{variable} is a number of days, 0 to 36,500"):
            open_engine(tmp_path, backend=FakeBackend())
