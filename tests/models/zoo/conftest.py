"""What the tests of all kinds of models share."""

from __future__ import annotations

import pytest
from transformers.utils import logging

from engine.models.scoring import batching
from tests.models.zoo.specimens import Specimen, build, names


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The kinds of a module, each built once for all of its tests."""
    kinds = getattr(metafunc.module, "COMPARED_KINDS", None)
    if kinds is not None and "specimen" in metafunc.fixturenames:
        metafunc.parametrize("specimen", kinds, ids=names(kinds), indirect=True, scope="module")


@pytest.fixture(scope="module")
def specimen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Specimen:
    """The model of one of the module's COMPARED_KINDS."""
    return build(request.param, tmp_path_factory.mktemp("zoo") / "model")


@pytest.fixture
def mixed_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of all lengths in one batch: otherwise much shorter ones would stand in another."""
    monkeypatch.setattr(batching, "BUSY_SHARE", 1.0)


@pytest.fixture(autouse=True, scope="session")
def no_progress_bars() -> None:
    logging.disable_progress_bar()
