"""Pretraining jobs: a process of their own, progress, stopping and going on, quotas, and what refusals leave behind."""

from __future__ import annotations

import io
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from engine.errors import AccessError, EngineError, InputError, RunError
from engine.runs.access.configuration import configuration
from engine.runs.access.limits import GIGABYTE, Limits
from engine.runs.access.pretraining import PretrainingAccess
from engine.runs.access.viewers import Viewer
from engine.runs.open import open_engine
from engine.runs.pretraining.jobs import FOLDER, Job, PretrainingJobs, bytes_of, most_bytes
from tests.models.pretraining.test_pretrain import TINY, sentences
from tests.support.fakes import FakeBackend
from tests.waiting import SECONDS


def uploads(n: int = 12) -> list[tuple[str, IO[bytes]]]:
    return [(f"story-{i:02}.txt", io.BytesIO("\n".join(sentences()[i::3]).encode())) for i in range(n)]


CORPUS_BYTES = sum(len(content.read()) for _, content in uploads())


def anything(_n_bytes: int) -> None:
    """Room for every job."""


def ended(jobs: PretrainingJobs, job_id: str) -> Job:
    deadline = time.monotonic() + SECONDS
    while (job := jobs.get(job_id)) is not None and job.state == "running" and time.monotonic() < deadline:
        time.sleep(0.05)
    assert job is not None
    return job


def test_what_a_job_takes_by_hand() -> None:
    """32 x (420 + 64 + 12 x 32) parameters of two checkpoints, 12 bytes each, and of the model, 2 bytes."""
    assert most_bytes(TINY, 1000) == 32 * (420 + 64 + 12 * 32) * 26 + 3000


def test_a_job_ends_with_a_model_and_without_its_texts(tmp_path: Path) -> None:
    jobs = PretrainingJobs(tmp_path, 1)
    job_id = jobs.start("me", "tiny", TINY, uploads(), anything)
    assert jobs.get(job_id).state == "running"  # type: ignore[union-attr]
    with pytest.raises(RunError, match=r"1 pretrainings run; this instance runs at most 1 at once"):
        jobs.start("you", "other", TINY, uploads(), anything)
    job = ended(jobs, job_id)
    log = (job.folder / "log.txt").read_text()
    assert (job.state, job.step, job.settings, len(job.corpus)) == ("done", TINY.steps, TINY, 12), log
    record = json.loads((job.model / "pretraining.json").read_text(encoding="utf-8"))
    assert record["settings"]["steps"] == TINY.steps and str(tmp_path) not in json.dumps(record)
    assert not (job.folder / "corpus").exists() and not (job.model / "work").exists()
    assert 0 < bytes_of(tmp_path, "me") <= most_bytes(TINY, CORPUS_BYTES)
    assert bytes_of(tmp_path, "you") == 0 and [job.id for job in jobs.list(["me"])] == [job_id]
    assert PretrainingJobs(tmp_path, 1).get(job_id) == job  # a server that is started anew knows it
    jobs.delete(job_id)
    assert jobs.list() == [] and not any((tmp_path / FOLDER).iterdir())


