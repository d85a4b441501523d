"""Processes that tokenize with MeCab, Juman++ and other Python tokenizers, beside the process that computes.

A Rust tokenizer uses all cores by itself; a Python tokenizer one, and keeps the process that computes waiting. With
enough texts at once and cores to spare they are shared out to processes, each with the tokenizer loaded from its
directory. One that ends is replaced, and its texts are tokenized again once.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import select
import subprocess
import sys
import threading
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, BinaryIO
from weakref import WeakKeyDictionary

import psutil
from transformers import PreTrainedTokenizerBase

from engine.errors import EngineError, InputError, RunError
from engine.messages.message import Message
from engine.models.tokenization.offsets import Offsets, ProvidesOffsets, offsets_of_each
from engine.models.tokenization.tokenizer_loading import TokenizerSource, load_tokenizer, source_of

PROCESSES_VARIABLE = "HAKARI_TOKENIZERS"
WORKERS_VARIABLE = "HAKARI_WORKERS"
# Fewer texts are tokenized sooner than they are sent; on a processor a chunk never has so many for a larger model.
MIN_TEXTS = 256
MOST_PROCESSES = 8
MOST_TOKENIZERS = 4  # in the memory of a process
TRIES = 2
# With less memory free none is started: each takes some 250 MB.
LEAST_FREE_BYTES = 2 * 2**30
_Stamp = tuple[tuple[str, int, int], ...]  # name, size and time of each file of a tokenizer
_ROOT = Path(__file__).parents[3]
_CHILD = "from engine.models.tokenization.tokenizing_processes import serve; serve()"


def n_processes() -> int:
    """HAKARI_TOKENIZERS, or half of the cores shared by HAKARI_WORKERS workers, at most 8; none on fewer than 4 cores.

    Raises InputError when the variable is no whole number.
    """
    raw_value = os.environ.get(PROCESSES_VARIABLE, "").strip()
    if raw_value:
        if not raw_value.isdecimal():
            raise InputError(
                Message(
                    "{PROCESSES_VARIABLE} is a number of processes, 0 for none; got {raw_value!r}.",
                    PROCESSES_VARIABLE=PROCESSES_VARIABLE,
                    raw_value=raw_value,
                )
            )
        return int(raw_value)
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    n_workers = max(1, int(os.environ.get(WORKERS_VARIABLE) or 1))
    return min(MOST_PROCESSES, n_cores // (2 * n_workers)) if n_cores >= 4 else 0


class TokenizingProcesses:
    """At most `n` processes, started when there is work for them; thread-safe."""

    def __init__(self, n: int) -> None:
        """Nothing is started yet; with 0 processes nothing ever is."""
        self._n = n
        self._lock = threading.Lock()
        self._processes: list[_Process] = []
        self._threads = ThreadPoolExecutor(max(1, n), thread_name_prefix="hakari-tokenizing")
        self._stamps: WeakKeyDictionary[PreTrainedTokenizerBase, _Stamp] = WeakKeyDictionary()
        atexit.register(self.close)

    def offsets(
        self, tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], control: Collection[str] = ()
    ) -> list[Offsets] | None:
        """As `offsets_of_each`; None where this does not pay, or while the processes are starting.

        Raises what the tokenizer raises, and RunError when a process ends twice on the same texts.
        """
        pays = self._n and len(texts) >= MIN_TEXTS and (isinstance(tokenizer, ProvidesOffsets) or not tokenizer.is_fast)
        source = source_of(tokenizer) if pays else None
        if source is None or not self._are_ready():
            return None
        stamp = _stamp(source)
        # The processes read the files; a tokenizer whose files have changed since is read here as it is.
        if self._stamps.setdefault(tokenizer, stamp) != stamp:
            return None
        n_parts = min(self._n, -(-len(texts) // (MIN_TEXTS // 4)))
        parts = [texts[len(texts) * i // n_parts : len(texts) * (i + 1) // n_parts] for i in range(n_parts)]
        requests = [pickle.dumps((source, stamp, list(part), tuple(control))) for part in parts]
        answers = [
            self._threads.submit(self._answer, process, request)
            for process, request in zip(self._processes, requests, strict=False)
        ]
        wait(answers)  # also after an error: no process is left in the middle of an answer
        return [offsets for answer in answers for offsets in answer.result()]

    def pids(self) -> list[int]:
        """The process ids of those that run."""
        return [process.pid for process in self._processes]

    def close(self) -> None:
        """End all processes; more work starts new ones."""
        with self._lock:
            processes, self._processes = self._processes, []
        for process in processes:
            process.close()

    def _are_ready(self) -> bool:
        with self._lock:
            if not self._processes and psutil.virtual_memory().available < LEAST_FREE_BYTES:
                return False
            self._processes += [_Process() for _ in range(self._n - len(self._processes))]
            return all(process.is_ready() for process in self._processes)

    def _answer(self, process: _Process, request: bytes) -> list[Offsets]:
        for _ in range(TRIES):
            with process.lock, contextlib.suppress(EOFError, OSError, ValueError):  # ValueError: it was closed
                kind, value = process.answer(request)
                if kind == "error":
                    raise value
                return value  # type: ignore[no-any-return]
            process.restart()
        raise RunError(
            Message(
                "A process that tokenizes ended {TRIES} times on the same texts. Look for very long "
                "texts, or texts that MeCab or Juman++ cannot read; {PROCESSES_VARIABLE}=0 tokenizes "
                "without it.",
                TRIES=TRIES,
                PROCESSES_VARIABLE=PROCESSES_VARIABLE,
            )
        )


class _Process:
    """One process and the pipes to it: bytes of a request in, bytes of an answer out."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._is_ready = self._is_greeted = False
        self._is_closed, self._n_starts = False, 0
        self._start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_ready(self) -> bool:
        """Whether it has imported what it needs; without waiting."""
        if not self._is_ready and self._process.poll() is not None and self._n_starts < TRIES:
            self.end()
            self._start()
        if not self._is_ready and self._process.poll() is None and select.select([self._output], [], [], 0)[0]:
            self._is_ready = True
        return self._is_ready

    def answer(self, request: bytes) -> Any:
        """Send a request and wait for the answer. Raises EOFError or OSError when the process ends."""
        if not self._is_greeted:
            _read(self._output)
            self._is_greeted = self._is_ready = True
            self._n_starts = 0
        _write(self._input, request)
        return pickle.loads(_read(self._output))  # written by `serve` in a process of our own

    def restart(self) -> None:
        """Put another process in its place."""
        with self.lock:
            self.end()
            if not self._is_closed:
                self._start()

    def close(self) -> None:
        """End it for good."""
        self._is_closed = True
        self.end()

    def end(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._input, self._output):
            with contextlib.suppress(OSError):
                pipe.close()

    def _start(self) -> None:
        self._n_starts += 1
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT), *filter(None, sys.path)])}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        assert self._process.stdin is not None and self._process.stdout is not None  # they were asked for
        self._input: Any = self._process.stdin
        self._output: Any = self._process.stdout
        self._is_ready = self._is_greeted = False


