"""Several openings of one directory: after each other, beside each other, and after a violent end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import create_engine, update

from engine.errors import InputError, RunError
from engine.runs.storage.database import database_url
from engine.runs.storage.schema import RunRow
from tests.support.fake_runs import FakeGateway, Open, Settings, is_running, queues, run_record, weight, words
from tests.waiting import wait_until


@pytest.fixture
def gateway() -> FakeGateway:
    return FakeGateway()


@pytest.fixture
def open_one(tmp_path: Path, gateway: FakeGateway) -> Iterator[Open]:
    with queues(tmp_path, gateway) as open_it:
        yield open_it


def test_another_process_may_cancel_a_run(open_one: Open, gateway: FakeGateway) -> None:
    first, second = open_one(), open_one()
    gateway.go.clear()
    run_id = first.submit("weights", Settings(), words()).run_id
    wait_until(is_running(first, run_id))
    assert second.cancel(run_id)
    assert first.wait(run_id, 3).state == "cancelled"


def test_settings_of_another_version_fail_with_words(open_one: Open, gateway: FakeGateway, tmp_path: Path) -> None:
    first = open_one()
    gateway.go.clear()
    run_id = first.submit("weights", Settings(), words()).run_id
    first.close()
    database = create_engine(database_url(tmp_path))
    with database.begin() as connection:
        connection.execute(update(RunRow).values(settings={"models": ["a"], "poolng": 1}))
    database.dispose()
    second = open_one()
    run = second.wait(run_id, 5)
    assert run.state == "failed" and "'poolng'" in run.message and "another version" in run.message
    with pytest.raises(InputError, match="'poolng'"):
        second.settings(run_id)


def test_closing_puts_back_what_runs_and_the_next_opening_goes_on(open_one: Open, tmp_path: Path) -> None:
    first_gateway = FakeGateway(0.02, kept_in=tmp_path / "pieces.jsonl")
    first = open_one(first_gateway, max_running=1)
    running = first.submit("weights", Settings(), words(60)).run_id
    waiting = first.submit("weights", Settings(factor=2.0), words(60)).run_id
    wait_until(lambda: len(first_gateway.computed) > 5)
    start = time.monotonic()
    first.close()
    first.close()
    assert time.monotonic() - start < 2
    assert [run_record(first, run_id).state for run_id in (running, waiting)] == ["queued", "queued"]
    with pytest.raises(RunError, match="closed"):
        first.submit("weights", Settings(), words(7))

    second_gateway = FakeGateway(kept_in=tmp_path / "pieces.jsonl")
    second = open_one(second_gateway, max_running=1)
    assert [second.wait(run_id, 5).state for run_id in (running, waiting)] == ["done", "done"]
    assert second_gateway.runs == [running, waiting]
    assert sorted(first_gateway.computed + second_gateway.computed) == sorted(words(60).texts)  # each piece once
    assert list(second.result(running).weights["weight"]) == [weight("fake", text) for text in words(60).texts]


def test_closing_does_not_wait_for_a_run_that_does_not_listen(open_one: Open, gateway: FakeGateway) -> None:
    first = open_one()
    gateway.go.clear()
    run_id = first.submit("weights", Settings(fault="deaf"), words()).run_id
    wait_until(is_running(first, run_id))
    first.close(timeout=0.2)
    assert run_record(first, run_id).state == "queued"
    second = open_one(FakeGateway())
    assert second.wait(run_id, 5).state == "done"
    gateway.go.set()  # what the deaf one finds now changes nothing
    wait_until(lambda: not first._active)
    assert run_record(second, run_id).state == "done" and second.result(run_id).dataset_name == "words.csv"


def test_a_queue_that_does_not_resume_leaves_runs_alone(open_one: Open, gateway: FakeGateway) -> None:
    gateway.go.clear()
    first = open_one()
    run_id = first.submit("weights", Settings(), words()).run_id
    first.close()
    gateway.go.set()
    command = open_one(resume=False)
    submission = command.submit("weights", Settings(), words())
    assert not submission.reused and command.wait(submission.run_id, 5).state == "done"
    assert run_record(command, run_id).state == "queued"


def test_a_killed_server_loses_no_finished_piece_and_a_living_one_no_run(open_one: Open, tmp_path: Path) -> None:
    pieces = tmp_path / "pieces.jsonl"
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.support.fake_runs", str(tmp_path)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        run_id = server.stdout.readline().strip()
        wait_until(lambda: pieces.exists() and len(pieces.read_text(encoding="utf-8").splitlines()) > 10)

        beside = FakeGateway(kept_in=pieces)
        beside_queue = open_one(beside)
        time.sleep(0.1)
        assert run_record(beside_queue, run_id).state == "running" and beside.runs == []  # it lives: hands off
        beside_queue.close()
        os.kill(server.pid, signal.SIGKILL)
    finally:
        server.kill()
        server.wait()
        if server.stdout:
            server.stdout.close()
    finished = FakeGateway(kept_in=pieces).stored_pieces()
    assert 10 < len(finished) < 100

    after = FakeGateway(kept_in=pieces)
    queue = open_one(after)
    run = queue.wait(run_id, 10)
    assert (run.state, run.done, run.total) == ("done", 100, 100)
    assert sorted([*finished, *after.computed]) == sorted(words(100).texts)  # nothing lost, nothing twice
    direct = open_one(FakeGateway(), resume=False)
    again = direct.submit("weights", Settings(), replace(words(100), notices=("2 rows repeat.",)), reuse=False).run_id
    direct.wait(again, 5)
    for field in ("settings", "dataset_name", "notices"):
        assert getattr(queue.result(run_id), field) == getattr(direct.result(again), field)
    pd.testing.assert_frame_equal(queue.result(run_id).weights, direct.result(again).weights)


@pytest.mark.parametrize("state", ["done", "failed"])
def test_a_damaged_dataset_is_repaired_by_submitting_it_again(
    open_one: Open,
    gateway: FakeGateway,
    tmp_path: Path,
    state: str,
) -> None:
    queue = open_one()
    if state == "failed":
        gateway.go.clear()
    blocking = queue.submit("weights", Settings(factor=2.0), words(1)).run_id
    also_blocking = queue.submit("weights", Settings(factor=3.0), words(1)).run_id
    first = queue.submit("weights", Settings(), words(3)).run_id
    if state == "done":
        assert queue.wait(first, 10).state == "done"
    (path,) = (tmp_path / "datasets").glob(f"*{words(3).content_hash}*")
    path.write_bytes(path.read_bytes()[:40] + b"damage" + path.read_bytes()[46:])
    gateway.go.set()
    run = queue.wait(first, 10)
    assert run.state == state
    if state == "failed":
        assert "damaged" in run.message and "Submit it again" in run.message
    with pytest.raises(RunError, match="damaged"):
        queue.dataset(first)
    again = queue.submit("weights", Settings(), words(3))
    assert queue.wait(again.run_id, 10).state == "done" and again.reused == (state == "done")
    assert queue.dataset(first) == queue.dataset(again.run_id) == words(3)
    assert {queue.wait(run_id, 10).state for run_id in (blocking, also_blocking)} == {"done"}
