"""The driver process: a child process that is Ray's driver. It holds the handles of the replicas, and no other state.

Ray's core kills a driver's whole process when the head of its cluster, or the node that it is attached to, is
unreachable for longer than a time limit. Therefore the web server is not a driver itself: it spawns one, communicates
with it through a pipe, and spawns another when it has exited. This also keeps Ray's threads and memory out of the web
process.

Messages to it: ("start", number, node ids to avoid), ("compute", number, bytes), ("end", number), ("close",).
Messages from it: ("connected",), ("unreachable", reason), ("reachable",), ("ready", number, ReplicaInfo),
("answer", number, bytes, ReplicaStatus), ("lost", number, reason); last, from `DriverProcess`, ("exited", reason).
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from engine.inference.local.worker_loop import ChunkFunction
from engine.inference.ray.replica import Replica, environment_of_replicas
from engine.inference.ray.settings import RaySettings
from engine.messages.message import Message
from engine.processes.import_path import leave_folders_of_packages

CHECK_SECONDS = 1.0
CONNECT_SECONDS = 3.0
EXIT_SECONDS = 5.0
RESTARTED = Message("the cluster was restarted")
MAX_REASON_CHARACTERS = 300
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")

OnMessage = Callable[[tuple[Any, ...]], None]


class DriverProcess:
    """The web server's handle of the process; `on_message` is called from a thread with every message received."""

    def __init__(self, settings: RaySettings, chunk_function: ChunkFunction, on_message: OnMessage) -> None:
        """Start the process; it connects to the cluster by itself, and retries until it succeeds."""
        context = multiprocessing.get_context("spawn")
        self._connection, child_connection = context.Pipe()
        self._process = context.Process(
            target=_driver_main,
            args=(child_connection, settings, chunk_function),
            daemon=True,
            name="hakari-ray-driver",
        )
        self._process.start()
        child_connection.close()  # while a copy is open here, this process never sees end of file
        self._reader = threading.Thread(target=self._listen, args=(on_message,), name="hakari-ray-listen", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid or 0

    def send(self, *message: Any) -> None:
        """Send a message; dropped if the process has exited, which `on_message` is told separately."""
        with contextlib.suppress(OSError):
            self._connection.send(message)

    def end(self) -> None:
        """End the process and every replica."""
        with contextlib.suppress(OSError):
            self._connection.send(("close",))
        self._process.join(timeout=2 * EXIT_SECONDS)
        self._process.kill()
        self._process.join(timeout=EXIT_SECONDS)
        self._reader.join(timeout=EXIT_SECONDS)
        self._connection.close()

    def _listen(self, on_message: OnMessage) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                on_message(self._connection.recv())
        self._process.join(timeout=EXIT_SECONDS)
        on_message(
            ("exited", Message("the driver's process ended with code {exitcode}", exitcode=self._process.exitcode))
        )


class _Channel:
    """The driver's end of the pipe; thread-safe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._send_lock = threading.Lock()

    def send(self, *message: Any) -> None:
        with self._send_lock, contextlib.suppress(OSError):
            self._connection.send(message)


def _driver_main(connection: Connection, settings: RaySettings, chunk_function: ChunkFunction) -> None:
    """Main function of the driver process."""
    leave_folders_of_packages()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C signals the whole process group; the parent handles it
    channel = _Channel(connection)
    if not _wait_for_head(connection, channel, settings):
        return
    # Ray prints messages about its nodes where a command prints its progress; they are in Ray's own logs too.
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(devnull, stream)
    # Ray puts the driver's working directory and script first in the import path of every replica.
    os.chdir("/")
    sys.argv = [""]
    import ray

    try:
        ray.init(settings.address, log_to_driver=False, configure_logging=False)
    except Exception as error:
        channel.send("unreachable", f"{type(error).__name__}: {error}".strip())
        return
    channel.send("connected")
    threading.Thread(target=_monitor_head, args=(ray, channel, settings), daemon=True).start()
    _serve(ray, connection, channel, settings, chunk_function)
    # The shutdown tells the cluster to end the replicas; if it hangs, the cluster notices the lost driver.
    threading.Timer(EXIT_SECONDS, os._exit, (0,)).start()
    ray.shutdown()
    os._exit(0)


def _wait_for_head(connection: Connection, channel: _Channel, settings: RaySettings) -> bool:
    """Wait until the address accepts connections; False when the parent process closes the driver."""
    reported_reason = ""
    while (reason := _connection_error(settings.host)) is not None:
        if reason != reported_reason:
            channel.send("unreachable", reason)
            reported_reason = reason
        if connection.poll(CHECK_SECONDS):  # an unconnected driver receives only "close"
            return False
    return True


def _connection_error(host: tuple[str, int]) -> str | None:
    try:
        socket.create_connection(host, timeout=CONNECT_SECONDS).close()
    except OSError as error:
        return str(error)
    return None


def _monitor_head(ray: Any, channel: _Channel, settings: RaySettings) -> None:
    """Report when the head becomes unreachable, and reachable again; exit if it was restarted and lost this driver."""
    own_node_id = ray.get_runtime_context().get_node_id()
    is_unreachable = False
    pause = threading.Event()
    while not pause.wait(CHECK_SECONDS):
        reason = _connection_error(settings.host)
        if reason is not None and not is_unreachable:
            channel.send("unreachable", reason)
        elif reason is None and is_unreachable:
            timeout = threading.Timer(EXIT_SECONDS, os._exit, (1,))  # ray.nodes() has no timeout
            timeout.start()
            if own_node_id not in {node["NodeID"] for node in ray.nodes() if node["Alive"]}:
                channel.send("unreachable", RESTARTED)
                os._exit(1)
            timeout.cancel()
            channel.send("reachable")
        is_unreachable = reason is not None


def _serve(
    ray: Any, connection: Connection, channel: _Channel, settings: RaySettings, chunk_function: ChunkFunction
) -> None:
    """Handle the messages of the web server until it closes the driver."""
    actor_class = ray.remote(Replica)
    environment = environment_of_replicas(settings)
    request_queues: dict[int, SimpleQueue[bytes | None]] = {}
    actors: dict[int, Any] = {}
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            return
        match message:
            case ("start", number, avoided):
                options = _options(settings, avoided)
                actors[number] = actor_class.options(**options).remote(environment, settings, chunk_function)
                requests = request_queues[number] = SimpleQueue()
                threading.Thread(
                    target=_serve_replica, args=(ray, channel, number, actors[number], requests), daemon=True
                ).start()
            case ("compute", number, packed):
                request_queues[number].put(packed)  # ignored if the replica was lost meanwhile
            case ("end", number):
                request_queues[number].put(None)
                ray.kill(actors.pop(number))
            case _:
                return


def _options(settings: RaySettings, avoided: Sequence[str]) -> dict[str, Any]:
    options: dict[str, Any] = {"num_cpus": settings.cpus, "num_gpus": settings.gpus, "max_restarts": 0}
    if avoided:
        options["label_selector"] = {"ray.io/node-id": f"!in({','.join(avoided)})"}
    return options


def _serve_replica(ray: Any, channel: _Channel, number: int, actor: Any, requests: SimpleQueue[bytes | None]) -> None:
    """Thread of one replica: passes it chunks and returns its answers, until the replica is lost or ended."""
    try:
        channel.send("ready", number, ray.get(actor.info.remote()))
        while (packed := requests.get()) is not None:
            channel.send("answer", number, *ray.get(actor.answer.remote(packed)))
    except Exception as error:  # Ray raises a dozen error types for a lost replica, node or object
        channel.send("lost", number, _short_reason(error))


def _short_reason(error: Exception) -> str:
    """The error in one line: the last line of Ray's messages says why."""
    lines = [line.strip() for line in _COLOURS.sub("", str(error)).splitlines() if line.strip()]
    return Message(
        "{class_name}: {lines}",
        class_name=type(error).__name__,
        lines=lines[-1] if lines else Message("no reason given"),
    )[:MAX_REASON_CHARACTERS]
