"""A filter of system calls (seccomp): no network, no processes, no signals to others, no change of rights or bounds.

Source: Documentation/userspace-api/seccomp_filter.rst of Linux. A refused call fails with "Operation not permitted"; one
by another architecture's numbers ends the process.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from engine.processes.confinement.kernel import architecture, call
from engine.processes.confinement.system_calls import AUDIT, LAST, number, refused_numbers

# Instructions of the classic packet filter: load a word, jump if equal / greater / any of these bits, return.
_LOAD, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in what a filter is given
_CLONE_THREAD = 0x00010000
# Of fcntl: who gets signals of a file, and notices of what others do to one.
_FILE_SIGNALS = (8, 10, 15, 1024, 1026)  # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY
# Of prctl: dying with the parent, being readable for other processes, and naming one that may trace.
_OWN_LIFE = (1, 4, 0x59616D61)
_SET_FILTER, _ALL_THREADS = 1, 1

_Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


def filter_calls() -> None:
    """Filter the calls of this process, all of its threads, for good. Raises OSError."""
    program = b"".join(struct.pack("=HBBI", *instruction) for instruction in _program(architecture(), os.getpid()))
    code = ctypes.create_string_buffer(program, len(program))
    description = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(code)))
    if call("seccomp", _SET_FILTER, _ALL_THREADS, description):
        raise OSError(errno.EBUSY, "seccomp: a thread has a filter of its own")


def _program(name: str, own: int) -> list[_Instruction]:
    refuse: _Instruction = (_RETURN, 0, 0, _ERROR | errno.EPERM)
    unknown: _Instruction = (_RETURN, 0, 0, _ERROR | errno.ENOSYS)
    allow: _Instruction = (_RETURN, 0, 0, _ALLOW)

    def argument(index: int, half: int = 0) -> _Instruction:
        return (_LOAD, 0, 0, _ARGUMENTS + 8 * index + 4 * half)

    def any_of(values: tuple[int, ...]) -> list[_Instruction]:
        return [instruction for value in values for instruction in ((_EQUAL, 0, 1, value), refuse)]

    blocks: dict[str, list[_Instruction]] = {
        "clone": [argument(0), (_ANY_BIT, 1, 0, _CLONE_THREAD), refuse, allow],  # a thread, and no process
        "clone3": [unknown],  # its arguments cannot be looked at; the C library then takes clone
        **{each: [argument(0), (_EQUAL, 1, 0, own), refuse, allow] for each in ("kill", "tgkill")},
        "fcntl": [argument(1), *any_of(_FILE_SIGNALS), allow],
        "prctl": [argument(0), *any_of(_OWN_LIFE), allow],
        # Asking for a bound, not setting one: no pointer to a new one
        "prlimit64": [argument(2), (_EQUAL, 1, 0, 0), refuse, argument(2, 1), (_EQUAL, 1, 0, 0), refuse, allow],
    }
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, AUDIT[name]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_GREATER, 0, 1, LAST),
        unknown,
    ]
    for refused in refused_numbers(name):
        program += [(_EQUAL, 0, 1, refused), refuse]
    for named, block in blocks.items():
        program += [(_EQUAL, 0, len(block), number(named, name)), *block]
    return [*program, allow]
