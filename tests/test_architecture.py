"""The house as designed: import directions, no circles, small folders and files, nothing unsafe, pinned packages."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from engine import hosted
from tests.slow import FEW_CASES, NIGHTLY, SLOW, left_for_the_night

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for package in ("engine", "dashboard", "hakari") for path in ROOT.glob(f"{package}/**/*.py"))
MOST_STATEMENTS = 225
MOST_FILES = 20


def test_import_directions() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_web_process_imports_neither_torch_nor_umap() -> None:
    heavy = {"torch", "transformers", "umap", "numba", "ray", "streamlit"}
    light = ["engine.runs.open", "engine.evaluations.catalog", "engine.inference.gateway"]
    code = (
        "import importlib, sys\n"
        f"for name in {light}:\n"
        f"    importlib.import_module(name); print(name, *{heavy} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == light


def modules() -> dict[str, Path]:
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in SOURCES}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def named(paths: Iterable[Path]) -> list[str]:
    """Every offender at once, by its path in the checkout."""
    return sorted(str(path.relative_to(ROOT)) for path in paths)


def imports_of(path: Path, known: Mapping[str, Path]) -> set[str]:
    """The modules of this project that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & set(known)
            found |= inner or {node.module} & set(known)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & set(known)
    return found


def test_no_circle_of_files() -> None:
    known = modules()
    left = {name: imports_of(path, known) - {name} for name, path in known.items()}
    while free := {name for name, needed in left.items() if not needed & set(left)}:
        left = {name: needed for name, needed in left.items() if name not in free}
    assert not left, f"These import each other, or what does: {', '.join(sorted(left))}"


def test_a_circle_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    from x import b\n", encoding="utf-8")
    assert imports_of(tmp_path / "a.py", {"x.a": Path(), "x.b": Path(), "x": Path()}) == {"x.b"}


def test_a_folder_has_at_most_20_files() -> None:
    sizes = Counter(path.parent for path in (*SOURCES, *ROOT.glob("tests/**/*.py")))
    crowded = named(folder for folder, n in sizes.items() if n > MOST_FILES)
    assert not crowded, f"A common prefix of names is a folder nobody made: {crowded}"


def test_records_import_no_sibling() -> None:
    known = modules()
    offenders = [
        path
        for path in SOURCES
        if path.name == "records.py"
        and any(
            name.rpartition(".")[0] == ".".join(path.relative_to(ROOT).parent.parts) for name in imports_of(path, known)
        )
    ]
    assert not named(offenders)


def test_no_import_is_for_type_checkers_alone() -> None:
    assert not named(path for path in SOURCES if "TYPE_CHECKING" in path.read_text(encoding="utf-8"))


def test_packages_import_nothing() -> None:
    assert not named(
        path
        for path in SOURCES
        if path.name == "__init__.py"
        and any(isinstance(node, ast.Import | ast.ImportFrom) for node in parsed(path).body)
    )


def test_a_file_holds_one_concept() -> None:
    # Statements, not lines: a table of declarations is one concept however `ruff format` lays it out
    assert not named(
        path for path in SOURCES if sum(isinstance(node, ast.stmt) for node in ast.walk(parsed(path))) > MOST_STATEMENTS
    )


def unsafe_lines(tree: ast.AST) -> list[int]:
    """Where something unsafe is allowed by a keyword that is not False."""
    return [
        node.value.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword)
        and node.arg in ("unsafe_allow_html", "trust_remote_code", "allow_pickle")
        and not (isinstance(node.value, ast.Constant) and node.value.value is False)
    ]


def test_no_unsafe_reading_or_rendering() -> None:
    assert not [f"{name}:{line}" for path in SOURCES for name in named([path]) for line in unsafe_lines(parsed(path))]


def test_unsafe_lines_would_be_found() -> None:
    assert unsafe_lines(ast.parse("f(allow_pickle=False)\ng(allow_pickle=True)\nh(trust_remote_code=x)")) == [2, 3]


# Their test says what an upgrade of Streamlit changes of it.
INTERNALS = ("dashboard/streamlit_internals.py", "tests/streamlit_internals.py", "tests/test_streamlit_internals.py")


def unpublished_lines(tree: ast.AST) -> list[int]:
    """Where something of Streamlit's is taken that it does not publish: what is not in `st` or its test harness."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Import) and any(alias.name.startswith("streamlit.") for alias in node.names))
        or (
            isinstance(node, ast.ImportFrom)
            and str(node.module).partition(".")[0] == "streamlit"
            and not str(node.module).startswith("streamlit.testing.v1")
        )
        or (isinstance(node, ast.Attribute) and node.attr.startswith("_") and ast.unparse(node.value) == "st")
    ]


def test_what_streamlit_does_not_publish_is_taken_in_one_place() -> None:
    paths = {*SOURCES, *ROOT.glob("tests/**/*.py"), *ROOT.glob("docs/*.py")} - {ROOT / name for name in INTERNALS}
    assert not [
        f"{name}:{line}" for path in sorted(paths) for name in named([path]) for line in unpublished_lines(parsed(path))
    ]


def test_unpublished_lines_would_be_found() -> None:
    code = (
        "import streamlit as st\nfrom streamlit.testing.v1 import AppTest\nimport streamlit.runtime\n"
        "from streamlit import runtime\nfrom streamlit.elements.lib import utils\nst._config.x\nst.html\nself.st._x"
    )
    assert unpublished_lines(ast.parse(code)) == [3, 4, 5, 6]


def askers(tree: ast.AST) -> list[int]:
    """Where a variable that makes an instance a hosted one is named, other than in a text for readers."""
    variables = (hosted.MEMBERS_FILE, hosted.ADDRESSES, hosted.DOMAINS, hosted.ADMINS)
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in variables]


def test_one_place_asks_whether_the_instance_is_hosted() -> None:
    """Two lists of the variables differed once: what was guarded by the shorter one stood open."""
    found = {name for path in SOURCES for name in named([path]) if askers(parsed(path))}
    assert found == {"engine/hosted.py"}, "ask engine.hosted.is_hosted"
    assert askers(ast.parse('f("HAKARI_ADMINS is wrong")\nos.environ.get("HAKARI_ADMINS")')) == [2]


def test_every_requirement_is_pinned_and_says_why() -> None:
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        assert not line or line.startswith("#") or "==" in line


def test_the_slow_tests_are_where_they_are_said_to_be() -> None:
    assert all((ROOT / path).exists() for path in (*SLOW, *NIGHTLY))
    assert all((ROOT / part.partition("::")[0]).exists() for part in dict(FEW_CASES))


def test_of_many_cases_a_check_has_a_few_from_the_first_to_the_last() -> None:
    zoo = "tests/models/zoo/test_bert_like.py"
    assert dict(FEW_CASES)["tests/models/zoo/"] == 3
    assert set(range(11)) - left_for_the_night(zoo, 11) == {0, 5, 10}
    assert left_for_the_night(zoo, 3) == left_for_the_night(zoo, 1) == set()
    assert left_for_the_night("tests/evaluations/clusters/test_maps.py", 2) == {1}
    assert left_for_the_night("tests/measures/test_cosine.py", 500) == set()
