"""Waiting for what other processes and threads do."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

# What a test waits for comes at once on an idle machine; on a busy one nothing is learnt from the time it took.
SECONDS = 500


def wait_until(condition: Callable[[], object], seconds: float = SECONDS) -> None:
    """Return as soon as the condition holds; fail when it does not come to."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended but was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
