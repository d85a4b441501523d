"""`python -m tests.affected [COMMIT]` prints the tests of what was changed since a commit; HEAD by default.

By the graph of imports, which is read from the files: a test belongs to what it imports, over any number of steps, but
not through a module that imports nearly all of Hakari (the catalogue of evaluations, the opened engine, the commands):
every test would belong to everything. Beside these: the tests in the folder that mirrors the changed one, those of the
page and the command of an evaluation that is reached, because tests open pages by their addresses, and what looks at
all files alike. A landing needs `make landing`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("engine", "dashboard", "docs", "tests")
HUB_SHARE = 0.3  # of the engine's modules: what imports more, over any number of steps, is a way to everything
SHARED_BY_TESTS = ("tests.support.", "tests.stored_runs.", "tests.benchmarks.")
OF_ALL_FILES = ("tests/test_architecture.py", "tests/test_layers.py", "tests/messages/test_translations.py")
EVERYTHING = ("pyproject.toml", "Makefile", "requirements.txt", "tests/requirements.txt", "tests/conftest.py")


def main() -> int:
    """Print the paths of the tests, or that they are all."""
    changed = changed_files(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
    if not changed:
        print("Nothing was changed.", file=sys.stderr)
        return 1
    tests = affected(changed)
    print(f"{len(changed)} changed files, {len(tests)} files of tests", file=sys.stderr)
    print(*tests)
    return 0


def changed_files(since: str) -> list[str]:
    """What differs from a commit, and what git does not know yet, as paths from the root."""
    commands = (["git", "diff", "--name-only", since], ["git", "ls-files", "--others", "--exclude-standard"])
    found = [
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
        for command in commands
    ]
    return sorted({path for paths in found for path in paths})


def affected(changed: Iterable[str]) -> list[str]:
    """The tests of changed files: files with tests and folders."""
    changed = sorted(changed)
    if set(changed) & set(EVERYTHING):
        return ["tests", "engine"]
    imports = import_graph(ROOT)
    names = {module_of(path): path for path in changed if path.endswith(".py")}
    reached = reached_from(names, importers(imports), hubs(imports))
    files = {path_of(name) for name in reached}
    tests = {path for path in files if is_test(path)} | {path for path in files if path.startswith("engine/")}
    tests |= {folder for path in changed if (folder := mirrored(path))}
    kinds = {path.split("/")[2] for path in files if path.startswith("engine/evaluations/") and path.count("/") > 2}
    tests |= {path for kind in kinds for path in (f"tests/dashboard/{kind}", f"tests/commands/test_{kind}.py")}
    tests |= {path for path in changed if is_test(path)} | set(OF_ALL_FILES)
    if any(path.endswith((".md", ".txt", ".toml")) for path in changed):
        tests.add("tests/test_documents.py")
    kept = sorted(path for path in tests if (ROOT / path).exists())
    return [path for path in kept if not any(path.startswith(f"{other}/") for other in kept)]


def import_graph(root: Path) -> dict[str, set[str]]:
    """Module -> the modules of Hakari that it imports, wherever in the file."""
    files = [path.relative_to(root).as_posix() for package in PACKAGES for path in (root / package).rglob("*.py")]
    modules = {module_of(path) for path in files}
    return {module_of(path): imported(root / path) & modules - {module_of(path)} for path in files}


def imported(path: Path) -> set[str]:
    """The names that a file imports; of `from a import b` both a and a.b, which may be a module."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def hubs(imports: Mapping[str, set[str]]) -> set[str]:
    """The modules that import nearly everything, and what tests of every kind begin with: fakes and opened pages."""
    n_engine = sum(name.startswith("engine.") for name in imports)
    code = [name for name in imports if not name.startswith("tests.")]
    return {name for name in imports if name.startswith(SHARED_BY_TESTS)} | {
        name
        for name in code
        if sum(other.startswith("engine.") for other in reached_from([name], imports)) > HUB_SHARE * n_engine
    }


def reached_from(names: Iterable[str], edges: Mapping[str, set[str]], closed: Iterable[str] = ()) -> set[str]:
    """Some modules and those that their edges lead to, over any number of steps, but not through one that is closed."""
    seen, waiting, shut = set(names), list(names), set(closed) - set(names)
    while waiting:
        name = waiting.pop()
        further = set() if name in shut else edges.get(name, set()) - seen
        seen |= further
        waiting += further
    return seen


def importers(imports: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The graph the other way: module -> the modules that import it."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, others in imports.items():
        for other in others:
            found[other].add(name)
    return dict(found)


def mirrored(path: str) -> str:
    """The folder of the tests of a folder: that of dashboard/clusters is tests/dashboard/clusters; "" for none."""
    package, *rest = path.split("/")[:-1] or [""]
    if package not in ("engine", "dashboard") or not rest:
        return ""
    folder = Path("tests", *(["dashboard"] if package == "dashboard" else []), *rest)
    while len(folder.parts) > 2 and not (ROOT / folder).is_dir():
        folder = folder.parent
    return folder.as_posix() if (ROOT / folder).is_dir() and folder.as_posix() != "tests/dashboard" else ""


def is_test(path: str) -> bool:
    """Whether a file holds tests."""
    return path.startswith("tests/") and Path(path).name.startswith("test_") and path.endswith(".py")


def module_of(path: str) -> str:
    """engine/runs/open.py is engine.runs.open, engine/runs/__init__.py engine.runs."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def path_of(module: str) -> str:
    """The file of a module."""
    path = module.replace(".", "/")
    return f"{path}/__init__.py" if (ROOT / path).is_dir() else f"{path}.py"


if __name__ == "__main__":
    sys.exit(main())
