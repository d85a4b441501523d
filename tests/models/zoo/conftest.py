"""What the tests of all kinds of models share."""

from __future__ import annotations

import pytest
from transformers.utils import logging

from engine.models.scoring import batching


@pytest.fixture
def mixed_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of all lengths in one batch: otherwise much shorter ones would stand in another."""
    monkeypatch.setattr(batching, "BUSY_SHARE", 1.0)


@pytest.fixture(autouse=True, scope="session")
def no_progress_bars() -> None:
    logging.disable_progress_bar()
