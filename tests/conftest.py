"""What every test begins and ends with."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """Streamlit's AppTest leaves its script as `__main__`, and spawned processes would import that."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before
