"""Freed memory is given back where the system has a way to do so."""

from __future__ import annotations

import ctypes
import platform
import re
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
from engine.processes.freed_memory import APART_BYTES, set_up_heaps
if sys.argv[1] == "shared":
    set_up_heaps()
library, together = ctypes.CDLL(None), threading.Barrier(9)
def allocate():
    library.malloc(1000)
    together.wait()  # all are there at once
for _ in range(8):
    threading.Thread(target=allocate).start()
together.wait()
library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
library.free(library.malloc(32 * 2**20 - 2**16))  # by default what is smaller is then kept in the heap
for _ in range(40):
    library.malloc(APART_BYTES)
library.malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are glibc's")
def test_threads_share_heaps_and_what_is_large_lies_outside_of_them() -> None:
    def arenas_and_regions(how: str) -> tuple[int, int]:
        command = [sys.executable, "-c", THREADS, how]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        regions = re.search(r"max mmap regions = +(\d+)", said)
        assert regions is not None
        return said.count("Arena "), int(regions[1])

    own, kept = arenas_and_regions("each its own")
    shared, outside = arenas_and_regions("shared")
    assert shared <= ARENAS < own and outside >= 40 > kept
