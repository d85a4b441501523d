"""The process of ours that is Ray's driver: it holds the replicas' handles, and nothing that could not be lost.

Ray's core ends a driver's whole process when the head of its cluster, or the node that it is attached to, is gone
for longer than it can bear. So the web server is no driver: it spawns one, talks to it through a pipe, and spawns
another when that one has ended. It also keeps Ray's threads and memory out of the web process.

Messages to it: ("start", number, nodes to avoid), ("ask", number, bytes), ("end", number). From it:
("connected",), ("silent", why), ("answers",), ("ready", number, Introduction), ("answer", number, bytes, Held),
("lost", number, why), and from the handle itself ("gone", why) at last.
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

from engine.inference.local.worker_process import ChunkFunction
from engine.inference.ray.replica import Replica, environment_of_replicas
from engine.inference.ray.settings import RaySettings

WATCH_SECONDS = 1.0
PROBE_SECONDS = 3.0
END_SECONDS = 5.0
MOVED = "the cluster was started anew"
LONGEST_REASON = 300
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")

Hear = Callable[[tuple[Any, ...]], None]


class DriverProcess:
    """The web server's end: `tell` sends, `hear` is called from a thread with every message that comes."""

    def __init__(self, settings: RaySettings, chunk_function: ChunkFunction, hear: Hear) -> None:
        """Start the process; it connects by itself, and tries until the cluster answers."""
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_drive, args=(theirs, settings, chunk_function), daemon=True,
                                        name="hakari-ray-driver")
        self._process.start()
        theirs.close()  # or we would never see that end close
        self._reader = threading.Thread(target=self._listen, args=(hear,), name="hakari-ray-listen", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid or 0

    def tell(self, *message: Any) -> None:
        """Send a message; when the process has ended, `hear` learns of that in its turn."""
        with contextlib.suppress(OSError):
            self._connection.send(message)

    def end(self) -> None:
        """End it, and with it every replica."""
        with contextlib.suppress(OSError):
            self._connection.send(("close",))
        self._process.join(timeout=2 * END_SECONDS)
        self._process.kill()
        self._process.join(timeout=END_SECONDS)
        self._reader.join(timeout=END_SECONDS)
        self._connection.close()

    def _listen(self, hear: Hear) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                hear(self._connection.recv())
        self._process.join(timeout=END_SECONDS)
        hear(("gone", f"the driver's process ended with code {self._process.exitcode}"))


class _Line:
    """Our end of the pipe, for several threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sending = threading.Lock()

    def tell(self, *message: Any) -> None:
        with self._sending, contextlib.suppress(OSError):
            self._connection.send(message)


def _drive(connection: Connection, settings: RaySettings, chunk_function: ChunkFunction) -> None:
    """The driver's whole life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    line = _Line(connection)
    if not _wait_for_head(connection, line, settings):
        return
    # Ray writes what it has to say of its nodes where a command writes its progress; its own logs have it too.
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silent, stream)
    # Ray would have every replica look for code in our directory first, whatever PYTHONPATH says on its node.
    os.chdir("/")
    sys.argv = [""]
    import ray

    try:
        ray.init(settings.address, log_to_driver=False, configure_logging=False)
    except Exception as error:
        line.tell("silent", f"{type(error).__name__}: {error}".strip())
        return
    line.tell("connected")
    threading.Thread(target=_watch, args=(ray, line, settings), daemon=True).start()
    _obey(ray, connection, line, settings, chunk_function)
    # Ray tells the cluster that its replicas are not needed any more; should it hang, the cluster finds out itself.
    threading.Timer(END_SECONDS, os._exit, (0,)).start()
    ray.shutdown()
    os._exit(0)


def _wait_for_head(connection: Connection, line: _Line, settings: RaySettings) -> bool:
    """Wait until something listens at the address; False when the parent does not want it any more."""
    told = ""
    while (reason := _unheard(settings.host)) is not None:
        if reason != told:
            line.tell("silent", reason)
            told = reason
        if connection.poll(WATCH_SECONDS):  # nothing is said to an unconnected driver but its end
            return False
    return True


def _unheard(host: tuple[str, int]) -> str | None:
    try:
        socket.create_connection(host, timeout=PROBE_SECONDS).close()
    except OSError as error:
        return str(error)
    return None


def _watch(ray: Any, line: _Line, settings: RaySettings) -> None:
    """Say when the head falls silent and when it is back. A head that is another one has forgotten us."""
    own = ray.get_runtime_context().get_node_id()
    silent = False
    pause = threading.Event()
    while not pause.wait(WATCH_SECONDS):
        reason = _unheard(settings.host)
        if reason is not None and not silent:
            line.tell("silent", reason)
        elif reason is None and silent:
            overdue = threading.Timer(END_SECONDS, os._exit, (1,))  # the call has no time limit of its own
            overdue.start()
            if own not in {node["NodeID"] for node in ray.nodes() if node["Alive"]}:
                line.tell("silent", MOVED)
                os._exit(1)
            overdue.cancel()
            line.tell("answers")
        silent = reason is not None


def _obey(ray: Any, connection: Connection, line: _Line, settings: RaySettings, chunk_function: ChunkFunction) -> None:
    actor_class = ray.remote(Replica)
    environment = environment_of_replicas(settings)
    inboxes: dict[int, SimpleQueue[bytes | None]] = {}
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
                inboxes[number] = SimpleQueue()
                threading.Thread(target=_attend, args=(ray, line, number, actors[number], inboxes[number]),
                                 daemon=True).start()
            case ("ask", number, asked):
                inboxes[number].put(asked)  # of one that was lost meanwhile, too: nobody will read it
            case ("end", number):
                inboxes[number].put(None)
                ray.kill(actors.pop(number))
            case _:
                return


def _options(settings: RaySettings, avoided: Sequence[str]) -> dict[str, Any]:
    options: dict[str, Any] = {"num_cpus": settings.cpus, "num_gpus": settings.gpus, "max_restarts": 0}
    if avoided:
        options["label_selector"] = {"ray.io/node-id": f"!in({','.join(avoided)})"}
    return options


def _attend(ray: Any, line: _Line, number: int, actor: Any, inbox: SimpleQueue[bytes | None]) -> None:
    """One replica's thread: hand in a chunk, hand out its answer, until the replica is lost or not needed."""
    try:
        line.tell("ready", number, ray.get(actor.introduce.remote()))
        while (asked := inbox.get()) is not None:
            line.tell("answer", number, *ray.get(actor.answer.remote(asked)))
    except Exception as error:  # Ray has some dozen for a replica, a node or an object that is gone
        line.tell("lost", number, _told(error))


def _told(error: Exception) -> str:
    """What Ray says, in a line: of many, the last says why."""
    lines = [line.strip() for line in _COLOURS.sub("", str(error)).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else 'no reason given'}"[:LONGEST_REASON]
