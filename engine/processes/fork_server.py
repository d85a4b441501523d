"""The server that processes are forked from: it has imported the libraries, so that a process starts in milliseconds.

There is one for each Python process (multiprocessing keeps it). Whoever starts it first decides what it has imported.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from multiprocessing import forkserver
from typing import Any

from engine.processes.import_path import leave_folders_of_packages, python_path


def forking_context(preload: Sequence[str]) -> Any:
    """The context of multiprocessing whose processes are forked from the server; spawned where a system has none.

    preload: the modules that the server imports, if it is not running yet; its imports go on beside.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    main_module = getattr(getattr(sys.modules["__main__"], "__spec__", None), "name", None)
    forkserver.set_forkserver_preload([*preload, *([main_module] if main_module else [])])
    leave_folders_of_packages()
    with _importable_engine():
        forkserver.ensure_running()
    return multiprocessing.get_context("forkserver")


@contextlib.contextmanager
def _importable_engine() -> Iterator[None]:
    """Let a Python that is started inside import this package, wherever it was started."""
    former = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = python_path(former)
    try:
        yield
    finally:
        if former is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = former
