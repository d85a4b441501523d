"""The changes that are tried, and that a test which notices one is told from one which does not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants.__main__ import NOT_IN_TIME, ROOMS, ROOT, drawn, named_tests, outcome, steps_to
from tests.mutants.sites import Mutant, mutants

PYTHON = [
    ("a < b", "comparison", "(a <= b)"),
    ("a is not b", "comparison", "(a is b)"),
    ("a not in b", "comparison", "(a in b)"),
    ("a + b", "operator", "(a - b)"),
    ("a / b", "operator", "(a * b)"),
    ("a and b or c", "logic", "((a and b) and c)"),
    ("not a", "negation", "(a)"),
    ("-a", "negation", "(a)"),
    ("a if b else c", "branches", "(c if b else a)"),
    ("f(True)", "constant", "f((False))"),
    ("f(3)", "constant", "f((4))"),
    ("f(a, x=b, y=c)", "argument x", "f(a, y=c)"),
    ("日本 + b  # 語", "operator", "(日本 - b)  # 語"),
]
JAVASCRIPT = [
    ("if (a < b) return;", "comparison", "if (a <= b) return;"),
    ("p.x + 1", "axis", "p.y + 1"),
    ("p.x + 1", "operator", "p.x - 1"),
    ("Math.min(a, b)", "operator", "Math.max(a, b)"),
]


@pytest.mark.parametrize(("source", "kind", "expected"), PYTHON)
def test_python_is_changed_in_one_point(source: str, kind: str, expected: str) -> None:
    found = mutants("a.py", source)
    assert (kind, expected) in [(mutant.kind, mutant.applied(source)) for mutant in found]
    for mutant in found:
        assert ast.dump(ast.parse(mutant.applied(source))) != ast.dump(ast.parse(source))


@pytest.mark.parametrize(("source", "kind", "expected"), JAVASCRIPT)
def test_javascript_is_changed_in_one_point(source: str, kind: str, expected: str) -> None:
    assert (kind, expected) in [(mutant.kind, mutant.applied(source)) for mutant in mutants("a.js", source)]


@pytest.mark.parametrize(
    "source", ['Message("{n}", n=3 + 4)', 'f"{a + b}"', "x: int | str", '"a" + b', "f(a)", "import a"]
)
def test_texts_and_types_are_not_changed(source: str) -> None:
    assert mutants("a.py", source) == []


@pytest.mark.nightly
def test_a_draw_is_by_its_seed_and_its_tests_are_those_of_the_file() -> None:
    rooms = ("engine/measures/*.py", "dashboard/clusters/*.js")
    first, again, other = drawn(rooms, 100, 1), drawn(rooms, 100, 1), drawn(rooms, 100, 2)
    assert first == again != other and len(set(first)) == 100
    assert {mutant.path.split("/")[0] for mutant in first} == {"engine", "dashboard"}
    assert named_tests("engine/measures/idf.py")[0] == "tests/measures"
    assert named_tests("dashboard/clusters/map.js") == [
        "tests/dashboard/clusters",
        "tests/browser/test_clusters_in_browser.py",
    ]


def test_tests_that_take_too_long_have_not_noticed_a_change(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(x):\n    return x + 1\n")
    (tmp_path / "test_a.py").write_text(
        "import time\nfrom a import f\n\n\ndef test_f():\n    time.sleep(60)\n    assert f(1) == 2\n"
    )
    (change,) = [mutant for mutant in mutants("a.py", (tmp_path / "a.py").read_text()) if mutant.kind == "constant"]
    assert outcome(tmp_path, change, ["test_a.py"], seconds=2) == NOT_IN_TIME


def test_the_nearest_tests_come_first() -> None:
    steps = steps_to("engine/measures/idf.py")
    assert steps["engine/measures/idf.py"] == 0 and steps["tests/measures/test_idf.py"] == 1
    assert steps["engine/evaluations/shared/idf_files.py"] < steps["dashboard/alignment/page.py"]


def test_every_room_has_files() -> None:
    assert all(next(ROOT.glob(room), None) for room in ROOMS)


@pytest.mark.parametrize(("value", "expected"), [(2, "noticed"), (0, "not noticed")])
def test_a_change_is_noticed_where_a_test_fails_for_it(tmp_path: Path, value: int, expected: str) -> None:
    (tmp_path / "a.py").write_text("def f(x):\n    return x + 0\n")
    (tmp_path / "test_a.py").write_text(
        f"from a import f\n\n\ndef test_f():\n    assert f({value}) == {value} == f({value})\n"
    )
    (change,) = [mutant for mutant in mutants("a.py", (tmp_path / "a.py").read_text()) if mutant.kind == "constant"]
    if value == 0:
        change = Mutant("a.py", 2, "operator", change.start - 4, change.end, "x - 0")
    assert outcome(tmp_path, change, ["test_a.py"]) == expected
    assert (tmp_path / "a.py").read_text() == "def f(x):\n    return x + 0\n"
