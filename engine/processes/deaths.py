"""Why a process ended: whether memory ran out, somebody killed it, or it ended by what it did."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

from engine.messages.message import Message

OUT_OF_MEMORY, KILLED, BY_ITSELF = "out of memory", "killed", "by itself"
STARTER_ENDED = 255  # what multiprocessing says of a process whose fork server has ended
_COUNTERS = Path("/proc/vmstat")


def out_of_memory_kills() -> int | None:
    """How many processes Linux has killed because memory ran out, of this machine or of a group; None elsewhere."""
    with contextlib.suppress(OSError, ValueError):
        for line in _COUNTERS.read_text(encoding="ascii").splitlines():
            name, _, number = line.partition(" ")
            if name == "oom_kill":
                return int(number)
    return None


def cause(code: int | None, kills_before: int | None) -> str:
    """Why a process ended with this exit code (negative: by that signal).

    kills_before: `out_of_memory_kills` when it started. Where it is not known, SIGKILL is taken for a lack of memory.
    """
    if code == -signal.SIGKILL:
        return KILLED if kills_before is not None and kills_before == out_of_memory_kills() else OUT_OF_MEMORY
    # Nobody computes anything that ends in one of these
    return KILLED if code in (-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, STARTER_ENDED) else BY_ITSELF


def how_it_ended(code: int | None, why: str) -> Message:
    """The words for an exit code and its `cause`, after "the process"."""
    if code == STARTER_ENDED:
        return Message("ended together with the process that starts such processes")
    if code is None or code >= 0:
        return Message("ended with exit code {code}", code=code)
    names = {member.value: member.name for member in signal.Signals}
    name = names.get(-code, Message("signal {code}", code=-code))
    if why == OUT_OF_MEMORY:
        return Message("was ended by {name}, as the system does when memory runs out", name=name)
    if why == KILLED:
        return Message("was ended by {name} from outside; the system reports no lack of memory", name=name)
    return Message("was ended by {name}", name=name)
