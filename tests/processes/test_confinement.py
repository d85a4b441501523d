"""The confinement of a process: its filter for both architectures by hand, and that it fails closed where a wall is missing."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.processes.confinement import call_filter, kernel
from engine.processes.confinement.system_calls import (
    ARCHITECTURES,
    AUDIT,
    LAST,
    NAMED,
    REFUSED,
    number,
    refused_numbers,
)

ROOT = Path(__file__).parents[2]
OWN, OTHER = 4242, 4243
ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSE, UNKNOWN = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def decision(name: str, call: int, *arguments: int, architecture: int | None = None) -> int:
    """What the filter decides of a call, by an interpreter of its instructions."""
    words = {0: call, 4: AUDIT[name] if architecture is None else architecture}
    for index, argument in enumerate(arguments):
        words |= {16 + 8 * index: argument & 0xFFFFFFFF, 20 + 8 * index: argument >> 32 & 0xFFFFFFFF}
    program, place, loaded = call_filter._program(name, OWN), 0, 0
    while True:
        code, if_true, if_false, operand = program[place]
        place += 1
        if code == 0x06:
            return operand
        if code == 0x20:
            loaded = words.get(operand, 0)
            continue
        holds = {0x15: loaded == operand, 0x25: loaded > operand, 0x45: bool(loaded & operand)}[code]
        place += if_true if holds else if_false


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_filter_of_each_architecture(name: str) -> None:
    assert {decision(name, call) for call in refused_numbers(name)} == {REFUSE}
    computing = {
        "x86_64": (0, 1, 9, 11, 202, 257),
        "aarch64": (63, 64, 222, 215, 98, 56),
    }  # read, write, mmap, … openat
    assert {decision(name, call) for call in computing[name]} == {ALLOW}
    assert (
        decision(name, LAST + 1) == decision(name, 0x40000000 + 41) == decision(name, number("clone3", name)) == UNKNOWN
    )
    assert decision(name, computing[name][0], architecture=0x40000003) == KILL  # 32 bits
    clone = number("clone", name)
    assert decision(name, clone, 0x003D0F00) == ALLOW  # what the C library makes a thread with
    assert decision(name, clone, 17) == decision(name, clone, 0x10000000) == REFUSE
    for signal in ("kill", "tgkill"):
        assert decision(name, number(signal, name), OWN, 6) == ALLOW
        assert {decision(name, number(signal, name), pid, 9) for pid in (OTHER, 0, 2**32 - 1)} == {REFUSE}
    limit = number("prlimit64", name)
    assert decision(name, limit, 0, 9, 0) == ALLOW
    assert decision(name, limit, 0, 9, 2**33) == decision(name, limit, 0, 9, 16) == REFUSE
    control, files = number("prctl", name), number("fcntl", name)
    assert decision(name, control, 15) == decision(name, files, 3, 1) == ALLOW  # a thread's name, flags of a file
    assert decision(name, control, 1) == decision(name, control, 4) == decision(name, files, 3, 8) == REFUSE


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_numbers_are_those_of_the_system(name: str) -> None:
    if not HEADERS[name].is_file():
        pytest.skip("the headers of the system are not installed")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", HEADERS[name].read_text())
    by_name = {call: int(value) for call, value in found}
    which = ARCHITECTURES.index(name)
    assert {call: numbers[which] for call, numbers in {**NAMED, **REFUSED}.items()} == {
        call: by_name.get(call) for call in {**NAMED, **REFUSED}
    }


CODE = """
import os, sys, threading
from pathlib import Path
from engine.processes.confinement import confine
readable = [Path(sys.prefix), Path(sys.base_prefix), Path("/usr"), Path("/lib"), Path("/lib64"), Path({root!r}) / "engine"]
try:
{before}
    confine.give_up_files([Path(os.path.realpath(path)) for path in readable], Path({own!r}))
    confine.give_up_calls(2**30)
except OSError as error:
    print("refused:", error)
print(confine.is_confined())
{after}
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[object]:
    if missing := kernel.missing():
        pytest.skip(str(missing))

    def in_a_process(before: str = "pass", after: str = "") -> str:
        code = CODE.format(before=f"    {before}", after=after, own=str(tmp_path), root=str(ROOT))
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    yield in_a_process


def test_a_process_is_confined_once_both_steps_are_done(run: object) -> None:
    threads = "t = threading.Thread(target=lambda: print(sum(range(10)))); t.start(); t.join()"
    assert run(after=threads) == "True\n45\n"  # type: ignore[operator]


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("confine.restrict_files = lambda *_: None", "did not refuse listing /"),
        ("confine.filter_calls = lambda: None", "did not refuse a socket"),
        ("threading.Thread(target=threading.Event().wait, daemon=True).start()", "There are threads already"),
        ("confine.give_up_files = lambda *_: None", "files were not given up before the calls"),
    ],
)
def test_a_missing_wall_is_noticed(before: str, words: str, run: object) -> None:
    told = run(before)  # type: ignore[operator]
    assert words in told and told.endswith("False\n")


def test_another_system_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert kernel.missing() == "this system is not Linux"
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert kernel.missing() == "the processor is none of x86_64, aarch64"
