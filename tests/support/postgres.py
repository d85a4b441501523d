"""A temporary PostgreSQL server for tests, on loopback, in a temporary directory."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

USER, DATABASE = "hakari", "hakari"
SYSTEM_USER = "postgres"  # the server refuses to run as root


def binaries() -> Path | None:
    """The folder of the server's programs: on the PATH, or Debian's; None if not installed."""
    initdb = shutil.which("initdb")
    if initdb:
        return Path(initdb).resolve().parent  # the link on the PATH is resolved to the folder of the other programs
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


current: Server | None = None  # the server that the tests use, if any


class Server:
    """A server that can be stopped and started again."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.programs, self.port = folder, programs, _free_port()
        self._as_user = (
            [] if os.geteuid() else ["setpriv", f"--reuid={SYSTEM_USER}", f"--regid={SYSTEM_USER}", "--init-groups"]
        )

    @property
    def url(self) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{DATABASE}"

    def make(self) -> None:
        self._run("initdb", "-D", str(self.folder / "data"), "-U", USER, "--auth=trust", "-E", "UTF8", "--no-sync")
        self.start()
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, DATABASE)

    def start(self) -> None:
        options = (
            f"-p {self.port} -h 127.0.0.1 -k {self.folder} -c fsync=off -c full_page_writes=off -c max_connections=200"
        )
        self._run(
            "pg_ctl", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-w", "-o", options, "start"
        )

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    def kill(self) -> None:
        """SIGKILL of the server and all its processes."""
        server = psutil.Process(int((self.folder / "data" / "postmaster.pid").read_text().split()[0]))
        processes = [server, *server.children(recursive=True)]
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(processes, timeout=10)

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [*self._as_user, str(self.programs / program), *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        if done.returncode:
            log = self.folder / "log"
            raise RuntimeError(f"{program}: {done.stdout}\n{log.read_text() if log.exists() else ''}")


@contextmanager
def running() -> Iterator[Server]:
    """A new server. Raises RuntimeError if PostgreSQL is not installed."""
    programs = binaries()
    if programs is None:
        raise RuntimeError("PostgreSQL is not installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="hakari-postgres-"))
    try:
        if not os.geteuid():
            entry = pwd.getpwnam(SYSTEM_USER)
            os.chown(folder, entry.pw_uid, entry.pw_gid)
        server = Server(folder, programs)
        server.make()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
