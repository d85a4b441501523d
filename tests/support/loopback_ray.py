"""A Ray cluster on loopback: a head and nodes of one processor each, which can be killed like machines."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
RAY = Path(sys.executable).with_name("ray")
START_SECONDS = 60
STORE_BYTES = 100_000_000
# Losses are detected within seconds instead of Ray's default of half a minute; no usage statistics; token access.
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_health_check_initial_delay_ms": "500",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "15",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "RAY_worker_niceness": "0",
    "OMP_NUM_THREADS": "1",
}


class LoopbackCluster:
    """The head and the nodes, each to be killed as a whole."""

    def __init__(self) -> None:
        # Ray creates sockets below it, and the path of a socket has at most about a hundred bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="hkr", dir="/tmp"))
        self._port = _free_port()
        self._groups: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    def start_head(self) -> subprocess.Popen[bytes]:
        """At the same address each time."""
        self.head = self._start(
            "--head",
            f"--port={self._port}",
            f"--temp-dir={self._folder}",
            "--include-dashboard=false",
            "--disable-usage-stats",
        )
        return self.head

    def start_node(self, **environment: str) -> subprocess.Popen[bytes]:
        return self._start(f"--address={self.address}", **environment)

    def kill(self, group: subprocess.Popen[bytes]) -> None:
        """Like a power failure of the machine: Ray, its agents, and the replicas, which are groups of their own."""
        if group.poll() is not None:
            return
        everything = psutil.Process(group.pid).children(recursive=True)
        os.killpg(group.pid, signal.SIGKILL)
        for process in everything:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        group.wait()

    def close(self) -> None:
        for group in self._groups:
            self.kill(group)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        log = self._folder / f"start-{len(self._groups)}.log"
        with log.open("wb") as output:
            group = subprocess.Popen(
                [
                    RAY,
                    "start",
                    *arguments,
                    "--num-cpus=1",
                    "--num-gpus=0",
                    f"--object-store-memory={STORE_BYTES}",
                    "--block",
                ],
                env={**os.environ, **ENVIRONMENT, "PYTHONPATH": str(ROOT), **environment},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._groups.append(group)
        deadline = time.monotonic() + START_SECONDS
        while b"Ray runtime started" not in log.read_bytes():
            assert group.poll() is None and time.monotonic() < deadline, log.read_text(encoding="utf-8")
            time.sleep(0.05)
        return group


def _free_port() -> int:
    """Outside of 10002 to 19999, where Ray's workers listen."""
    for port in range(23000 + os.getpid() % 5000, 32000):
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise OSError("no free port")
