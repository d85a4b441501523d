"""One change made in a copy of the checkout, and the tests that are to notice it, in a process that ends with them."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.affected import ROOT
from tests.mutants.sites import Mutant

SECONDS = 240.0  # that the tests of one change may take
SECONDS_OF_ONE = 100  # of which a test may take so many: a loop without an end is noticed
NOTICED, NOT_NOTICED, NOT_IN_TIME = "noticed", "not noticed", "not noticed in time"
NOT_COPIED = ("__pycache__", ".git", ".venv*", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".hakari")
OURS = ("engine", "dashboard", "hakari", "docs", "tests")  # packages that each copy has of its own
# What every process would import for seconds; imported once, before any change.
PRELOADED = (
    "torch",
    "transformers",
    "streamlit.testing.v1",
    "scipy.stats",
    "sklearn.metrics",
    "plotly.express",
    "umap",
)
OUTPUT = "output.txt"
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "CI": "true", "HF_HUB_OFFLINE": "1"}


@dataclass(frozen=True)
class Outcome:
    """What the tests say of a change, and the first that failed."""

    said: str
    by: str = ""


@dataclass(frozen=True)
class Tests:
    """Files and folders with tests, in their order, and which of these are run, by id or by file; None for all."""

    paths: tuple[str, ...]
    ids: frozenset[str] | None = None
    but: frozenset[str] = frozenset()

    __test__ = False  # for pytest


class Copy:
    """A copy of the checkout, with its environment by a link."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self.root, self._folder = folder / "checkout", folder
        shutil.copytree(root, self.root, ignore=shutil.ignore_patterns(*NOT_COPIED))
        (self.root / ".venv").symlink_to(Path(sys.prefix))
        self._written = int(time.time())

    def outcome(self, mutant: Mutant | None, tests: Tests, seconds: float = SECONDS) -> Generator[None, None, Outcome]:
        """What the tests say of a change, or without any; NOT_IN_TIME where they take longer.

        Yields while they run. The copy is as before then.
        """
        if mutant is None:
            return (yield from self._run(tests, seconds))
        file = self.root / mutant.path
        source = file.read_text(encoding="utf-8")
        self._write(file, mutant.applied(source))
        try:
            return (yield from self._run(tests, seconds))
        finally:
            self._write(file, source)

    def output(self) -> str:
        """What the last tests printed."""
        return (self._folder / OUTPUT).read_text(encoding="utf-8", errors="replace")

    def _write(self, file: Path, text: str) -> None:
        """Write with a time of its own: compiled modules are kept by the time and size of their source."""
        file.write_text(text, encoding="utf-8")
        self._written += 2
        os.utime(file, (self._written, self._written))

    def _run(self, tests: Tests, seconds: float) -> Generator[None, None, Outcome]:
        said, temporary = self._folder / "said.json", self._folder / "tmp"
        said.unlink(missing_ok=True)
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        process = os.fork()
        if not process:
            try:
                run_tests(self.root, tests, said, temporary)
            except BaseException:  # a fork returns to no caller
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(0)
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                if os.waitpid(process, os.WNOHANG)[0]:
                    return _read(said)
                yield
            return Outcome(NOT_IN_TIME)
        finally:
            _end(process)


def completed(steps: Generator[None, None, Outcome]) -> Outcome:
    """What a generator returns, after all that it yields."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        time.sleep(0.02)


def preload() -> None:
    """Import what every process would import for seconds, before any change; without threads, which no fork has."""
    os.environ.update(ENVIRONMENT)
    for name in PRELOADED:
        importlib.import_module(name)


def _read(said: Path) -> Outcome:
    if not said.exists():
        return Outcome(NOTICED, "the end of the process")
    code, by = json.loads(said.read_text(encoding="utf-8"))
    passed = code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return Outcome(NOT_NOTICED) if passed else Outcome(NOTICED, by or "collecting the tests")


def _end(process: int) -> None:
    """End a process and all that it has started: it leads a group of its own."""
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(process, 0)


def run_tests(root: Path, tests: Tests, said: Path, temporary: Path) -> None:
    """Run tests of a checkout until one fails, and write the exit code and that test's id; for a process of its own."""
    os.setsid()
    with Path(temporary.parent / OUTPUT).open("wb") as output:
        for stream in (1, 2):
            os.dup2(output.fileno(), stream)
    os.environ.update(ENVIRONMENT, TMPDIR=str(temporary))
    os.chdir(root)
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    sys.path[:] = [str(root), *(path for path in sys.path if path not in ("", str(ROOT)))]
    noted = _Noted(tests)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--timeout={SECONDS_OF_ONE}"]
    options += [
        "-m",
        "not nightly",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]  # plugins of pytest that were preloaded with others
    code = pytest.main([*options, f"--rootdir={root}", *tests.paths], plugins=[noted])
    said.write_text(json.dumps([int(code), noted.failed]), encoding="utf-8")


class _Noted:
    """Chooses the tests, and keeps the first that fails."""

    def __init__(self, tests: Tests) -> None:
        self._tests = tests
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        ids = self._tests.ids
        items[:] = [
            item
            for item in items
            if item.nodeid not in self._tests.but
            and (ids is None or item.nodeid in ids or item.nodeid.partition("::")[0] in ids)
        ]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid
