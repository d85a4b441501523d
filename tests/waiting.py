"""Waiting for what other processes and threads do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

# What a test waits for comes at once on an idle machine; on a busy one nothing is learnt from the time it took.
SECONDS = 500


def wait_until(condition: Callable[[], object], seconds: float = SECONDS) -> None:
    """Return as soon as the condition holds; fail when it does not come to."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, run in a thread of its own: a browser's test leaves a loop running in the main one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result(SECONDS)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended but was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def seconds(work: Callable[[], object]) -> float:
    """The seconds of the processor that a call takes, whatever else the machine does."""
    begin = time.process_time()
    work()
    return time.process_time() - begin
