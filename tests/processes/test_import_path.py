"""No folder of ours hides a library of that name: in a process that serves pages, and in each that it starts."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.datasets.reader_process import Reader
from engine.inference.local.worker_process import WorkerProcess
from engine.processes.import_path import PACKAGES, leave_folders_of_packages

OURS = tuple(
    sorted(
        path.name
        for package in PACKAGES
        for path in Path(package).iterdir()
        if path.is_dir() and not path.name.startswith((".", "__"))
    )
)
# As Streamlit does it before the server's file, and again round each run of a page.
SERVER = """
import importlib, json, sys
from importlib.util import find_spec
sys.path[:0] = [{dashboard!r}]
sys.path[:0] = [{root!r}]
import streamlit
import dashboard.pages
from engine.processes.import_path import keep_folders_in_packages
keep_folders_in_packages()
sys.path.insert(0, {dashboard!r})
importlib.invalidate_caches()
def places(spec):
    return [str(place) for place in (spec.origin, *(spec.submodule_search_locations or ()))]
found = [name for name in {names!r} if (spec := find_spec(name))
         and any(place.startswith(({dashboard!r}, {engine!r})) for place in places(spec))]
submodules = ("dashboard.datasets.page", "engine.models.worker")
print(json.dumps([found, *(find_spec(name) is not None for name in submodules)]))
"""


@pytest.fixture
def path_of_a_page() -> Iterator[None]:
    """The path of this process while Streamlit runs a page."""
    before, hooks = list(sys.path), list(sys.path_hooks)
    sys.path[:0] = list(PACKAGES)
    # A page that another test has drawn in this process keeps its folders to itself.
    sys.path_hooks[:] = [hook for hook in hooks if not hook.__module__.startswith("engine.")]
    for package in PACKAGES:
        sys.path_importer_cache.pop(package, None)
    yield
    sys.path[:], sys.path_hooks[:] = before, hooks
    for package in PACKAGES:
        sys.path_importer_cache.pop(package, None)


def hidden_names() -> list[str]:
    """Our folders that are found by their plain names in this process."""
    specs = {name: importlib.util.find_spec(name) for name in OURS if name not in sys.modules}
    return [
        name
        for name, spec in specs.items()
        if spec is not None
        and any(str(place).startswith(PACKAGES) for place in (spec.origin, *(spec.submodule_search_locations or ())))
    ]


def in_a_worker(operation: str, request: Any) -> list[Any]:
    return [{"hidden": hidden_names()}]


def in_a_reader(source: bytes) -> list[str]:
    return hidden_names()


def nothing_to_prepare(operation: str, request: Any) -> None:
    return None


def test_there_is_something_to_hide() -> None:
    """In a process of its own, which has imported nothing by those names."""
    script = (
        f"import sys\nsys.path[:0] = {[str(Path(PACKAGES[0]).parent), *PACKAGES]!r}\n"
        "from engine.processes.import_path import leave_folders_of_packages\n"
        "from importlib.util import find_spec\n"
        "print(find_spec('runs') is not None, find_spec('agreement') is not None)\n"
        "leave_folders_of_packages()\n"
        "print(find_spec('runs') is not None, find_spec('agreement') is not None)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd="/")
    assert ended.stdout.split() == ["True", "True", "False", "False"]


def test_what_other_threads_do_to_the_path_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of another thread ends while folders are looked at: no entry is passed over and lost for good."""
    folder, libraries = PACKAGES[0], ["/libraries/one", "/libraries/two"]
    monkeypatch.setattr(sys, "path", ["/of a page", folder, *libraries])
    real = os.path.realpath

    def realpath(path: str) -> str:
        if "/of a page" in sys.path:
            sys.path.remove("/of a page")
        elif "/of another" not in sys.path:
            sys.path.insert(0, "/of another")
        return real(path)

    monkeypatch.setattr(os.path, "realpath", realpath)
    leave_folders_of_packages()
    assert sys.path == ["/of another", *libraries]


def test_the_process_that_serves_the_pages() -> None:
    dashboard, engine = PACKAGES
    script = SERVER.format(dashboard=dashboard, engine=engine, root=str(Path(dashboard).parent), names=OURS)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd="/")
    assert json.loads(ended.stdout.splitlines()[-1]) == [[], True, True]


def test_a_worker(path_of_a_page: None) -> None:
    worker = WorkerProcess("cpu", 1, in_a_worker, nothing_to_prepare)
    try:
        worker.send(0, "ask", None)
        worker.begin(0)
        assert worker.receive(0, lambda: None, lambda: None) == [{"hidden": []}]
    finally:
        worker.kill()


def test_a_reader(path_of_a_page: None) -> None:
    reader = Reader(in_a_reader, b" " * 2_000_000)
    while not reader.wait(10):
        pass
    assert reader.result() == []
