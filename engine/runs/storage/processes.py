"""The processes that own runs, and whether they are alive.

Several processes may open one data directory (two servers, a server and a command). A run is owned by one of them; the
others adopt it only when its owner is dead. On the same machine this is certain: the process id does not exist, or
belongs to a process with another start time. A process on another machine or in another container cannot be inspected:
it counts as dead when its last heartbeat is older than `HEARTBEAT_TIMEOUT_SECONDS`.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import psutil

from engine.inference.machine import machine

HEARTBEAT_SECONDS = 15.0  # between two heartbeats
HEARTBEAT_TIMEOUT_SECONDS = 90.0
START_TOLERANCE_SECONDS = 2.0  # psutil derives start times from the system clock, which may be adjusted


@dataclass(frozen=True)
class ProcessIdentity:
    """Identifies a process: `id` is random per opened store, `started` is in seconds since 1970."""

    id: str
    host: str
    pid: int
    started: float


def this_process() -> ProcessIdentity:
    """The identity of this process, with a new id on every call."""
    return ProcessIdentity(secrets.token_hex(8), machine(), os.getpid(), psutil.Process().create_time())


def is_alive(identity: ProcessIdentity, last_heartbeat: datetime, now: datetime) -> bool:
    """Whether the process is alive at `now`, given the time of its last heartbeat.

    A zombie (ended, but not yet reaped by its parent) counts as dead.
    """
    if identity.host != machine():
        return now - last_heartbeat < timedelta(seconds=HEARTBEAT_TIMEOUT_SECONDS)
    try:
        process = psutil.Process(identity.pid)
        return (process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
                and abs(process.create_time() - identity.started) < START_TOLERANCE_SECONDS)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # it exists but belongs to another user
        return True
