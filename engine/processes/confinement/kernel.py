"""What the confinement asks of the kernel, by ctypes: system calls by number, and whether this system can confine at all."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from functools import cache
from typing import Any

from engine.messages.message import Message, list_of
from engine.processes.confinement.system_calls import ARCHITECTURES, number

_VERSION_FLAG = 1  # LANDLOCK_CREATE_RULESET_VERSION
_ACTION_AVAILABLE = 2  # SECCOMP_GET_ACTION_AVAIL
_RETURN_ERRNO = 0x00050000  # SECCOMP_RET_ERRNO


def architecture() -> str:
    """The architecture of this machine as `system_calls` names it, "" for another one."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    return machine if machine in ARCHITECTURES and sys.maxsize > 2**32 else ""


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> int:
    """Make one of the NAMED system calls. Raises OSError where the kernel refuses."""
    wide = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = int(_libc().syscall(ctypes.c_long(number(name, architecture())), *wide))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def control(option: int, value: int) -> None:
    """prctl(option, value, 0, 0, 0). Raises OSError."""
    if _libc().prctl(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"prctl {option}: {os.strerror(code)}")


def landlock_version() -> int:
    """The version of Landlock's interface, 0 where the kernel has none or it is switched off."""
    try:
        return call("landlock_create_ruleset", None, 0, _VERSION_FLAG)
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
            return 0
        raise


def missing() -> Message | None:
    """Why no process can be confined on this system; None where it can."""
    if sys.platform != "linux":
        return Message("this system is not Linux")
    if not architecture():
        return Message("the processor is none of {known}", known=list_of(ARCHITECTURES))
    if not landlock_version():
        return Message("its kernel has no Landlock, or has it switched off")
    try:
        call("seccomp", _ACTION_AVAILABLE, 0, ctypes.byref(ctypes.c_uint32(_RETURN_ERRNO)))
    except OSError:
        return Message("its kernel has no filters of system calls (seccomp)")
    return None
