"""What a worker process computes in the tests of `engine.inference.local.workers`, in place of models."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
import types
from multiprocessing import connection
from pathlib import Path
from typing import Any

from engine.errors import BadRow, InputError, ModelError


class AwkwardError(Exception):
    """An error that cannot be unpickled: it needs two arguments and stores one."""

    def __init__(self, first: str, second: str) -> None:
        """Both are needed."""
        super().__init__(first)


def run_chunk(operation: str, request: dict[str, Any]) -> list[Any]:
    """Apply the behaviour named by `operation` to each item of the request."""
    return [BEHAVIOURS[operation](item) for item in request["items"]]


def prepare_chunk(operation: str, request: dict[str, Any]) -> None:
    """Create a file for each item that is prepared; die or panic in the preparation of what does."""
    for item in request["items"]:
        if operation == "die prepared":
            _die(item)
        if operation == "panic prepared":
            Path(item).with_suffix(".prepared").touch()
            raise SystemExit(3)  # as a panic of a library, this is no Exception
        if operation in ("wait for", "answer slowly"):
            Path(item).with_suffix(".prepared").touch()


class _SlowAnswer:
    """Pickled only once a file exists."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (_wait_for(self.path),)


def _raise(item: str) -> None:
    raise {
        "input": InputError("Two rows are bad.", [BadRow(3, "empty"), BadRow(5, "empty")]),
        "model": ModelError("There is no such model."),
        "bug": ZeroDivisionError("by zero"),
        "awkward": AwkwardError("one", "two"),
        "memory": MemoryError("17 GB"),
    }[item]


def _die(item: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _die_once(marker: str) -> str:
    """Die the first time, answer the second."""
    if Path(marker).exists():
        return "second"
    Path(marker).touch()
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


def _die_while_answering(marker: str) -> bytes:
    """The first time, die after writing half of a large answer."""
    if not Path(marker).exists():
        Path(marker).touch()

        def send_half(self: Any, data: Any, write: Any = os.write) -> None:
            os.write(self.fileno(), bytes(data)[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)

        connection.Connection._send = send_half  # type: ignore[attr-defined, method-assign]
    return b"x" * 100_000


def _wait_for(path: str) -> str:
    """Wait until a file exists, half a minute at most."""
    Path(path).with_suffix(".begun").touch()
    deadline = time.monotonic() + 30
    while not Path(path).exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return path


def _leave_a_mark(path: str) -> None:
    """Create a file when the process exits normally."""
    atexit.register(Path(path).touch)


def _hold(model: dict[str, Any]) -> None:
    """Report a model as loaded from now on."""
    held = sys.modules.setdefault("engine.models.worker", types.ModuleType("engine.models.worker"))
    models = [*getattr(held, "models", []), model]
    held.__dict__.update(models=models, models_in_memory=lambda: models)


BEHAVIOURS: dict[str, Any] = {
    "echo": lambda item: item,
    "panic prepared": lambda item: item,
    "sleep": time.sleep,
    "pid": lambda item: os.getpid(),
    "environment": lambda name: os.environ.get(name),
    "modules": lambda item: sorted(sys.modules),
    "exit": lambda code: os._exit(code),
    "unpicklable": lambda item: lambda: item,
    "raise": _raise,
    "die": _die,
    "die once": _die_once,
    "die while answering": _die_while_answering,
    "wait for": _wait_for,
    "leave a mark": _leave_a_mark,
    "hold": _hold,
    "die prepared": _die,
    "answer slowly": _SlowAnswer,
}
