"""Which tests ran which lines: what is recorded once, so that a changed line is tried with its own tests."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import coverage

from tests.affected import ROOT

SETTINGS = """[run]
relative_files = true
source = engine,dashboard,hakari
"""


@dataclass(frozen=True)
class TestsOfLine:
    """The tests that ran a line, as node ids, and the files of tests whose fixtures ran it: there, any test may see it."""

    ids: frozenset[str]
    files: frozenset[str]

    __test__ = False  # for pytest

    @property
    def all_files(self) -> set[str]:
        return {*self.files, *(name.partition("::")[0] for name in self.ids)}


class Recorded:
    """A record that `record` has made."""

    def __init__(self, path: Path) -> None:
        self._data = coverage.CoverageData(str(path))
        self._data.read()
        self._contexts: dict[str, dict[int, list[str]]] = {}

    def tests(self, path: str, lines: Iterable[int]) -> TestsOfLine:
        """The tests that ran one of these lines of a file; none of a line that runs when its module is imported."""
        if path not in self._contexts:
            self._contexts[path] = self._data.contexts_by_lineno(path)
        found = {name for line in lines for name in self._contexts[path].get(line, ()) if name}
        phases = [name.rpartition("|")[::2] for name in found]
        return TestsOfLine(
            frozenset(name for name, phase in phases if phase == "run"),
            frozenset(name.partition("::")[0] for name, phase in phases if phase != "run"),
        )


def record(path: Path, jobs: int) -> None:
    """Run the tests of a landing but those of a browser, and keep which of them ran which lines of the code.

    Raises:
        RuntimeError: a test fails without any change.
    """
    settings = path.with_suffix(".ini")
    settings.write_text(f"{SETTINGS}data_file = {path}\n", encoding="utf-8")
    options = ["--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report="]
    which = ["-m", "not nightly", "--ignore=tests/browser"]
    command = [sys.executable, "-m", "pytest", "-n", str(jobs), "--dist", "loadfile", *which, *options]
    if subprocess.run(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}).returncode:
        raise RuntimeError("Tests fail without a change: what they say of one would mean nothing.")


def lines_of_statement(source: str, line: int) -> Sequence[int]:
    """The lines of the statement that a line belongs to; of one with a body, those before it."""
    around = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt) and line in _lines(node)]
    return _head(min(around, key=lambda node: len(_lines(node)))) if around else range(line, line + 1)


def _lines(node: ast.stmt) -> range:
    first = min([node.lineno, *(other.lineno for other in getattr(node, "decorator_list", []))])
    return range(first, (node.end_lineno or node.lineno) + 1)


def _head(node: ast.stmt) -> range:
    parts = [part for name in ("body", "cases") for part in getattr(node, name, [])]
    inner = [getattr(part, "pattern", part).lineno for part in parts]
    return range(_lines(node).start, max(node.lineno + 1, min(inner))) if inner else _lines(node)
