"""A data directory that cannot be written is refused before anything is computed; `test_open` has the other cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import InputError
from engine.runs.storage.directory import writable_directory


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a directory that not even root can write to")
def test_one_that_is_there_and_cannot_be_written_is_refused() -> None:
    with pytest.raises(InputError, match="Cannot write to /proc/self: "):
        writable_directory(Path("/proc/self"))
