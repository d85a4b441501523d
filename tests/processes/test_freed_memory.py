"""Freed memory is given back where the system has a way to do so."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
from typing import Any

import pytest

from engine.processes.freed_memory import ARENAS, give_back_freed_memory


def test_a_system_without_the_call_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def library(name: object) -> object:
        asked.append(name)
        return object()  # one that has no malloc_trim

    monkeypatch.setattr(ctypes, "CDLL", library)
    give_back_freed_memory()
    assert asked == [None]


def test_the_c_library_is_asked_for_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Library:
        kept: tuple[int, ...] = ()

        def malloc_trim(self, kept: int) -> int:
            Library.kept += (kept,)
            return 1

    monkeypatch.setattr(ctypes, "CDLL", lambda _: Library())
    give_back_freed_memory()
    assert Library.kept == (0,)


THREADS = """
import ctypes, sys, threading
from engine.processes.freed_memory import share_arenas
if sys.argv[1] == "shared":
    share_arenas()
library, together = ctypes.CDLL(None), threading.Barrier(9)
def allocate():
    library.malloc(1000)
    together.wait()  # all are there at once
for _ in range(8):
    threading.Thread(target=allocate).start()
together.wait()
library.malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are glibc's")
def test_threads_share_arenas() -> None:
    def arenas(how: str) -> int:
        command = [sys.executable, "-c", THREADS, how]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stderr.count("Arena ")

    assert arenas("shared") <= ARENAS < arenas("each its own")
