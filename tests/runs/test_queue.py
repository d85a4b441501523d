from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputError, RunError
from engine.runs.naming import MAX_NAME_CHARACTERS
from engine.runs.queue import RunQueue
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.database import database_url
from engine.runs.storage.run_record import Progress
from engine.runs.storage.store import Store
from tests.support.fake_runs import (
    EVALUATIONS,
    FakeGateway,
    Open,
    Result,
    Settings,
    is_running,
    queues,
    run_record,
    weight,
    words,
)
from tests.waiting import wait_until


@pytest.fixture
def gateway() -> FakeGateway:
    return FakeGateway()


@pytest.fixture
def open_one(tmp_path: Path, gateway: FakeGateway) -> Iterator[Open]:
    with queues(tmp_path, gateway) as open_it:
        yield open_it


@pytest.fixture
def queue(open_one: Open) -> RunQueue:
    return open_one()


def test_a_run_finds_what_its_evaluation_says(queue: RunQueue) -> None:
    settings = Settings(("a", "b"), layer=2, factor=2.0)
    submission = queue.submit("weights", settings, words(3, notices=("2 rows repeat.",)))
    assert not submission.reused
    run = queue.wait(submission.run_id, 5)
    assert (run.state, run.done, run.total, run.message, run.name) == ("done", 3, 3, "", "Weights: words.csv")
    result = queue.result(run.id)
    assert isinstance(result, Result) and result.settings == settings and result.notices == ("2 rows repeat.",)
    expected = [("a", i, f"文{i}", 2 * weight("a", f"文{i}")) for i in range(3)]
    expected += [("b", i, f"文{i}", 2 * weight("b", f"文{i}")) for i in range(3)]
    pd.testing.assert_frame_equal(result.weights, pd.DataFrame(expected, columns=["model", "row", "text", "weight"]))
    assert np.isnan(result.signature["undefined"]) and list(result.flat) == ["a", "b"]


def test_a_run_keeps_its_settings_and_dataset(queue: RunQueue) -> None:
    settings, dataset = Settings(("a",), fault="input"), words(3, "文.csv", ("2 rows repeat.",))
    run_id = queue.submit("weights", settings, dataset).run_id
    queue.wait(run_id, 5)
    assert queue.settings(run_id) == settings and queue.dataset(run_id) == dataset
    stored = {"models": ["a"], "layer": None, "factor": 1.0, "fault": "input", "idf": ""}
    assert run_record(queue, run_id).settings == stored


def test_the_same_question_is_answered_at_once(queue: RunQueue, gateway: FakeGateway) -> None:
    first = queue.submit("weights", Settings(), words()).run_id
    queue.wait(first, 5)
    again = queue.submit("weights", Settings(), words(name="a copy.csv"))
    assert again.reused and again.run_id == first and gateway.runs == [first]


@pytest.mark.parametrize(
    "change",
    [
        {"owner": "another"},
        {"kind": "others"},
        {"settings": Settings(factor=0.5)},
        {"dataset": words(5)},
        {"reuse": False},
    ],
)
def test_another_question_is_another_run(queue: RunQueue, change: dict[str, Any]) -> None:
    question: dict[str, Any] = {"kind": "weights", "settings": Settings(), "dataset": words()}
    first = queue.submit(**question).run_id
    queue.wait(first, 5)
    second = queue.submit(**{**question, **change})
    assert not second.reused and second.run_id != first and queue.wait(second.run_id, 5).state == "done"


def test_a_failed_run_or_one_whose_result_is_lost_is_no_answer(queue: RunQueue, tmp_path: Path) -> None:
    failing = Settings(fault="model")
    failed = queue.submit("weights", failing, words()).run_id
    assert queue.wait(failed, 5).state == "failed"
    assert not queue.submit("weights", failing, words()).reused
    lost = queue.submit("weights", Settings(), words()).run_id
    queue.wait(lost, 5)
    (tmp_path / f"results/{lost}/record.json").unlink()
    assert not queue.submit("weights", Settings(), words()).reused


def test_a_second_click_finds_the_run_on_its_way(queue: RunQueue, gateway: FakeGateway) -> None:
    gateway.go.clear()
    submissions = []
    threads = [
        threading.Thread(target=lambda: submissions.append(queue.submit("weights", Settings(), words())))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({submission.run_id for submission in submissions}) == 1
    assert [submission.reused for submission in submissions].count(False) == 1
    queue.cancel(submissions[0].run_id)  # who starts it again after that wants a new one
    assert not queue.submit("weights", Settings(), words()).reused


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("input", "layer 9 does not exist."),
        ("model", "fake has no tokenizer."),
    ],
)
def test_what_a_user_can_mend_is_told_in_its_own_words(queue: RunQueue, fault: str, message: str) -> None:
    run = queue.wait(queue.submit("weights", Settings(fault=fault), words()).run_id, 5)
    assert (run.state, run.message) == ("failed", message) and run.finished is not None
    with pytest.raises(RunError, match=f"is failed and has no result. {message}"):
        queue.result(run.id)


def test_a_bug_is_told_in_one_line_and_logged_whole(queue: RunQueue, caplog: pytest.LogCaptureFixture) -> None:
    run = queue.wait(queue.submit("weights", Settings(fault="bug"), words()).run_id, 5)
    assert run.state == "failed" and "ZeroDivisionError: division by zero" in run.message
    assert "internal error" in run.message and "Traceback" not in run.message and "\n" not in run.message
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.exc_info and "ZeroDivisionError: division by zero" in str(record.exc_info[1])
    assert run.id in record.getMessage()
    assert queue.wait(queue.submit("weights", Settings(), words()).run_id, 5).state == "done"  # the queue goes on


