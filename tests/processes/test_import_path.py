"""No folder of ours hides a library of that name: in a process that serves pages, and in each that it starts."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.datasets.reader_process import Reader
from engine.inference.local.worker_process import WorkerProcess
from engine.processes.import_path import PACKAGES, leave_folders_of_packages

OURS = tuple(sorted(path.name for package in PACKAGES for path in Path(package).iterdir()
                    if path.is_dir() and not path.name.startswith((".", "__"))))
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
    return [name for name, spec in specs.items() if spec is not None and any(
        str(place).startswith(PACKAGES) for place in (spec.origin, *(spec.submodule_search_locations or ())))]


def in_a_worker(operation: str, request: Any) -> list[Any]:
    return [{"hidden": hidden_names()}]


def in_a_reader(source: bytes) -> list[str]:
    return hidden_names()


def nothing_to_prepare(operation: str, request: Any) -> None:
    return None


def test_there_is_something_to_hide(path_of_a_page: None) -> None:
    assert "runs" in hidden_names() and "agreement" in hidden_names()
    leave_folders_of_packages()
    assert hidden_names() == []


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
