"""Points of the code changed one at a time: `python -m tests.mutants --mutants 400 --seed 20261127`.

Each change is made in a copy of the checkout, where the tests that ran its line are run, the nearest first, until one
fails or their time ends: which tests those are is recorded first, once for a state of the code (`--lines`). Of a line
that no test ran, or that runs when its module is imported, they are those that the graph of imports names.
What no test fails for is listed: a fault there would reach a user, or the change changes nothing.
Exit 1 when a smaller share than --share was noticed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from tests.affected import OF_ALL_FILES, ROOT, affected, import_graph, importers, mirrored, module_of, path_of
from tests.mutants.attempts import NOT_NOTICED, NOTICED, SECONDS, Copy, Outcome, Tests, completed, preload
from tests.mutants.lines import Recorded, lines_of_statement, record
from tests.mutants.sites import Mutant, mutants

# What a wrong number, a wrong reader or a wrong right would come from. Data, texts and how a page looks are left out.
ROOMS = (
    "engine/datasets/**/*.py",
    "engine/evaluations/**/*.py",
    "engine/inference/**/*.py",
    "engine/language/**/*.py",
    "engine/measures/**/*.py",
    "engine/models/scoring/**/*.py",
    "engine/models/tokenization/**/*.py",
    "engine/runs/**/*.py",
    "dashboard/**/*.py",
    "dashboard/**/*.js",
)
CONTROL = "tests/measures/test_idf.py"
OF_ALL_CALLS = "tests/dashboard/test_calls.py"  # reads the pages' calls, and runs none of their lines


def main() -> int:
    """Draw changes, try each, print a line for each and a table by room."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--mutants", type=int, default=400, help="changes that are drawn (default: 400)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw; a date is one that nobody chose")
    parser.add_argument(
        "--files", action="append", metavar="PATTERN", help="instead of the usual rooms; may be repeated"
    )
    parser.add_argument("--lines", type=Path, help="where the tests of each line are recorded, or are to be")
    parser.add_argument("--jobs", type=int, default=2, help="copies of the checkout that are tried at once")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="that the tests of one change may take")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no change is tried later")
    parser.add_argument("--skip", type=int, default=0, help="changes of the draw that were tried before")
    parser.add_argument("--share", type=float, default=0.97, help="of the changes that must be noticed")
    options = parser.parse_args()
    chosen = drawn(options.files or ROOMS, options.mutants, options.seed)[options.skip :]
    noticed, survived = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="hakari-mutants-") as folder:
        lines = options.lines or Path(folder) / "lines.sqlite"
        if not lines.exists():
            record(lines, options.jobs)
        preload()
        end = time.monotonic() + 60 * options.minutes
        copies = [Copy(Path(folder) / str(i)) for i in range(options.jobs)]
        for copy in copies:
            if completed(copy.outcome(None, Tests((CONTROL,)))).said != NOT_NOTICED:
                raise RuntimeError(f"{CONTROL} fails in a copy without a change: {copy.output()}")
        trial = Trial(Recorded(lines), options.seconds)
        for mutant, outcome in trial.of(chosen, copies, end):
            (noticed if outcome.said == NOTICED else survived)[room(mutant.path)] += 1
            by = f" by {outcome.by}" if outcome.by else ""
            source = (ROOT / mutant.path).read_text(encoding="utf-8")
            print(f"{outcome.said}{by}: {mutant.described(source)}", flush=True)
    n_noticed, n = noticed.total(), noticed.total() + survived.total()
    for name in sorted({*noticed, *survived}):
        print(f"{name}: {noticed[name]} of {noticed[name] + survived[name]}")
    for name in sorted(trial.unsound):
        print(f"Fails without a change, in a copy: {name}")
    print(
        f"Noticed: {n_noticed} of {n} ({n_noticed / max(1, n):.1%}); seed {options.seed}, {len(chosen) - n} not tried."
    )
    return int(n_noticed < options.share * n)


def drawn(patterns: Iterable[str], n: int, seed: int) -> list[Mutant]:
    """`n` changes, at random among all that there are in the files of these patterns; fewer where there are fewer."""
    paths = sorted({path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(pattern)})
    every = [mutant for path in paths for mutant in mutants(path, (ROOT / path).read_text(encoding="utf-8"))]
    return random.Random(seed).sample(every, min(n, len(every)))


