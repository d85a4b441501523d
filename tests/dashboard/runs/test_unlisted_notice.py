"""Results that are not in the list of runs are shown on the Runs page to who operates the instance."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from dashboard.runs import search
from dashboard.shared import session
from engine.runs.access.viewers import Viewer
from tests.stored_runs import directories as stored_runs
from tests.support.fakes import FakeBackend
from tests.support.page_visits import visit

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


@pytest.fixture
def directory(backend: FakeBackend, tmp_path: Path) -> Path:
    return stored_runs.copied(stored_runs.VERSIONS[0], tmp_path / "data")


def copy_without_row(directory: Path) -> None:
    shutil.copytree(next((directory / "results").iterdir()), directory / "results" / "withoutARow")


def warnings() -> list[str]:
    return [warning.value for warning in visit("runs").warning]


def test_nothing_is_said_when_everything_is_listed(directory: Path) -> None:
    assert warnings() == []


def test_the_local_user_is_told_what_is_not_listed_and_what_to_do(directory: Path) -> None:
    copy_without_row(directory)
    (warning,) = warnings()
    assert "1 result and 0 datasets" in warning and "adopt" in warning and "unlisted" in warning


@pytest.mark.parametrize("is_admin", [True, False])
def test_on_a_shared_instance_only_admins_are_told(
    directory: Path,
    is_admin: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy_without_row(directory)
    viewer = Viewer("ann@lab.example", "Ann", is_admin)
    shared = SimpleNamespace(hosted=lambda: True, viewer=lambda: viewer, engine=session.engine, access=session.access)
    monkeypatch.setattr(search, "session", shared)
    assert len(warnings()) == is_admin
