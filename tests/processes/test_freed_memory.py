"""Freed memory is given back where the system has a way to do so."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from engine.processes.freed_memory import give_back_freed_memory


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