class Trial:
    """Changes that are tried, with the tests found to fail without any, which say nothing."""

    def __init__(self, recorded: Recorded, seconds: float) -> None:
        self._recorded, self._seconds = recorded, seconds
        self._sound: set[str] = set()
        self.unsound: set[str] = set()

    def of(self, chosen: Sequence[Mutant], copies: Iterable[Copy], end: float) -> Iterator[tuple[Mutant, Outcome]]:
        """Each change with its outcome, as they come; none is begun after `end` of the monotonic clock."""
        free, waiting = list(copies), list(reversed(chosen))
        running: list[tuple[Copy, Mutant, Generator[None, None, Outcome]]] = []
        while running or (waiting and time.monotonic() < end):
            while free and waiting and time.monotonic() < end:
                copy, mutant = free.pop(), waiting.pop()
                running.append((copy, mutant, self._tried(copy, mutant)))
            for attempt in list(running):
                copy, mutant, steps = attempt
                try:
                    next(steps)
                except StopIteration as stop:
                    running.remove(attempt)
                    free.append(copy)
                    yield mutant, stop.value
            time.sleep(0.02)

    def _tried(self, copy: Copy, mutant: Mutant) -> Generator[None, None, Outcome]:
        tests = self.tests(mutant)
        while True:
            outcome = yield from copy.outcome(mutant, tests, self._seconds)
            by = outcome.by
            if outcome.said != NOTICED or "::" not in by or by in self._sound:
                return outcome
            alone = Tests((by.partition("::")[0],), frozenset([by]))
            if (yield from copy.outcome(None, alone, self._seconds)).said != NOTICED:
                self._sound.add(by)
                return outcome
            self.unsound.add(by)
            tests = Tests(tests.paths, tests.ids, frozenset(self.unsound))

    def tests(self, mutant: Mutant) -> Tests:
        """Those that ran the changed line, or that the graph of imports names, the nearest first."""
        but = frozenset(self.unsound)
        if mutant.path.endswith(".js"):
            return Tests(tuple(named_tests(mutant.path)), None, but)
        source = (ROOT / mutant.path).read_text(encoding="utf-8")
        found = self._recorded.tests(mutant.path, lines_of_statement(source, mutant.line))
        if not found.all_files:
            return Tests(tuple(named_tests(mutant.path)), None, but)
        steps = steps_to(mutant.path)
        present = [name for name in found.all_files if (ROOT / name).exists()]  # a record may be of a state before
        paths = sorted(present, key=lambda name: (steps.get(name, len(steps)), name))
        of_calls = [OF_ALL_CALLS] if mutant.path.startswith("dashboard/") and mutant.kind.startswith("argument") else []
        return Tests((*of_calls, *paths), found.ids | found.files | set(of_calls), but)


def named_tests(path: str) -> list[str]:
    """The tests for a file, those of its own folder first, then by the steps of imports to it: they fail soonest.

    Of JavaScript those that run it: of its page's scripts, then in the browser.
    """
    own = mirrored(path)
    if path.endswith(".js"):
        page = path.split("/")[1].removesuffix(".js")
        scripts = sorted(f"{own}/{file.name}" for file in (ROOT / own).glob("test_*_script*.py")) if own else []
        browser = f"tests/browser/test_{page}_in_browser.py"
        return [*scripts, browser if (ROOT / browser).exists() else "tests/browser"]
    steps = steps_to(path)
    found = [name for name in affected([path]) if name not in (own, *OF_ALL_FILES)]
    return [*([own] if own else []), *sorted(found, key=lambda name: steps.get(name, len(steps)))]


@cache
def _importers() -> dict[str, set[str]]:
    return importers(import_graph(ROOT))


def steps_to(path: str) -> dict[str, int]:
    """Over how many imports each file reaches a module; those that do not are missing."""
    seen, waiting = {module_of(path): 0}, [module_of(path)]
    for name in waiting:
        further = sorted(_importers().get(name, set()) - set(seen))
        seen |= dict.fromkeys(further, seen[name] + 1)
        waiting += further
    return {path_of(name): n for name, n in seen.items()}


def room(path: str) -> str:
    """The folder that a change counts for."""
    return "/".join(path.split("/")[:2])


if __name__ == "__main__":
    sys.exit(main())
