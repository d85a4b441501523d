"""A confined process of one model and one run, seen from outside: started, asked, watched, ended."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import psutil

from engine.errors import EngineError, ModelError, RunError, WorkerDied
from engine.inference.backend import Piece, Request
from engine.inference.own_code.answers import ERROR, LARGEST_ANSWER, READY, unpacked
from engine.inference.own_code.checked_facts import checked_facts
from engine.inference.own_code.setup import Setup
from engine.inference.own_code.surroundings import readable_paths, scrubbed_environment
from engine.messages.message import Message
from engine.models.sources.model_location import LocatedModel
from engine.models.sources.own_code.own_code import OwnCode
from engine.processes.confinement.kernel import missing
from engine.processes.deaths import cause, how_it_ended, out_of_memory_kills
from engine.processes.private_folders import private_folder

POLL_SECONDS = 0.5
SPARE_BYTES = 2 * 2**30  # beside the weights, which are in memory once and mapped once
LOGGED_CHARACTERS = 2_000  # of its error output, where it ends before it is ready
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Bounds:
    """What the process may take. seconds: for one chunk, loading included. threads: at once. folder_bytes, files: in its
    own folder."""

    seconds: float = 900.0
    threads: int = 64 + 8 * (os.cpu_count() or 1)
    folder_bytes: int = 64 * 2**20
    files: int = 1_000


class ConfinedProcess:
    """For use by one thread, which starts it, asks it and ends it; `kill` is for any thread."""

    def __init__(self, located: LocatedModel, own_code: OwnCode, protected: Sequence[Path], bounds: Bounds) -> None:
        """Start it and wait until it is confined and has imported the code.

        protected: directories that it must not be able to read. Raises ModelError where this system cannot confine it or
        the code cannot be imported, RunError and WorkerDied as `compute`.
        """
        if reason := missing():
            raise ModelError(
                Message(
                    "{name} needs code of its own, which is run in a confined process alone, and {reason}. Choose a model "
                    "in an architecture that transformers knows, or a machine with Linux 5.13 or newer.",
                    name=located.name,
                    reason=reason,
                )
            )
        self._located, self._own_code, self._bounds = located, own_code, bounds
        self._deadline: float | None = None
        self._stopped: Message | None = None
        self._is_ready = False
        self._kills_before = out_of_memory_kills()
        self._ended = threading.Event()
        self._home = private_folder()
        try:
            self._start(protected)
        except BaseException:
            self.end()
            raise

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def compute(self, operation: str, request: Request) -> list[Piece]:
        """The pieces of one chunk. Raises the EngineError that it answers with, RunError for an answer that is none, and
        WorkerDied where it ended; of an answer that cannot be read it is ended."""
        try:
            answer = self._asked((operation, request))
            pieces = unpacked(answer, operation, len(request["items"]))
        except RunError:
            self.kill()
            raise
        return [checked_facts(pieces[0], self._located, self._own_code)] if operation == "describe" else pieces

    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def kill(self, reason: Message | None = None) -> None:
        """Kill it; `reason` is what whoever waits for it is told."""
        self._stopped = self._stopped or reason
        self._process.kill()

    def end(self) -> None:
        """End it, whatever it does, and remove its folder."""
        self._ended.set()
        if hasattr(self, "_process"):
            self._process.kill()
            self._process.wait()
            self._requests.close()
            self._answers.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def _start(self, protected: Sequence[Path]) -> None:
        located, code, folder = self._located, self._home / "code", self._home / "own"
        code.mkdir()
        folder.mkdir()
        self._own_code.copy_to(code)
        readable = readable_paths(located, code, protected)
        environment = scrubbed_environment(located, folder, os.environ)
        (child_in, to_child), (from_child, child_out) = os.pipe(), os.pipe()
        self._requests = Connection(to_child, readable=False)
        self._answers = Connection(from_child, writable=False)
        try:
            with (self._home / "errors").open("wb") as errors:
                self._process = subprocess.Popen(
                    [
                        sys.executable,
                        "-P",
                        "-B",
                        "-m",
                        "engine.inference.own_code.child",
                        str(child_in),
                        str(child_out),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    pass_fds=(child_in, child_out),
                    env=environment,
                    cwd=folder,
                    start_new_session=True,
                )
        finally:
            os.close(child_in)
            os.close(child_out)
        threading.Thread(target=self._watch, args=(folder,), name="hakari-own-code-watch", daemon=True).start()
        setup = Setup(
            located.name,
            tuple(readable),
            folder,
            code,
            self._own_code.imported_names,
            located.weights_directory,
            memory_bytes(os.environ),
        )
        answer = self._asked(setup)
        if answer != READY:
            unpacked(answer if answer[:1] == ERROR else b"", "describe", 0)
        self._is_ready = True

    def _asked(self, message: object) -> bytes:
        self._deadline = time.monotonic() + self._bounds.seconds
        try:
            self._requests.send(message)
            return self._answers.recv_bytes(LARGEST_ANSWER)
        except (EOFError, OSError) as error:
            # More than LARGEST_ANSWER is an OSError, too
            raise self._death() from error
        finally:
            self._deadline = None

    def _death(self) -> EngineError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        code = self._process.poll()
        if code is None:
            return RunError(
                Message(
                    "The process of the own code of {name} gave an answer that is too large.", name=self._located.name
                )
            )
        ended = self._stopped or how_it_ended(code, cause(code, self._kills_before))
        if self._stopped is None and not self._is_ready:  # later it has read sentences, which no log may hold
            with contextlib.suppress(OSError):
                text = (self._home / "errors").read_bytes()[-LOGGED_CHARACTERS:].decode(errors="replace")
                logger.warning("The process of own code ended with %s: %r", code, text)
        return WorkerDied(
            Message("The process of the own code of {name} {ended}.", name=self._located.name, ended=ended)
        )

    def _watch(self, folder: Path) -> None:
        """End the process where it goes beyond its bounds, whatever the thread that asks it waits for."""
        while not self._ended.wait(POLL_SECONDS):
            deadline, bounds = self._deadline, self._bounds
            if deadline is not None and time.monotonic() > deadline:
                self.kill(
                    Message("took longer than {seconds:,.0f} seconds and was ended", seconds=self._bounds.seconds)
                )
            with contextlib.suppress(psutil.Error):
                if (n_threads := psutil.Process(self._process.pid).num_threads()) > bounds.threads:
                    self.kill(Message("had {n} threads and was ended", n=n_threads))
            n_files, n_bytes = _size(folder)
            if n_files > bounds.files or n_bytes > bounds.folder_bytes:
                self.kill(Message("wrote {n} files and was ended", n=n_files))


def memory_bytes(environment: Mapping[str, str]) -> int:
    """What a process may take beyond its libraries: by HAKARI_MODEL_MEMORY_GB, or half of the machine's memory."""
    with contextlib.suppress(ValueError):
        gigabytes = float(environment.get("HAKARI_MODEL_MEMORY_GB", ""))
        if gigabytes > 0:
            return int(2 * gigabytes * 2**30) + SPARE_BYTES
    return int(psutil.virtual_memory().total // 2)


def _size(folder: Path) -> tuple[int, int]:
    """The number of entries in a folder and below, and their bytes."""
    n_files = n_bytes = 0
    for parent, folders, files in os.walk(folder):
        n_files += len(folders) + len(files)
        for name in files:
            with contextlib.suppress(OSError):
                n_bytes += os.lstat(os.path.join(parent, name)).st_size
    return n_files, n_bytes
