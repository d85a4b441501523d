"""Points of the code changed one at a time: `python -m tests.mutants --mutants 400 --seed 20261127`.

Each change is made in a copy of the checkout, where the tests that the graph of imports names for its file are run, the
nearest first, until one fails or their time ends. What no test fails for is listed: a fault there would reach a user, or
the change changes nothing.
Exit 1 when a smaller share than --share was noticed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from queue import SimpleQueue

from tests.affected import OF_ALL_FILES, ROOT, affected, import_graph, importers, mirrored, module_of, path_of
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
SECONDS = 240.0  # that the tests of one change may take
SECONDS_OF_ONE = 100  # of which a test may take so many: a loop without an end is noticed
NOTICED, NOT_NOTICED, NOT_IN_TIME = "noticed", "not noticed", "not noticed in time"
NOT_COPIED = ("__pycache__", ".git", ".venv*", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".hakari")


def main() -> int:
    """Draw changes, try each, print a line for each and a table by room."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--mutants", type=int, default=400, help="changes that are drawn (default: 400)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw; a date is one that nobody chose")
    parser.add_argument(
        "--files", action="append", metavar="PATTERN", help="instead of the usual rooms; may be repeated"
    )
    parser.add_argument("--jobs", type=int, default=1, help="copies of the checkout that are tried at once")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="that the tests of one change may take")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no change is tried later")
    parser.add_argument("--share", type=float, default=0.97, help="of the changes that must be noticed")
    options = parser.parse_args()
    chosen = drawn(options.files or ROOMS, options.mutants, options.seed)
    end = time.monotonic() + 60 * options.minutes
    noticed, survived = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="hakari-mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.jobs):
            copies.put(copied(Path(folder) / str(number)))

        def tried(mutant: Mutant) -> tuple[Mutant, str | None]:
            if time.monotonic() > end:
                return mutant, None
            copy = copies.get()
            try:
                return mutant, outcome(copy, mutant, named_tests(mutant.path), options.seconds)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(options.jobs) as pool:
            for mutant, found in pool.map(tried, chosen):
                if found is None:
                    continue
                (noticed if found == NOTICED else survived)[room(mutant.path)] += 1
                source = (ROOT / mutant.path).read_text(encoding="utf-8")
                print(f"{found}: {mutant.described(source)}", flush=True)
    n_noticed, n = noticed.total(), noticed.total() + survived.total()
    for name in sorted({*noticed, *survived}):
        print(f"{name}: {noticed[name]} of {noticed[name] + survived[name]}")
    print(
        f"Noticed: {n_noticed} of {n} ({n_noticed / max(1, n):.1%}); seed {options.seed}, {len(chosen) - n} not tried."
    )
    return int(n_noticed < options.share * n)


def drawn(patterns: Iterable[str], n: int, seed: int) -> list[Mutant]:
    """`n` changes, at random among all that there are in the files of these patterns; fewer where there are fewer."""
    paths = sorted({path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(pattern)})
    every = [mutant for path in paths for mutant in mutants(path, (ROOT / path).read_text(encoding="utf-8"))]
    return random.Random(seed).sample(every, min(n, len(every)))


def copied(folder: Path) -> Path:
    """A copy of the checkout, with its environment by a link."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
    (folder / ".venv").symlink_to(Path(sys.prefix))
    return folder


def named_tests(path: str) -> list[str]:
    """The tests for a file, those of its own folder first, then by the steps of imports to it: they fail soonest."""
    if path.endswith(".js"):
        page = path.split("/")[1]
        return [name for name in (mirrored(path), f"tests/browser/test_{page}_in_browser.py") if (ROOT / name).exists()]
    own, steps = mirrored(path), steps_to(path)
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


def outcome(copy: Path, mutant: Mutant, tests: Sequence[str], seconds: float = SECONDS) -> str:
    """What the tests say of a change: NOTICED, NOT_NOTICED or, where they take longer, NOT_IN_TIME; the copy is as before
    then."""
    file = copy / mutant.path
    source = file.read_text(encoding="utf-8")
    file.write_text(mutant.applied(source), encoding="utf-8")
    limit = f"--timeout={SECONDS_OF_ONE}"
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", limit, "-m", "not nightly", *tests]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "CI": "true"}
    try:
        code = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=seconds).returncode
    except subprocess.TimeoutExpired:
        return NOT_IN_TIME
    finally:
        file.write_text(source, encoding="utf-8")
    return NOTICED if code else NOT_NOTICED


def room(path: str) -> str:
    """The folder that a change counts for."""
    return "/".join(path.split("/")[:2])


if __name__ == "__main__":
    sys.exit(main())
