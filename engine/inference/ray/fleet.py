"""The state of the replicas that a web server uses: busy or idle, models in memory, how many are missing or surplus.

Used by one thread; nothing here communicates with Ray.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, field

from engine.inference.backend import Piece, Request
from engine.inference.machine import machine
from engine.inference.ray.replica import ReplicaInfo, ReplicaStatus
from engine.inference.ray.settings import RaySettings
from engine.inference.worker_state import ModelInMemory, WorkerState
from engine.messages.message import Message


@dataclass(frozen=True, eq=False)
class Job:
    """A chunk and its future. deaths: the reason for each loss of a replica that was computing it."""

    operation: str
    request: Request
    run_id: str
    future: Future[list[Piece]] = field(default_factory=Future)
    deaths: list[str] = field(default_factory=list)

    @property
    def model(self) -> str:
        """The model that it needs; "" if none."""
        return str(self.request.get("model") or "")


@dataclass(eq=False)
class KnownReplica:
    """A replica. info: None while the cluster has not placed it. since: start of its present state, monotonic clock."""

    number: int
    since: float
    info: ReplicaInfo | None = None
    job: Job | None = None
    models: tuple[ModelInMemory, ...] = ()
    memory_bytes: int | None = None
    last_model: str = ""

    def holds(self, model: str) -> bool:
        """Whether it has the model in memory; the model of its last chunk counts before it is reported."""
        return not model or model == self.last_model or model in {loaded.name for loaded in self.models}


class Fleet:
    """Replicas by number. Numbers are not reused."""

    def __init__(self, settings: RaySettings) -> None:
        self._settings = settings
        self._n_started = 0
        self.replicas: dict[int, KnownReplica] = {}

    def start(self, now: float) -> int:
        """Add a requested replica; returns its number."""
        self._n_started += 1
        self.replicas[self._n_started] = KnownReplica(self._n_started, now)
        return self._n_started

    def set_ready(self, number: int, info: ReplicaInfo, now: float) -> None:
        """Record that a replica has started."""
        replica = self.replicas[number]
        replica.info, replica.since = info, now

    def assign(self, replica: KnownReplica, job: Job, now: float) -> None:
        """Record that a replica computes a chunk from now on."""
        replica.job, replica.since, replica.last_model = job, now, job.model or replica.last_model

    def finish(self, number: int, status: ReplicaStatus, now: float) -> tuple[Job, float] | None:
        """Record that a replica has finished its chunk; returns the chunk and its duration in seconds."""
        replica = self.replicas.get(number)
        if replica is None or replica.job is None:
            return None
        job, start = replica.job, replica.since
        replica.job, replica.since = None, now
        replica.models, replica.memory_bytes = status.models, status.memory_bytes
        return job, now - start

    def idle(self) -> list[KnownReplica]:
        """The replicas without a chunk."""
        return [replica for replica in self.replicas.values() if replica.info is not None and replica.job is None]

    def pending(self) -> list[KnownReplica]:
        """The replicas that the cluster has not placed yet, the most recently requested first."""
        return [replica for replica in reversed(self.replicas.values()) if replica.info is None]

    def busy(self) -> list[KnownReplica]:
        """The replicas that are computing a chunk."""
        return [replica for replica in self.replicas.values() if replica.job is not None]

    def best_idle(self, job: Job) -> KnownReplica:
        """An idle replica: one that holds the model if any, else with the smallest models, else the longest idle."""
        return min(
            self.idle(),
            key=lambda replica: (
                not replica.holds(job.model),
                sum(model.bytes for model in replica.models),
                replica.since,
            ),
        )

    def missing(self, n_queued: int) -> int:
        """How many replicas to start for the queued and running chunks; negative: how many there are too many."""
        return self._settings.n_replicas_for(n_queued + len(self.busy())) - len(self.replicas)

    def surplus(self, n_queued: int, now: float) -> list[int]:
        """The numbers of the replicas to end: pending and no longer needed, or idle for long and beyond the minimum."""
        n_over = -self.missing(n_queued)
        to_end = [replica.number for replica in self.pending()[: max(0, n_over)]]
        idle_long = [replica for replica in self.idle() if now - replica.since >= self._settings.idle_seconds]
        idle_long.sort(key=lambda replica: replica.since)
        n_left = len(self.replicas) - len(to_end) - self._settings.minimum
        return to_end + [replica.number for replica in idle_long[: max(0, min(n_left, n_over - len(to_end)))]]

    def states(self) -> tuple[WorkerState, ...]:
        """The states of the started replicas."""
        now = time.monotonic()
        device = "cuda" if self._settings.gpus else "cpu"
        return tuple(
            WorkerState(
                Message("{device} on {node}", device=device, node=replica.info.node),
                replica.info.pid,
                replica.memory_bytes,
                f"{replica.job.operation} {replica.job.model}".strip() if replica.job else "",
                now - replica.since if replica.job else 0.0,
                replica.models,
            )
            for replica in self.replicas.values()
            if replica.info is not None
        )

    def pids_here(self) -> list[int]:
        """The process ids of the replicas on this machine."""
        return [
            replica.info.pid
            for replica in self.replicas.values()
            if replica.info is not None and replica.info.machine == machine()
        ]
