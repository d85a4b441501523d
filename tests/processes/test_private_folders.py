"""Private bytes on their way: below the data directory, for this account alone, and gone after a kill."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.datasets.reader_process import Reader
from engine.errors import InputError
from engine.processes import private_folders
from engine.processes.private_folders import keep_below, private_folder
from engine.runs.open import open_engine
from engine.runs.storage.directory import READING
from tests.support.fake_runs import EVALUATIONS
from tests.support.fakes import FakeBackend

READS = """
import sys, time
from pathlib import Path
from engine.datasets.reader_process import Reader
from engine.processes.private_folders import keep_below
keep_below(Path(sys.argv[1]))
reader = Reader(time.sleep, b"a private sentence", name="a.zip")
print(reader._folder, flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    parent = private_folders._parent
    yield
    private_folders._parent = parent


def reading(parent: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", READS, parent], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        return process, Path(process.stdout.readline().strip())


def test_what_a_killed_server_was_reading_is_swept_at_the_next_start_and_nothing_else(tmp_path: Path) -> None:
    parent = tmp_path / READING
    (killed, left), (alive, kept) = reading(parent), reading(parent)
    try:
        assert b"private" in (left / "source-0").read_bytes() and left.is_relative_to(parent)
        for folder in (parent, left.parent, left):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
        with open_engine(tmp_path, backend=FakeBackend(), evaluations=EVALUATIONS, resume=False):
            assert not left.exists() and not left.parent.exists()
            assert (kept / "source-0").exists()  # of another server on the same directory
            assert private_folder().is_relative_to(parent)
    finally:
        alive.kill()
        alive.wait()


def test_a_folder_that_was_removed_is_made_again(tmp_path: Path) -> None:
    keep_below(tmp_path / "a")
    first = private_folder()
    keep_below(tmp_path / "a")  # our own is no leftover
    assert first.exists()
    keep_below(tmp_path / "b")
    assert private_folder().is_relative_to(tmp_path / "b")
    keep_below(tmp_path / "a")
    assert private_folder().parent == first.parent


def test_no_room_for_what_is_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_below(tmp_path / "a")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match=r"a.zip cannot be read now: there is no room .*No space left on device"):
        Reader(len, b"a", name="a.zip")
    assert [path for path in (tmp_path / "a").glob("*/*") if path.name != "lock"] == []
