"""Files are read a bounded number at once, in the order in which they came."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import psutil
import pytest

from engine.datasets.reader_process import Reader, read
from engine.datasets.reader_turns import ASKING_SECONDS, Turns, readers_of_environment
from engine.errors import Cancelled


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def sleep(_: Path, name: str) -> None:
    time.sleep(60)


def short_sleep(_: Path, name: str) -> str:
    time.sleep(0.5)
    return name


def title(_: Path, name: str) -> str:
    return name


def test_the_one_that_came_first_is_next() -> None:
    turns = Turns(Clock())
    first, second, third = object(), object(), object()
    assert turns.take(first, 1) and not turns.take(second, 1) and not turns.take(third, 1)
    turns.leave(first)
    assert not turns.take(third, 1) and turns.take(second, 1)
    turns.leave(second)
    assert turns.take(third, 1)


def test_who_has_several_files_read_waits_for_who_has_fewer() -> None:
    turns = Turns(Clock())
    ann, ben, eve = [object() for _ in range(4)], object(), [object(), object()]
    assert [turns.take(reader, 2, "ann") for reader in ann] == [True, True, False, False]
    assert not turns.take(eve[0], 2, "eve") and not turns.take(eve[1], 2, "eve") and not turns.take(ben, 2, "ben")
    turns.leave(ann[0])
    assert not turns.take(ann[2], 2, "ann") and not turns.take(ben, 2, "ben") and turns.take(eve[0], 2, "eve")
    turns.leave(eve[0])  # of those with none read now, Eve's second file came before Ben's
    assert not turns.take(ann[2], 2, "ann") and not turns.take(ben, 2, "ben") and turns.take(eve[1], 2, "eve")
    turns.leave(ann[1])  # neither Ann nor Ben has one read now, and Ann's came first
    assert not turns.take(ann[3], 2, "ann") and not turns.take(ben, 2, "ben") and turns.take(ann[2], 2, "ann")
    turns.leave(eve[1])
    assert not turns.take(ann[3], 2, "ann") and turns.take(ben, 2, "ben")
    turns.leave(ben)
    assert turns.take(ann[3], 2, "ann")
    for reader in ann:
        turns.leave(reader)
    assert not turns._owners and not turns._asked and not turns._reading


def test_one_that_nobody_waits_for_holds_up_no_other() -> None:
    turns = Turns(clock := Clock())
    first, left_alone, third = object(), object(), object()
    assert turns.take(first, 1) and not turns.take(left_alone, 1)
    turns.leave(first)
    clock.now = ASKING_SECONDS - 0.1
    assert not turns.take(third, 1)
    clock.now = ASKING_SECONDS + 0.1
    assert turns.take(third, 1)


def test_one_that_left_while_it_waited_holds_up_no_other() -> None:
    turns = Turns(Clock())
    first, second, third = object(), object(), object()
    assert turns.take(first, 1) and not turns.take(second, 1) and not turns.take(third, 1)
    turns.leave(second)
    turns.leave(first)
    assert turns.take(third, 1)


def test_a_reader_waits_and_starts_when_another_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_READERS", "1")
    reading, waiting = Reader(sleep, b"", name="a.zip"), Reader(title, b"", name="b.zip")
    assert not reading.is_waiting and waiting.is_waiting
    assert not waiting.wait(0.3) and waiting.is_waiting
    reading.cancel()
    assert waiting.wait(30) and waiting.result() == "b.zip"


def test_a_turn_ends_with_the_process_also_where_nobody_asks_for_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_READERS", "1")
    first = Reader(short_sleep, b"", name="a.zip")
    assert read(title, b"", name="b.zip") == "b.zip"
    assert first.wait(0) and first.result() == "a.zip"  # its exit code and result are still its own


def test_a_waiting_reader_can_be_cancelled_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_READERS", "1")
    reading, waiting = Reader(sleep, b"", name="a.zip"), Reader(sleep, b"secret", name="b.zip")
    forgotten = Reader(sleep, b"secret", name="c.zip")
    folders = waiting._folder, forgotten._folder
    waiting.cancel()
    assert waiting.wait(0)
    with pytest.raises(Cancelled, match=r"Reading b\.zip was cancelled"):
        waiting.result()
    del forgotten
    gc.collect()
    assert not any(folder.exists() for folder in folders)
    reading.cancel()
    assert read(title, b"", name="d.zip") == "d.zip"


def test_no_more_processes_than_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_READERS", "2")
    readers = [Reader(short_sleep, b"", name=f"{number}.zip") for number in range(5)]
    most = 0
    while not all([reader.wait(0.02) for reader in readers]):
        processes = [reader._child.process for reader in readers if reader._child.process is not None]
        most = max(most, sum(psutil.pid_exists(process.pid) and process.exitcode is None for process in processes))
    assert most == 2 and [reader.result() for reader in readers] == [f"{number}.zip" for number in range(5)]


def test_how_many_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HAKARI_READERS", raising=False)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(6 - pid)), raising=False)
    assert readers_of_environment() == 6
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0}, raising=False)
    assert readers_of_environment() == 2
    monkeypatch.setenv("HAKARI_READERS", "1")
    assert readers_of_environment() == 1