def serve() -> None:
    """Main loop of a process: an answer for each request, until the other end of its standard input closes."""
    requests = sys.stdin.buffer
    # What a library prints must not stand between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    tokenizers: dict[tuple[TokenizerSource, _Stamp], PreTrainedTokenizerBase] = {}
    _write(answers, b"ready")
    while True:
        try:
            source, stamp, texts, control = pickle.loads(_read(requests))
        except EOFError:
            return
        message: tuple[str, Any]
        try:
            if (source, stamp) not in tokenizers:
                if len(tokenizers) == MOST_TOKENIZERS:
                    tokenizers.clear()
                tokenizers[source, stamp] = load_tokenizer(*source)
            message = ("offsets", offsets_of_each(tokenizers[source, stamp], texts, control=control))
        except EngineError as error:
            message = ("error", error)
        except Exception as error:
            message = ("error", RuntimeError(f"{type(error).__name__} in a process that tokenizes: {error}"))
        _write(answers, pickle.dumps(message, pickle.HIGHEST_PROTOCOL))


def _stamp(source: TokenizerSource) -> _Stamp:
    """What the files of a tokenizer are known by: name, size and time of each file beside its vocabulary."""
    folders = [path for path in (source.directory, source.config_directory) if path is not None]
    return tuple(
        (str(file), file.stat().st_size, file.stat().st_mtime_ns)
        for folder in folders
        for file in sorted(folder.iterdir())
        if file.is_file()
    )


def _write(pipe: BinaryIO, message: bytes) -> None:
    pipe.write(len(message).to_bytes(8, "little") + message)
    pipe.flush()


def _read(pipe: BinaryIO) -> bytes:
    """Raises EOFError when the other end closes before the end of a message."""
    header = pipe.read(8)
    message = pipe.read(int.from_bytes(header, "little")) if len(header) == 8 else b""
    if len(header) < 8 or len(message) < int.from_bytes(header, "little"):
        raise EOFError(Message("the process ended"))
    return message
