"""Which tests belong to a change: by imports, not through what imports nearly everything, and by the folder."""

from __future__ import annotations

import pytest

from tests import affected
from tests.affected import OF_ALL_FILES

# A measure that an evaluation and its test import; the evaluation is also in a catalogue, as everything is.
IMPORTS: dict[str, set[str]] = {
    "engine.measures.clusters.dispersion": set(),
    "engine.measures.idf": set(),
    "engine.evaluations.clusters.evaluate": {"engine.measures.clusters.dispersion"},
    "engine.evaluations.catalog": {"engine.evaluations.clusters.evaluate", "engine.measures.idf"},
    "dashboard.runs.page": {"engine.evaluations.catalog"},
    "tests.evaluations.clusters.test_evaluate": {"engine.evaluations.clusters.evaluate"},
    "tests.measures.test_idf": {"engine.measures.idf"},
    "tests.runs.test_queue": {"engine.evaluations.catalog"},
}


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affected, "import_graph", lambda root: IMPORTS)
    monkeypatch.setattr(affected, "HUB_SHARE", 0.5)  # of four modules the catalogue reaches all


def of(*changed: str) -> set[str]:
    return {path for path in affected.affected(changed) if not path.startswith("engine/")} - set(OF_ALL_FILES)


def test_tests_belong_to_what_they_import_over_any_number_of_steps_but_not_through_a_catalogue() -> None:
    assert of("engine/measures/clusters/dispersion.py") >= {"tests/evaluations/clusters/test_evaluate.py"}
    assert of("engine/measures/idf.py") == {"tests/measures"}
    assert "tests/runs/test_queue.py" not in of("engine/measures/clusters/dispersion.py", "engine/measures/idf.py")
    assert "tests/runs/test_queue.py" in of("engine/evaluations/catalog.py")  # itself


def test_pages_and_commands_belong_to_their_evaluation() -> None:
    assert of("engine/measures/clusters/dispersion.py") >= {"tests/dashboard/clusters", "tests/measures/clusters"}
    assert of("dashboard/fill_mask/page.py") == {"tests/dashboard/fill_mask"}
    assert of("dashboard/clusters/ja.po") == {"tests/dashboard/clusters"}


def test_a_changed_test_is_run_and_what_all_tests_begin_with_runs_all() -> None:
    assert of("tests/test_version.py") == {"tests/test_version.py"}
    assert affected.affected(["tests/conftest.py", "dashboard/app.py"]) == ["tests", "engine"]
    assert "tests/test_documents.py" in of("docs/measures.md")


def test_the_graph_is_that_of_the_files() -> None:
    found = affected.imported(affected.ROOT / "engine/evaluations/catalog.py")
    assert any(name.startswith("engine.evaluations.clusters") for name in found)
    assert affected.path_of("engine.runs.open") == "engine/runs/open.py"
    assert (
        affected.path_of("engine.runs") == "engine/runs/__init__.py"
        and affected.module_of("engine/runs/__init__.py") == "engine.runs"
    )
