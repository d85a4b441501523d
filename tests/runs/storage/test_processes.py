from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psutil
import pytest

from engine.runs.storage.processes import HEARTBEAT_TIMEOUT_SECONDS, ProcessIdentity, is_alive, this_process

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def identity_of(process: subprocess.Popen[bytes]) -> ProcessIdentity:
    return replace(this_process(), pid=process.pid, started=psutil.Process(process.pid).create_time())


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
