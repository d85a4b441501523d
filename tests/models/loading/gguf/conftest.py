"""What is made of the files of these tests goes with them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def temporary_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The system's temporary directory, of this process and of those that it starts."""
    folder = str(tmp_path_factory.mktemp("temporary"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TMPDIR", folder)
        patched.setattr(tempfile, "tempdir", folder)
        yield
