"""Pretraining as jobs of an instance: each a folder of its own and, while it runs, a process of its own.

    pretrained/<job id>/job.json      who started it, with which settings, on which files
                        status.json   the step that it has come to, its last message, why it was refused
                        pid, lock     of its process, which holds the lock as long as it lives
                        corpus/       the uploaded texts, until the model is done
                        model/<name>  the model; its work and checkpoints until then

What the folder holds is all that is known of a job, so that a server that is started anew knows its jobs. A job that
was stopped resumes from its last checkpoint. Of one that is refused nothing stays but the reason.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from engine.datasets.corpora.corpus_files import keep_corpus
from engine.errors import EngineError, InputError, RunError, reason_of
from engine.messages.earlier_texts import read_message
from engine.messages.message import Message, as_text
from engine.models.pretraining.settings import Settings
from engine.processes.import_path import ROOT
from engine.runs.storage.disk import full_disk_explained

FOLDER = "pretrained"
JOB, STATUS, PID, LOCK, LOG, CORPUS, MODEL = "job.json", "status.json", "pid", "lock", "log.txt", "corpus", "model"
STOP_SECONDS = 5.0  # for a process to end by itself
POLL_SECONDS = 0.05

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Job:
    """A job as its folder describes it.

    state: "running", "stopped" (it can go on), "done" or "refused". step: of `steps`; message: the last line that it
    reported, in English; problem: why it was refused.
    """

    id: str
    name: str
    owner: str
    created: datetime
    settings: Settings
    corpus: tuple[str, ...]
    state: str
    step: int
    message: str
    problem: str
    folder: Path

    @property
    def model(self) -> Path:
        """The directory of the model, whole once the job is done."""
        return self.folder / MODEL / self.name


class PretrainingJobs:
    """The jobs in a data directory. Thread-safe; `most_running`: how many may run at once, 0 for none at all."""

    def __init__(self, data_dir: Path, most_running: int) -> None:
        self.folder = data_dir / FOLDER
        self.most_running = most_running
        self._lock = threading.Lock()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}  # those that were started here

    def start(
        self,
        owner: str,
        name: str,
        settings: Settings,
        uploads: Sequence[tuple[str, IO[bytes]]],
        room: Callable[[int], None],
    ) -> str:
        """Write the texts of a new job and start it; returns its id.

        room: called with the bytes that the job will take at most; it raises what refuses them. Raises InputError for a
        name, settings or texts that cannot be, RunError where too many jobs run. Nothing is written before all of this.
        """
        if not _NAME.fullmatch(name):
            raise InputError(
                Message(
                    "A pretrained model needs a name of 1 to 40 letters, digits, hyphens, dots and "
                    "underscores; got {name!r}.",
                    name=name,
                )
            )
        settings.check()
        if not uploads:
            raise InputError(Message("There is no text to train on yet: upload a file."))
        with self._lock:
            self._require_turn()
            room(most_bytes(settings, sum(_size(content) for _, content in uploads)))
            job_id = secrets.token_hex(8)
            folder = self.folder / job_id
            try:
                with full_disk_explained(self.folder):
                    folder.mkdir(mode=0o700, parents=True)
                    corpus = keep_corpus(uploads, folder / CORPUS, name)
                    _write(
                        folder / JOB,
                        {
                            "name": name,
                            "owner": owner,
                            "created": datetime.now(UTC).isoformat(),
                            "settings": asdict(settings),
                            "corpus": [file.name for file in corpus.files],
                            "paths": [str(file.path.relative_to(folder)) for file in corpus.files],
                        },
                    )
                self._launch(job_id)
            except EngineError:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        return job_id

    def resume(self, job_id: str) -> None:
        """Let a stopped job go on from its last checkpoint. Raises RunError where it cannot, or too many jobs run."""
        with self._lock:
            if (job := self.get(job_id)) is None or job.state != "stopped":
                raise RunError(Message("Only a pretraining that was stopped can be resumed."))
            self._require_turn()
            self._launch(job_id)

    def cancel(self, job_id: str) -> None:
        """Stop the process of a job, if it runs; what it has kept is there to go on from."""
        folder = self.folder / job_id
        deadline = time.monotonic() + STOP_SECONDS
        while _is_held(folder / LOCK):
            late = time.monotonic() > deadline
            try:
                os.kill(int((folder / PID).read_text()), signal.SIGKILL if late else signal.SIGTERM)
            except (OSError, ValueError):  # it has just ended, or has not said its number yet
                if late:
                    return
            time.sleep(POLL_SECONDS)
        self._reap(job_id)

    def delete(self, job_id: str) -> None:
        """Stop a job and remove all of it, the model too."""
        self.cancel(job_id)
        shutil.rmtree(self.folder / job_id, ignore_errors=True)

    def get(self, job_id: str) -> Job | None:
        """A job by its id, None where there is none."""
        job = _read_job(self.folder / job_id) if _ID.fullmatch(job_id) else None
        if job is not None and job.state != "running":
            self._reap(job_id)
        return job

    def list(self, owners: Collection[str] | None = None) -> list[Job]:
        """The jobs of these owners, of all by default, the newest first."""
        folders = self.folder.iterdir() if self.folder.is_dir() else ()
        jobs = [job for folder in folders if (job := self.get(folder.name)) and (owners is None or job.owner in owners)]
        return sorted(jobs, key=lambda job: job.created, reverse=True)

    def close(self) -> None:
        """Stop the jobs that were started here; they can go on."""
        for job_id in list(self._processes):
            self.cancel(job_id)

    def _reap(self, job_id: str) -> None:
        """Take note that a process has ended, which is a zombie until then."""
        if (process := self._processes.pop(job_id, None)) is not None:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:  # it does not end; the next look asks again
                self._processes[job_id] = process

    def _require_turn(self) -> None:
        running = sum(job.state == "running" for job in self.list())
        if running >= self.most_running:
            raise RunError(
                Message(
                    "{running} pretrainings run; this instance runs at most {most_running} at once "
                    "(HAKARI_PRETRAINING). Wait for one to end, or stop one.",
                    running=running,
                    most_running=self.most_running,
                )
            )

    def _launch(self, job_id: str) -> None:
        folder = self.folder / job_id
        try:
            with (folder / LOCK).open("a") as lock, (folder / LOG).open("ab") as log:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the child's copy holds it from then on
                process = subprocess.Popen(
                    [sys.executable, "-m", "engine.runs.pretraining.process", str(folder)],
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    pass_fds=[lock.fileno()],
                )
            (folder / PID).write_text(str(process.pid))
        except OSError as error:
            raise RunError(Message("The pretraining cannot be started: {error}.", error=reason_of(error))) from error
        self._processes[job_id] = process


def most_bytes(settings: Settings, corpus_bytes: int) -> int:
    """What a job takes on the disk at most, estimated: the texts, their tokens, two checkpoints and the model.

    A checkpoint has three numbers of four bytes for each parameter (its value and two of the optimiser), the model one
    of two bytes. Of the texts there are the files and, as short and as long rows, two bytes for each token.
    """
    width = settings.hidden
    parameters = width * (settings.vocab_size + settings.max_length + 12 * settings.layers * width)
    return parameters * (2 * 3 * 4 + 2) + 3 * corpus_bytes


def bytes_of(data_dir: Path, owner: str) -> int:
    """What the jobs of an owner take on the disk now; those that run may take more."""
    return sum(_folder_bytes(job.folder) for job in PretrainingJobs(data_dir, 0).list([owner]))


def write_status(folder: Path, **values: Any) -> None:
    """Add to what is known of a job while it runs: step, message, problem."""
    _write(
        folder / STATUS,
        _read(folder / STATUS)
        | {name: as_text(value) if isinstance(value, str) else value for name, value in values.items()},
    )


def read_task(folder: Path) -> dict[str, Any]:
    """What a job is to do, as `start` wrote it."""
    return _read(folder / JOB)


def _read_job(folder: Path) -> Job | None:
    task, status = _read(folder / JOB), _read(folder / STATUS)
    try:
        name = str(task["name"])
        model = folder / MODEL / name
        is_done = (model / "pretraining.json").is_file() and not (model / "work").exists()
        problem = str(status.get("problem", ""))
        state = "running" if _is_held(folder / LOCK) else "done" if is_done else "refused" if problem else "stopped"
        return Job(
            folder.name,
            name,
            str(task["owner"]),
            datetime.fromisoformat(task["created"]),
            Settings(**task["settings"]),
            tuple(task["corpus"]),
            state,
            int(status.get("step", 0)),
            read_message(str(status.get("message", ""))),
            read_message(problem),
            folder,
        )
    except (KeyError, TypeError, ValueError):  # half written, or of another version
        return None


def _is_held(lock: Path) -> bool:
    try:
        with lock.open("r") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _size(content: IO[bytes]) -> int:
    size = content.seek(0, os.SEEK_END)
    content.seek(0)
    return size


def _folder_bytes(folder: Path) -> int:
    sizes = 0
    for path in folder.rglob("*"):
        try:
            sizes += path.stat().st_size if path.is_file() else 0
        except OSError:  # a checkpoint that has just been replaced
            continue
    return sizes


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write(path: Path, content: dict[str, Any]) -> None:
    aside = path.with_name(f".{path.name}")
    aside.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    os.replace(aside, path)
