from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psutil
import pytest

from engine.inference.machine import machine
from engine.runs.storage.processes import (
    HEARTBEAT_TIMEOUT_SECONDS,
    ProcessIdentity,
    is_alive,
    started_after_boot,
    this_process,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def identity_of(process: subprocess.Popen[bytes]) -> ProcessIdentity:
    return replace(this_process(), pid=process.pid, started=started_after_boot(process.pid))


def test_this_process_lives_and_every_opening_has_its_own_mark() -> None:
    first, second = this_process(), this_process()
    assert is_alive(first, NOW - timedelta(days=1), NOW)  # on this machine heartbeats do not matter
    assert first.id != second.id and first.pid == second.pid


def test_a_killed_process_is_dead_also_before_its_parent_collects_it(child: subprocess.Popen[bytes]) -> None:
    identity = identity_of(child)
    assert is_alive(identity, NOW, NOW)
    child.kill()
    while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert not is_alive(identity, NOW, NOW)
    child.wait()
    assert not is_alive(identity, NOW, NOW)


def test_another_process_with_the_same_pid_is_another_process() -> None:
    here = this_process()
    assert not is_alive(replace(here, started=here.started - 3600), NOW, NOW)


def test_elsewhere_silence_means_death() -> None:
    there = replace(this_process(), host="another machine")
    assert is_alive(there, NOW - timedelta(seconds=HEARTBEAT_TIMEOUT_SECONDS - 1), NOW)
    assert not is_alive(there, NOW - timedelta(seconds=HEARTBEAT_TIMEOUT_SECONDS + 1), NOW)


def test_a_heartbeat_from_the_future_is_no_life_once_the_clock_was_turned_back() -> None:
    there = replace(this_process(), host="another machine")
    assert is_alive(there, NOW + timedelta(seconds=HEARTBEAT_TIMEOUT_SECONDS - 1), NOW)
    assert not is_alive(there, NOW + timedelta(hours=1), NOW)


def test_a_living_process_stays_itself_when_the_clock_is_turned(
    child: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The system tells the time of a start by the clock: turned back an hour, every start is an hour earlier."""
    create_time = psutil.Process.create_time
    identity = identity_of(child)
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: create_time(process) - 3600)
    assert is_alive(identity, NOW, NOW) and is_alive(this_process(), NOW, NOW)


def test_a_process_of_an_earlier_start_of_the_machine_is_dead() -> None:
    here = this_process()
    assert not is_alive(replace(here, host=f"{machine()}/an earlier start"), NOW, NOW)


def test_rows_of_earlier_versions_hold_the_time_of_day(child: subprocess.Popen[bytes]) -> None:
    started = psutil.Process(child.pid).create_time()
    identity = replace(this_process(), host=machine(), pid=child.pid, started=started)
    assert is_alive(identity, NOW, NOW)
    assert not is_alive(replace(identity, started=started - 3600), NOW, NOW)
