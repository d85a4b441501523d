"""The processes that own runs, and whether they are alive.

Several processes may open one data directory (two servers, a server and a command). A run is owned by one of them; the
others adopt it only when its owner is dead. On the same machine this is certain: the process id does not exist, or
belongs to a process with another start time, or the machine was started anew. A process on another machine or in
another container cannot be inspected: it counts as dead when its last heartbeat is further from now than
`HEARTBEAT_TIMEOUT_SECONDS`. One from the future was sent before the clock was turned back, and none since.

On Linux the start of a process is counted from that of the machine: a time of day would change with the clock, and a
living process then look like another.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import psutil

from engine.inference.machine import machine

HEARTBEAT_SECONDS = 15.0  # between two heartbeats
HEARTBEAT_TIMEOUT_SECONDS = 90.0
START_TOLERANCE_SECONDS = 2.0  # without /proc start times come from the system clock, which may be adjusted


@dataclass(frozen=True)
class ProcessIdentity:
    """Identifies a process: `id` is random per opened store.

    host: the machine and which start of it. started: in seconds since then; where the system has no name for a start of
    the machine, and in rows of earlier versions, host is the machine alone and started in seconds since 1970.
    """

    id: str
    host: str
    pid: int
    started: float


def this_process() -> ProcessIdentity:
    """The identity of this process, with a new id on every call."""
    boot = _boot()
    pid = os.getpid()
    if not boot:
        return ProcessIdentity(secrets.token_hex(8), machine(), pid, psutil.Process(pid).create_time())
    return ProcessIdentity(secrets.token_hex(8), f"{machine()}/{boot}", pid, started_after_boot(pid))


def started_after_boot(pid: int) -> float:
    """The start of a process in seconds after that of the machine, on Linux. psutil.NoSuchProcess where there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        raise psutil.NoSuchProcess(pid) from None
    ticks = stat.rpartition(")")[2].split()[19]  # field 22 of proc(5); the name in brackets may hold spaces
    return int(ticks) / os.sysconf("SC_CLK_TCK")


def is_alive(identity: ProcessIdentity, last_heartbeat: datetime, now: datetime) -> bool:
    """Whether the process is alive at `now`, given the time of its last heartbeat.

    A zombie (ended, but not yet reaped by its parent) counts as dead.
    """
    boot = _boot()
    is_here = identity.host == machine()
    if not is_here and not (boot and identity.host.startswith(f"{machine()}/")):
        return abs(now - last_heartbeat) < timedelta(seconds=HEARTBEAT_TIMEOUT_SECONDS)
    if not is_here and identity.host != f"{machine()}/{boot}":
        return False
    try:
        process = psutil.Process(identity.pid)
        started = process.create_time() if is_here else started_after_boot(identity.pid)
        return (
            process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
            and abs(started - identity.started) < START_TOLERANCE_SECONDS
        )
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # it exists but belongs to another user
        return True


def _boot() -> str:
    """What names the present start of this machine; "" where the system has no such name."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
