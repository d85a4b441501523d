"""A dashboard on a free port of this machine, over a data directory of its own, and ends with the test."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import psutil

from tests.support import postgres
from tests.support.database import url_for

ROOT = Path(__file__).parents[2]
READY_SECONDS = 180


class Server:
    """`make run` without make: the process, its address and that of the operator's port."""

    def __init__(
        self,
        data_dir: Path,
        port: int,
        log: Path,
        environment: Mapping[str, str],
        command: Callable[[Mapping[str, str]], Sequence[str]] | None = None,
    ) -> None:
        """command: of another program than this checkout's, for its variables."""
        base = environment.get("STREAMLIT_SERVER_BASE_URL_PATH", "")
        self.url = f"http://127.0.0.1:{port}" + (f"/{base}" if base else "")
        operator_port = free_port()
        self.operator_url = f"http://127.0.0.1:{operator_port}"
        started = time.monotonic()
        variables = {
            "HAKARI_DATA_DIR": str(data_dir),
            "HAKARI_DATABASE_URL": url_for(data_dir, postgres.current),
            "HAKARI_OPERATOR_PORT": str(operator_port),
            "STREAMLIT_SERVER_PORT": str(port),
            "STREAMLIT_SERVER_ADDRESS": "127.0.0.1",
            "STREAMLIT_SERVER_HEADLESS": "true",
            **environment,
        }
        own = [sys.executable, "-m", "streamlit", "run", "dashboard/server.py"]
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                command(variables) if command else own,
                cwd=ROOT,
                stdout=output,
                stderr=output,
                env={**os.environ, **variables},
            )
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() - started > READY_SECONDS:
                raise RuntimeError(f"the server did not come up:\n{log.read_text(encoding='utf-8')}")
            time.sleep(0.05)
        self.ready_seconds = time.monotonic() - started

    def workers(self) -> list[psutil.Process]:
        """The worker processes."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]

    def kill(self) -> None:
        """Kill the process, as a power cut would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Interrupt the process, as Ctrl-C would; one that hangs is killed."""
        self.process.terminate()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.kill()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


def free_port() -> int:
    """A free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(
    data_dir: Path,
    port: int | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
    command: Callable[[Mapping[str, str]], Sequence[str]] | None = None,
) -> Iterator[Server]:
    """A running server, stopped afterwards."""
    server = Server(data_dir, port or free_port(), data_dir.parent / "server.log", environment, command)
    try:
        yield server
    finally:
        server.stop()