def test_a_stopped_job_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    jobs = PretrainingJobs(tmp_path, 1)
    settings = replace(TINY, steps=60, tokens_per_step=256)
    job_id = jobs.start("me", "tiny", settings, uploads(), anything)
    work = tmp_path / FOLDER / job_id / "model/tiny/work"
    deadline = time.monotonic() + SECONDS
    while not list(work.glob("checkpoints/checkpoint-*/trainer_state.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    jobs.cancel(job_id)
    stopped = jobs.get(job_id)
    assert stopped is not None and stopped.state == "stopped" and stopped.step < 60
    with pytest.raises(RunError, match="Only a pretraining that was stopped"):
        jobs.resume("0" * 16)
    jobs.resume(job_id)
    job = ended(jobs, job_id)
    assert (job.state, job.step) == ("done", 60), (job.folder / "log.txt").read_text()


def test_of_a_job_that_is_refused_nothing_stays_but_the_reason(tmp_path: Path) -> None:
    jobs = PretrainingJobs(tmp_path, 1)
    job = ended(jobs, jobs.start("me", "tiny", replace(TINY, steps=100_000), uploads(2), anything))
    assert job.state == "refused" and "The corpus is too small" in job.problem
    assert sorted(path.name for path in job.folder.iterdir()) == ["job.json", "lock", "log.txt", "pid", "status.json"]


def test_whatever_its_process_prints_is_in_the_log_of_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho printed\necho failed >&2\n")
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    jobs = PretrainingJobs(tmp_path, 1)
    job = ended(jobs, jobs.start("me", "tiny", TINY, uploads(2), anything))
    assert (job.folder / "log.txt").read_text() == "printed\nfailed\n"
    assert capfd.readouterr() == ("", "")  # the terminal of the server stays its own


@pytest.mark.parametrize(
    ("name", "settings", "n_files", "error"),
    [
        ("../x", TINY, 2, InputError),
        ("", TINY, 2, InputError),
        ("tiny", replace(TINY, hidden=33), 2, InputError),
        ("tiny", TINY, 0, InputError),
        ("tiny", replace(TINY, steps=0), 2, InputError),
    ],
)
def test_a_job_that_cannot_be_writes_nothing(
    tmp_path: Path,
    name: str,
    settings,
    n_files: int,
    error: type[EngineError],  # type: ignore[no-untyped-def]
) -> None:
    with pytest.raises(error):
        PretrainingJobs(tmp_path, 1).start("me", name, settings, uploads(n_files), anything)
    with pytest.raises(InputError, match="Empty: empty"):
        PretrainingJobs(tmp_path, 1).start("me", "tiny", TINY, [("empty.txt", io.BytesIO())], anything)
    assert not (tmp_path / FOLDER).exists() or not any((tmp_path / FOLDER).iterdir())


def test_who_may_and_how_much(tmp_path: Path) -> None:
    with open_engine(tmp_path, backend=FakeBackend()) as engine:
        runs = engine.access(Viewer("me"))
        mine = PretrainingAccess(runs, engine.pretraining)
        assert mine.is_allowed and not PretrainingAccess(runs, PretrainingJobs(tmp_path, 0)).is_allowed
        with pytest.raises(AccessError, match="HAKARI_PRETRAINING"):
            PretrainingAccess(runs, PretrainingJobs(tmp_path, 0)).start("tiny", TINY, uploads())
        needed = most_bytes(TINY, CORPUS_BYTES)
        small = replace(runs, limits=Limits(storage_gb=(needed - 1) / GIGABYTE))
        with pytest.raises(RunError, match="This pretraining takes"):
            PretrainingAccess(small, engine.pretraining).start("tiny", TINY, uploads())
        assert not (tmp_path / FOLDER).exists()
        job_id = mine.start("tiny", TINY, uploads())
        other = PretrainingAccess(engine.access(Viewer("you")), engine.pretraining)
        assert other.mine() == [] and [job.id for job in mine.mine()] == [job_id]
        for change in (other.cancel, other.resume, other.delete):
            with pytest.raises(AccessError, match="no such pretraining"):
                change(job_id)
    # closing the server stops its job, which can go on
    assert PretrainingJobs(tmp_path, 1).get(job_id).state == "stopped"  # type: ignore[union-attr]


def test_the_operator_chooses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosted = {"HAKARI_ALLOWED_DOMAINS": "example.org"}
    assert configuration({}).pretraining == 1 and configuration(hosted).pretraining == 0
    assert configuration(hosted | {"HAKARI_PRETRAINING": "2"}).pretraining == 2
    with pytest.raises(InputError, match="HAKARI_PRETRAINING"):
        configuration({"HAKARI_PRETRAINING": "-1"})
    monkeypatch.setenv("HAKARI_ALLOWED_MODELS", "owner/*")
    for value, is_allowed in (("1", True), ("0", False)):
        monkeypatch.setenv("HAKARI_PRETRAINING", value)
        with open_engine(tmp_path / value, backend=FakeBackend()) as engine:
            name = str(tmp_path / value / FOLDER / ("0" * 16) / "model" / "tiny")
            if is_allowed:
                engine.configuration.models.models.require(name)
            else:
                with pytest.raises(AccessError):
                    engine.configuration.models.models.require(name)
