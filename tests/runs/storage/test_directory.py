"""The data directory: where it is, and that one which cannot be written is refused before anything is computed."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from engine.errors import InputError
from engine.runs.storage.directory import DIRECTORY_VARIABLE, data_directory, writable_directory


def test_it_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = writable_directory(tmp_path / "a" / "b")
    assert path == tmp_path / "a" / "b" and list(path.iterdir()) == []
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_the_variable_names_it_where_no_path_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "named"))
    assert data_directory() == tmp_path / "named" and data_directory(tmp_path / "given") == tmp_path / "given"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a directory that not even root can write to")
def test_one_that_is_there_and_cannot_be_written_is_refused() -> None:
    with pytest.raises(InputError, match="/proc/self"):
        writable_directory(Path("/proc/self"))
