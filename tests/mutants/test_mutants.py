"""The changes that are tried, and that a test which notices one is told from one which does not."""

from __future__ import annotations

import ast
from pathlib import Path

import coverage
import pytest

from tests.affected import ROOT
from tests.mutants.__main__ import ROOMS, Trial, drawn, named_tests, steps_to
from tests.mutants.attempts import NOT_IN_TIME, NOT_NOTICED, NOTICED, Copy, Outcome, Tests, completed
from tests.mutants.lines import Recorded, lines_of_statement
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
    "source",
    [
        'Message("{n}", n=3 + 4)',
        'f"{a + b}"',
        "x: int | str",
        '"a" + b',
        "f(a)",
        "f(a, width=300)",
        "zip(a, b, strict=True)",
        "import a",
    ],
)
def test_texts_types_and_looks_are_not_changed(source: str) -> None:
    assert mutants("a.py", source) == []


@pytest.mark.nightly
def test_a_draw_is_by_its_seed_and_its_tests_are_those_of_the_file() -> None:
    rooms = ("engine/measures/*.py", "dashboard/clusters/*.js")
    first, again, other = drawn(rooms, 100, 1), drawn(rooms, 100, 1), drawn(rooms, 100, 2)
    assert first == again != other and len(set(first)) == 100
    assert {mutant.path.split("/")[0] for mutant in first} == {"engine", "dashboard"}
    assert named_tests("engine/measures/idf.py")[0] == "tests/measures"
    assert named_tests("dashboard/alignment/similarities/matrix.js")[-1] == "tests/browser/test_alignment_in_browser.py"
    assert named_tests("dashboard/clusters/map.js") == [
        "tests/dashboard/clusters/test_density_scripts.py",
        "tests/dashboard/clusters/test_map_scripts.py",
        "tests/browser/test_clusters_in_browser.py",
    ]


@pytest.mark.nightly
def test_the_nearest_tests_come_first() -> None:
    steps = steps_to("engine/measures/idf.py")
    assert steps["engine/measures/idf.py"] == 0 and steps["tests/measures/test_idf.py"] == 1
    assert steps["engine/evaluations/shared/idf_files.py"] < steps["dashboard/alignment/page.py"]


def test_every_room_has_files() -> None:
    assert all(next(ROOT.glob(room), None) for room in ROOMS)


CODE = "def f(x):\n    return x + 0\n"
TEST = """import time

from a import f


def test_passes():
    assert f(0) == 0


def test_sees():
    assert f({value}) == {value}
    time.sleep({seconds})
"""


