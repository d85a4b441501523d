"""Garbage of pages: collected at intervals, and what lives on is left out between. Busy threads take short turns."""

from __future__ import annotations

import asyncio
import gc
import sys
import tomllib
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.serving.thread_turns import SWITCH_SECONDS, collect, collect_at_intervals, take_short_turns
from tests.waiting import finished

ROOT = Path(__file__).parents[3]


class Node:
    """An object that holds itself."""

    def __init__(self) -> None:
        self.own = self


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """What was imported is left out of collections again afterwards, as it was before."""
    yield
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def test_what_has_ended_goes_also_when_it_was_left_out_before() -> None:
    node = Node()
    collect()
    assert gc.get_freeze_count() > 10_000
    gone = weakref.ref(node)
    del node
    gc.collect()
    assert gone() is not None  # left out until the next call
    collect()
    assert gone() is None


def test_it_goes_on_for_as_long_as_the_server_is_up() -> None:
    async def collected() -> int:
        task = asyncio.create_task(collect_at_intervals(0.01))
        references = []
        for _ in range(3):
            references.append(weakref.ref(Node()))
            while references[-1]() is not None:
                await asyncio.sleep(0.01)
        task.cancel()
        return len(references)

    assert finished(collected()) == 3


def test_streamlit_does_not_collect_after_every_drawing() -> None:
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    assert config["runner"]["postScriptGC"] is False


def test_busy_threads_let_go_of_the_interpreter_soon() -> None:
    before = sys.getswitchinterval()
    try:
        take_short_turns()
        assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS)
    finally:
        sys.setswitchinterval(before)
