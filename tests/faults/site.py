"""A server of its own with a small disk, and what faults are done to: its processes, its files and its database."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from engine.runs.storage.database import database_url
from engine.runs.storage.store import Store
from tests.browser.server import Server, free_port
from tests.faults.clients import Submitter
from tests.support import postgres
from tests.support.database import url_for
from tests.support.loopback_ray import ENVIRONMENT, LoopbackCluster

STORAGES = ("sqlite", "postgresql", "ray")
DISK_MB = 512
RUN_OOM_SCORE = "300"  # of a run's process (`engine.runs.run_process`)
READER_FOLDER = "hakari-read-"  # in the path of what a reader reads (`engine.datasets.reader_process`)
ENDING_SECONDS = 30.0  # for what a killed server leaves behind


class Site:
    """A data directory and the server on it. storage: what keeps the list of runs, or "ray" for workers in a cluster.

    can_mount: whether the directory is on a disk of its own, which can be full or read-only as a whole.
    """

    def __init__(self, folder: Path, storage: str, *, can_mount: bool) -> None:
        self.folder, self.storage, self.can_mount = folder, storage, can_mount
        self.disk = folder / "disk"
        self.data = self.disk / "data"
        self.log = self.disk.parent / "server.log"
        self.port = free_port()
        self._open = contextlib.ExitStack()
        self.database: postgres.Server | None = None
        self.cluster: LoopbackCluster | None = None
        self.url = ""
        self.server: Server | None = None
        self.shown_runs: set[str] = set()  # whose pages were opened since the server started

    def __enter__(self) -> Site:
        self.disk.mkdir(parents=True)
        if self.can_mount:
            mount("-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(self.disk))
            self._open.callback(unmount, self.disk)
        self.data.mkdir(mode=0o700)
        self._open.callback(self.kill)
        if self.storage == "postgresql":
            self.database = self._open.enter_context(postgres.running())
            self.url = url_for(self.data, self.database)
        if self.storage == "ray":
            self.cluster = LoopbackCluster()
            self._open.callback(self.cluster.close)
            self.cluster.start_head()
        self.submitter = Submitter()
        self._open.callback(lambda: self.submitter.close())
        self.start()
        self._open.callback(lambda: self.server and self.server.stop())
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def environment(self) -> dict[str, str]:
        """What the server is told beside where its data are."""
        if self.cluster is None:
            return {"HAKARI_DATABASE_URL": self.url}
        return {
            "HAKARI_DATABASE_URL": self.url,
            "HAKARI_RAY_ADDRESS": self.cluster.address,
            "HAKARI_RAY_REPLICAS": "1",
            **ENVIRONMENT,
        }

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server; RuntimeError with its log where it does not come up."""
        self.shown_runs = set()
        self.server = Server(self.data, self.port, self.log, self.environment)

    def kill(self) -> list[psutil.Process]:
        """Kill the server's process, and only that; the others that it had."""
        if self.server is None:
            return []
        children = self.processes()
        self.server.kill()
        self.server = None
        return children

    def renew_submitter(self) -> None:
        """Another process that submits: one that could not write that it leaves the list counts as alive."""
        self.submitter.close()
        self.submitter = Submitter()

    def processes(self) -> list[psutil.Process]:
        """What the server has started, and what that has."""
        if self.server is None:
            return []
        try:
            return psutil.Process(self.server.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def workers(self) -> list[psutil.Process]:
        return [process for process in self.processes() if "spawn_main" in command(process)]

    def run_processes(self) -> list[psutil.Process]:
        return [process for process in self._forked() if oom_score(process) == RUN_OOM_SCORE]

    def reader_processes(self) -> list[psutil.Process]:
        return [process for process in self._forked() if has_open(process, READER_FOLDER)]

    def _forked(self) -> list[psutil.Process]:
        """What the server that processes are forked from has forked."""
        servers = [process for process in self.processes() if "forkserver" in command(process)]
        pids = {process.pid for process in servers}
        return [process for process in servers if process.ppid() in pids]

    @contextlib.contextmanager
    def store(self) -> Iterator[Store]:
        """The list of runs, to be read from outside."""
        with database_of(self.url):
            store = Store(database_url(self.data))
        try:
            yield store
        finally:
            store.close()

    def cache_keys(self) -> set[str]:
        """The keys of the finished pieces."""
        path = self.data / "cache.sqlite"
        if not path.exists():
            return set()
        with contextlib.closing(sqlite3.connect(path, timeout=30)) as file:
            if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'pieces'").fetchone():
                return set()
            return {key for (key,) in file.execute("SELECT key FROM entries JOIN pieces USING (id)")}


@contextlib.contextmanager
def database_of(url: str) -> Iterator[None]:
    """The environment variable that names a database; none for "", the file in the directory."""
    former = os.environ.get("HAKARI_DATABASE_URL")
    os.environ["HAKARI_DATABASE_URL"] = url
    try:
        yield
    finally:
        del os.environ["HAKARI_DATABASE_URL"]
        if former is not None:
            os.environ["HAKARI_DATABASE_URL"] = former


def command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def oom_score(process: psutil.Process) -> str:
    try:
        return Path(f"/proc/{process.pid}/oom_score_adj").read_text().strip()
    except OSError:
        return ""


def has_open(process: psutil.Process, part: str) -> bool:
    """Whether a process has a file open whose path holds `part`."""
    try:
        return any(part in file.path for file in process.open_files())
    except psutil.Error:
        return False


def kill(process: psutil.Process) -> bool:
    """SIGKILL; False where it had ended."""
    try:
        process.send_signal(signal.SIGKILL)
    except psutil.NoSuchProcess:
        return False
    return True


def left_behind(processes: list[psutil.Process]) -> list[str]:
    """Those of a killed server's processes that do not end by themselves."""
    _, alive = psutil.wait_procs(processes, timeout=ENDING_SECONDS)
    names = [
        f"{process.pid} {command(process)[:80]}"
        for process in alive
        if process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    ]
    for process in alive:
        kill(process)
    return names


def mount(*arguments: str) -> None:
    """Run mount(8); RuntimeError with what it says."""
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"mount {' '.join(arguments)}: {done.stderr.strip()}")


def unmount(path: Path) -> None:
    """Unmount at once, whoever has files open there."""
    subprocess.run(["umount", "-l", str(path)], capture_output=True, check=True)


def wait_for(condition: Callable[[], object], seconds: float, every: float = 0.02) -> bool:
    """Whether the condition comes to hold."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(every)
    return False