def test_runs_go_in_their_order(open_one: Open, gateway: FakeGateway) -> None:
    queue = open_one(max_running=1)
    gateway.go.clear()
    ids = [queue.submit("weights", Settings(factor=float(i)), words()).run_id for i in range(5)]
    queue.cancel(ids[2])
    gateway.go.set()
    assert [queue.wait(run_id, 5).state for run_id in ids] == ["done", "done", "cancelled", "done", "done"]
    assert gateway.runs == [ids[i] for i in (0, 1, 3, 4)]


def test_a_running_run_is_cancelled(queue: RunQueue, gateway: FakeGateway, tmp_path: Path) -> None:
    gateway.go.clear()
    run_id = queue.submit("weights", Settings(), words()).run_id
    wait_until(is_running(queue, run_id))
    assert queue.cancel(run_id)
    run = queue.wait(run_id, 2)
    assert (run.state, run.message) == ("cancelled", "Cancelled.") and not (tmp_path / "results" / run_id).exists()
    assert not queue.cancel(run_id) and not queue.cancel("unknown")


def test_progress_is_seen_while_it_runs(queue: RunQueue, gateway: FakeGateway) -> None:
    gateway.seconds = 0.1
    run_id = queue.submit("weights", Settings(), words(30)).run_id
    wait_until(lambda: run_record(queue, run_id).eta_seconds is not None)
    run = run_record(queue, run_id)
    assert run.label == "Weights: fake" and 0 < run.done < run.total == 30 and run.seconds is not None
    # a tenth of a second each: what is left takes that long, give or take a slow machine and a late write
    assert run.eta_seconds == pytest.approx((30 - run.done) * 0.1, rel=0.5, abs=0.5)
    queue.cancel(run_id)


class CountingStore(Store):
    def progress(self, process_id: str, reports: Iterable[Progress]) -> None:
        self.writes = getattr(self, "writes", 0) + 1
        super().progress(process_id, reports)


def test_progress_is_written_at_most_five_times_a_second(tmp_path: Path, gateway: FakeGateway) -> None:
    store = CountingStore(database_url(tmp_path))
    queue = RunQueue(store, Artifacts(tmp_path), gateway, EVALUATIONS)  # type: ignore[arg-type]
    gateway.seconds = 0.001
    start = time.monotonic()
    run = queue.wait(queue.submit("weights", Settings(), words(600)).run_id, 20)
    assert run.state == "done" and (run.done, run.total) == (600, 600)
    assert 2 <= store.writes <= (time.monotonic() - start) * 5 + 2
    queue.close()
    store.close()


def test_a_deleted_run_leaves_nothing_that_no_other_needs(queue: RunQueue, tmp_path: Path) -> None:
    first_run = queue.submit("weights", Settings(), words()).run_id
    other_run = queue.submit("weights", Settings(factor=2.0), words()).run_id
    for run_id in (first_run, other_run):
        queue.wait(run_id, 5)
    queue.delete(first_run)
    assert queue.get(first_run) is None and queue.dataset(other_run) == words()
    assert [path.name for path in (tmp_path / "results").iterdir()] == [other_run]
    queue.delete(other_run)
    assert list((tmp_path / "results").iterdir()) == list((tmp_path / "datasets").iterdir()) == []
    for call in (queue.delete, queue.result, queue.dataset, queue.settings, queue.wait):
        with pytest.raises(RunError, match="There is no run"):
            call(first_run)


@pytest.mark.parametrize("fault", ["", "deaf"])
def test_a_run_deleted_while_it_runs_leaves_nothing_either(
    queue: RunQueue,
    gateway: FakeGateway,
    tmp_path: Path,
    fault: str,
) -> None:
    gateway.go.clear()
    run_id = queue.submit("weights", Settings(fault=fault), words()).run_id
    wait_until(is_running(queue, run_id))
    queue.delete(run_id)
    gateway.go.set()
    wait_until(lambda: not queue._active)
    assert list((tmp_path / "results").iterdir()) == list((tmp_path / "datasets").iterdir()) == []


def test_a_run_is_called_after_its_dataset(queue: RunQueue) -> None:
    run_id = queue.submit("weights", Settings(), words(name="x" * 500)).run_id
    assert len(run_record(queue, run_id).name) == MAX_NAME_CHARACTERS


def test_recent_runs(queue: RunQueue) -> None:
    ids = [
        queue.submit(kind, Settings(), words(i + 2), name=f"no. {i}").run_id
        for i, kind in enumerate(["weights", "others", "weights"])
    ]
    assert [run.id for run in queue.recent()] == ids[::-1]
    assert [run.name for run in queue.recent("local", 1, "weights")] == ["no. 2"]
    assert queue.recent("nobody") == []


def test_what_cannot_be_asked_is_said(queue: RunQueue) -> None:
    with pytest.raises(InputError, match=r"no evaluation 'weighst'; there are: weights, others"):
        queue.submit("weighst", Settings(), words())
    with pytest.raises(InputError, match="settings: layer"):
        queue.submit("weights", Settings(layer="last"), words())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Words"):
        queue.submit("weights", Settings(), words().to_frame())
    assert queue.recent() == []
