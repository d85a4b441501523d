"""Every library that the computing code imports, or that is installed for it, is among those whose versions count."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from engine import library_versions
from engine.inference import keys
from engine.runs import run_key

ROOT = Path(__file__).parents[1]
# Imported where numbers are made, and in none of them.
NO_NUMBER = {
    "accelerate": "deals the layers of a model out; trains models, which then count by their content",
    "huggingface-hub": "fetches files, which count by their content",
    "psutil": "bounds of memory",
    "tqdm": "progress of downloads",
    "pyarrow": "reads and writes tables of runs, whose numbers it leaves as they are",
    "httpx2": "carries numbers of servers, which are read from the reply itself",
}
# Required, and in no number: texts from files count by the content that was read.
ELSEWHERE = {
    "streamlit",
    "plotly",
    "authlib",
    "prometheus-client",  # the dashboard and its figures for the operator
    "matplotlib",
    "matplotlib-fontja",
    "jinja2",
    "tabulate",  # figures and tables for papers
    "openpyxl",
    "defusedxml",  # files
    "chardet",  # encodings of files
    "babel",  # the texts of pages
    "sqlalchemy",
    "alembic",
    "psycopg",  # runs
}


def imported(files: Iterable[Path]) -> set[str]:
    """The distributions, in lower case, that the files import wherever in them."""
    modules: set[str] = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules.add(node.module.partition(".")[0])
    distributions = packages_distributions()
    return {
        name.lower().replace("_", "-")
        for module in modules - sys.stdlib_module_names - {"engine"}
        for name in distributions.get(module, [module])
    }


def files(*patterns: str) -> list[Path]:
    return [path for pattern in patterns for path in ROOT.glob(f"engine/{pattern}")]


CLASSIFIER = ROOT / "engine/models/scoring/classifier.py"
AREAS = {
    "MODELS": [
        path
        for path in files(
            "models/loading/*.py",
            "models/tokenization/*.py",
            "models/scoring/*.py",
            "models/worker.py",
            "language/mecab.py",
            "language/segmenters.py",
            "language/words.py",
            "language/nouns.py",
            "language/jumanpp.py",
        )
        if path != CLASSIFIER
    ],
    "ARRAYS": [CLASSIFIER, *files("measures/clusters/*.py")],
    "SURFACE": files("measures/surface.py"),
    "READINGS": files("language/readings/*.py", "language/words.py", "measures/reading_penalty.py"),
    "TABLES": files("evaluations/**/*.py", "measures/statistics/*.py", "measures/bertscore.py"),
    "ALL": files("measures/**/*.py", "models/**/*.py", "language/**/*.py", "evaluations/**/*.py"),
}


@pytest.mark.parametrize("area", AREAS)
def test_what_the_computing_code_imports_is_listed(area: str) -> None:
    assert AREAS[area] and all(path.is_file() for path in AREAS[area])
    missing = imported(AREAS[area]) - set(getattr(library_versions, area)) - set(NO_NUMBER)
    assert not missing, f"add to engine.library_versions.{area}, or say here why not: {sorted(missing)}"


def test_every_requirement_is_listed_or_in_no_number() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    required = {line.partition("==")[0].partition("[")[0].lower().replace("_", "-") for line in lines if "==" in line}
    assert required - set(library_versions.ALL) - set(NO_NUMBER) == ELSEWHERE


def test_an_import_inside_a_function_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    from sklearn.metrics import x\n    import umap.y\n    import json\n")
    assert imported([tmp_path / "a.py"]) == {"scikit-learn", "umap-learn"}


def test_what_signatures_print_is_listed() -> None:
    """The evaluations' own additions, too: each is a tuple of names at its call of `signature`."""
    printed = set(library_versions.SIGNED)
    for path in files("evaluations/*/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "libraries":
                printed |= set(ast.literal_eval(node.value))
    assert {"umap-learn", "rapidfuzz"} <= printed <= set(library_versions.ALL)


@pytest.mark.parametrize("library", ["sacrebleu", "mecab-python3", "numba", "torch", "pandas"])
def test_a_run_is_not_reused_after_an_upgrade(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def upgraded(names: tuple[str, ...]) -> dict[str, str]:
        return library_versions.library_versions(names) | ({library: "99"} if library in names else {})

    before = run_key.run_key("clusters", {}, "h")
    monkeypatch.setattr(run_key, "library_versions", upgraded)
    run_key._engine_versions.cache_clear()
    try:
        assert run_key.run_key("clusters", {}, "h") != before
    finally:
        run_key._engine_versions.cache_clear()


@pytest.mark.parametrize(("library", "changes"), [("mecab-python3", True), ("sacrebleu", True), ("torch", False)])
def test_surface_scores_count_by_their_own_libraries(
    library: str, changes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = keys.surface_key([["a", "b"]], {})
    monkeypatch.setattr(
        keys,
        "library_versions",
        lambda names: library_versions.library_versions(names) | ({library: "99"} if library in names else {}),
    )
    assert (keys.surface_key([["a", "b"]], {}) != before) is changes
