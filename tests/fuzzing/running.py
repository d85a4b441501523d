"""Carries out cases in processes of their own, each case within bounds on time and memory."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from engine.datasets.reader_child import bound_memory
from engine.errors import EngineError
from tests.fuzzing.targets import TARGETS, prepare

SECONDS = 10.0
MEMORY_BYTES = 512 * 2**20
BATCH = 500  # cases of a process


class TooSlow(BaseException):
    """The time of a case is over; no `except Exception` catches it."""


@dataclass
class Outcome:
    """What came of the cases of a target: `findings` are (number of the case, what is wrong)."""

    target: str
    n_cases: int = 0
    n_read: int = 0  # the others were refused in words
    slowest_seconds: float = 0.0
    peak_bytes: int = 0  # by which the process grew
    findings: list[tuple[int, str]] = field(default_factory=list)


def run(n_cases: int, seed: int, targets: Sequence[str] = tuple(TARGETS)) -> list[Outcome]:
    """`n_cases` cases, as many of each target, drawn by a seed."""
    share, rest = divmod(n_cases, len(targets))
    return [_of_target(target, range(share + (index < rest)), seed) for index, target in enumerate(targets)]


def case(target: str, number: int, seed: int) -> None:
    """One case again; raises what it found."""
    TARGETS[target](Random(f"{seed}/{target}/{number}"))


def _of_target(target: str, numbers: range, seed: int) -> Outcome:
    total = Outcome(target)
    for start in range(0, len(numbers), BATCH):
        outcome = _in_process(target, numbers[start : start + BATCH], seed)
        total.n_cases += outcome.n_cases
        total.n_read += outcome.n_read
        total.slowest_seconds = max(total.slowest_seconds, outcome.slowest_seconds)
        total.peak_bytes = max(total.peak_bytes, outcome.peak_bytes)
        total.findings += outcome.findings
    return total


def _in_process(target: str, numbers: range, seed: int) -> Outcome:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    current = context.Value("q", -1)
    process = context.Process(target=_batch, args=(sender, current, target, numbers, seed), daemon=True)
    process.start()
    sender.close()
    try:
        return receiver.recv()  # type: ignore[no-any-return]
    except EOFError:
        process.join()
        return Outcome(
            target, len(numbers), findings=[(current.value, f"the process ended with exit code {process.exitcode}")]
        )
    finally:
        process.join()


def _batch(sender: Any, current: Any, target: str, numbers: range, seed: int) -> None:
    def stop(*_: object) -> None:
        raise TooSlow

    signal.signal(signal.SIGALRM, stop)
    bound_memory(MEMORY_BYTES)
    prepare()
    before = _peak_bytes()
    outcome = Outcome(target)
    for number in numbers:
        current.value = number
        outcome.n_cases += 1
        begun = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            case(target, number, seed)
            outcome.n_read += 1
        except EngineError as error:
            if not str(error).strip():
                outcome.findings.append((number, f"{type(error).__name__} without a word"))
        except TooSlow:
            outcome.findings.append((number, f"longer than {SECONDS:.0f} seconds"))
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            outcome.findings.append(
                (
                    number,
                    f"{type(error).__name__}: {str(error)[:300]} ({where.name}, "
                    f"{where.filename.rpartition('/')[2]}:{where.lineno})",
                )
            )
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        outcome.slowest_seconds = max(outcome.slowest_seconds, time.monotonic() - begun)
    outcome.peak_bytes = _peak_bytes() - before
    sender.send(outcome)


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