def copied(tmp_path: Path, *, value: int = 2, seconds: int = 0, code: str = CODE) -> tuple[Copy, Mutant]:
    """A copy of a project of two files, and the change of its `+ 0` to `+ 1`."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text(code)
    (root / "test_a.py").write_text(TEST.format(value=value, seconds=seconds))
    (root / "conftest.py").write_text(
        "import sys; from pathlib import Path; sys.path.insert(0, str(Path(__file__).parent))"
    )
    (change,) = [mutant for mutant in mutants("a.py", CODE) if mutant.kind == "constant"]
    return Copy(tmp_path / "copy", root), change


WHOLE = Tests(("test_a.py",))


def test_a_change_is_noticed_by_the_test_that_fails_for_it(tmp_path: Path) -> None:
    copy, change = copied(tmp_path)
    assert completed(copy.outcome(None, WHOLE)) == Outcome(NOT_NOTICED)
    assert completed(copy.outcome(change, WHOLE)) == Outcome(NOTICED, "test_a.py::test_passes")
    sees = Tests(("test_a.py",), frozenset(["test_a.py::test_sees"]))
    assert completed(copy.outcome(change, sees)) == Outcome(NOTICED, "test_a.py::test_sees")
    none = Tests(
        ("test_a.py",), frozenset(["test_a.py"]), frozenset(["test_a.py::test_passes", "test_a.py::test_sees"])
    )
    assert completed(copy.outcome(change, none)) == Outcome(NOT_NOTICED)
    assert (copy.root / "a.py").read_text() == CODE
    equal = Mutant("a.py", 2, "operator", change.start - 4, change.end, "x - 0")
    assert completed(copy.outcome(equal, WHOLE)) == Outcome(NOT_NOTICED)


def test_a_change_that_no_module_survives_is_noticed(tmp_path: Path) -> None:
    copy, _ = copied(tmp_path)
    broken = Mutant("a.py", 1, "name", 4, 5, "g")
    assert completed(copy.outcome(broken, WHOLE)) == Outcome(NOTICED, "collecting the tests")


def test_tests_that_take_too_long_have_not_noticed_a_change(tmp_path: Path) -> None:
    copy, change = copied(tmp_path, seconds=60)
    of_one = Tests(("test_a.py",), frozenset(["test_a.py::test_sees"]))
    equal = Mutant("a.py", 2, "operator", change.start - 4, change.end, "x - 0")
    assert completed(copy.outcome(equal, of_one, seconds=2)) == Outcome(NOT_IN_TIME)


@pytest.mark.nightly
def test_a_test_that_fails_without_a_change_says_nothing_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, change = copied(tmp_path, code=CODE.replace("0", "7"))
    trial = Trial(Recorded(tmp_path / "nothing.sqlite"), seconds=60)
    monkeypatch.setattr(trial, "tests", lambda _: WHOLE)
    ((tried, outcome),) = trial.of([change], [copy], end=float("inf"))
    assert (tried, outcome) == (change, Outcome(NOT_NOTICED))
    assert trial.unsound == {"test_a.py::test_passes", "test_a.py::test_sees"}


def test_the_tests_of_a_line_are_those_that_ran_it(tmp_path: Path) -> None:
    data = coverage.CoverageData(str(tmp_path / "lines.sqlite"))
    for name, lines in (("t/a.py::test_f[x|y]|run", {2, 3}), ("t/b.py::test_g|setup", {3}), ("", {1, 3})):
        data.set_context(name)
        data.add_lines({"engine/m.py": lines})
    data.write()
    recorded = Recorded(tmp_path / "lines.sqlite")
    assert recorded.tests("engine/m.py", [2]).ids == {"t/a.py::test_f[x|y]"}
    assert recorded.tests("engine/m.py", [3, 4]).all_files == {"t/a.py", "t/b.py"}
    assert recorded.tests("engine/m.py", [3]).files == {"t/b.py"}
    assert not recorded.tests("engine/m.py", [1]).all_files and not recorded.tests("engine/none.py", [2]).all_files


SOURCE = """@wrapped
def f(a,
      b):
    x = g(
        a,
    )
    if x:
        return 1
    match x:
        case 2:
            return 3
    for y in x:
        pass
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [(1, [1, 2, 3]), (3, [1, 2, 3]), (5, [4, 5, 6]), (7, [7]), (8, [8]), (9, [9]), (11, [11]), (12, [12]), (14, [14])],
)
def test_a_line_counts_with_its_statement(line: int, expected: list[int]) -> None:
    assert list(lines_of_statement(SOURCE, line)) == expected


def test_an_argument_of_a_pages_call_is_tried_with_the_test_that_reads_all_calls(tmp_path: Path) -> None:
    path = "dashboard/model_card/downloads.py"
    change = next(each for each in mutants(path, (ROOT / path).read_text()) if each.kind == "argument on_click")
    data = coverage.CoverageData(str(tmp_path / "lines.sqlite"))
    data.set_context("tests/dashboard/model_card/test_page.py::test_f|run")
    data.add_lines({path: {change.line}})
    data.write()
    tests = Trial(Recorded(tmp_path / "lines.sqlite"), seconds=60).tests(change)
    assert tests.paths == ("tests/dashboard/test_calls.py", "tests/dashboard/model_card/test_page.py")
    assert tests.ids == {"tests/dashboard/test_calls.py", "tests/dashboard/model_card/test_page.py::test_f"}
