"""Public data sets beside the checkout, for tests that want real files; absent on most machines."""

from __future__ import annotations

from pathlib import Path

import pytest


def shared_data(*parts: str) -> Path:
    """The file `shared/data/<parts>` beside the checkout; skips the test where it is absent."""
    path = Path(__file__).parents[3].joinpath("shared", "data", *parts)
    if not path.exists():
        pytest.skip(f"needs shared/data/{'/'.join(parts)}, which is absent")
    return path
