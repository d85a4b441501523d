"""Who runs a run: which process, and whether it still lives.

Several processes may open one data directory (two servers, a server and a command). A run belongs to one of
them; the others take it over only when that one is dead. On the same machine this is certain: its
pid is gone, or belongs to a process that started at another time. A process of another machine, or of another
container, cannot be looked at: it counts as dead when it has not signed for `SILENCE_SECONDS`.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import psutil

from engine.inference.machine import machine

SIGN_SECONDS = 15.0
SILENCE_SECONDS = 90.0
START_TOLERANCE_SECONDS = 2.0  # psutil derives start times from the clock, which gets corrected


@dataclass(frozen=True)
class ProcessMark:
    """What tells one process from every other: `id` is drawn per opening, `started` is seconds since 1970."""

    id: str
    host: str
    pid: int
    started: float


def this_process() -> ProcessMark:
    """The mark of the running process, with an id of its own on every call."""
    return ProcessMark(secrets.token_hex(8), machine(), os.getpid(), psutil.Process().create_time())


def is_alive(mark: ProcessMark, last_signed: datetime, now: datetime) -> bool:
    """Whether the process of `mark`, which last signed at `last_signed`, still lives at `now`.

    A process that ended but was not yet collected by its parent (a zombie) is dead.
    """
    if mark.host != machine():
        return now - last_signed < timedelta(seconds=SILENCE_SECONDS)
    try:
        process = psutil.Process(mark.pid)
        return (process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
                and abs(process.create_time() - mark.started) < START_TOLERANCE_SECONDS)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # it exists, and is somebody else's: its start time decides where it can be read
        return True
