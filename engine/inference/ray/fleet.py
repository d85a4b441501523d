"""The replicas that a web server knows of: which compute, which wait, which model each holds, which are too many.

Plain bookkeeping of one thread; nothing here talks to Ray.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, field

from engine.inference.backend import Piece, Request
from engine.inference.machine import machine
from engine.inference.ray.replica import Held, Introduction
from engine.inference.ray.settings import RaySettings
from engine.inference.worker_state import ResidentModel, WorkerState


@dataclass(frozen=True, eq=False)
class Job:
    """A chunk on its way. deaths: why each replica ended that was lost with it."""

    operation: str
    request: Request
    run_id: str
    future: Future[list[Piece]] = field(default_factory=Future)
    deaths: list[str] = field(default_factory=list)

    @property
    def model(self) -> str:
        """The model that computes it; "" for work without one."""
        return str(self.request.get("model") or "")


@dataclass(eq=False)
class KnownReplica:
    """A replica. introduction: None while the cluster looks for room. since: of its present state, monotonic."""

    number: int
    since: float
    introduction: Introduction | None = None
    job: Job | None = None
    models: tuple[ResidentModel, ...] = ()
    memory_bytes: int | None = None
    last_model: str = ""

    def holds(self, model: str) -> bool:
        """Whether it need not load anything for this; a model it was last asked for counts before it said so."""
        return not model or model == self.last_model or model in {resident.name for resident in self.models}


class Fleet:
    """Replicas by number. A number is never given twice."""

    def __init__(self, settings: RaySettings) -> None:
        self._settings = settings
        self._n_started = 0
        self.replicas: dict[int, KnownReplica] = {}

    def start(self, now: float) -> int:
        """Count a replica that was asked for; its number."""
        self._n_started += 1
        self.replicas[self._n_started] = KnownReplica(self._n_started, now)
        return self._n_started

    def ready(self, number: int, introduction: Introduction, now: float) -> None:
        """It has begun to live."""
        replica = self.replicas[number]
        replica.introduction, replica.since = introduction, now

    def give(self, replica: KnownReplica, job: Job, now: float) -> None:
        """It computes a chunk from now on."""
        replica.job, replica.since, replica.last_model = job, now, job.model or replica.last_model

    def answered(self, number: int, held: Held, now: float) -> tuple[Job, float] | None:
        """The chunk that it has finished, and after how many seconds; it waits for the next."""
        replica = self.replicas.get(number)
        if replica is None or replica.job is None:
            return None
        job, begun = replica.job, replica.since
        replica.job, replica.since = None, now
        replica.models, replica.memory_bytes = held.models, held.memory_bytes
        return job, now - begun

    def idle(self) -> list[KnownReplica]:
        """Those that wait for a chunk."""
        return [one for one in self.replicas.values() if one.introduction is not None and one.job is None]

    def pending(self) -> list[KnownReplica]:
        """Those that the cluster has not placed yet, the one asked for last first."""
        return [one for one in reversed(self.replicas.values()) if one.introduction is None]

    def busy(self) -> list[KnownReplica]:
        """Those that compute."""
        return [one for one in self.replicas.values() if one.job is not None]

    def chosen(self, job: Job) -> KnownReplica:
        """Of the idle ones: one that holds the model, else the one with most room, else the one that waits longest."""
        return min(self.idle(), key=lambda one: (not one.holds(job.model), sum(model.bytes for model in one.models),
                                                 one.since))

    def missing(self, n_waiting: int) -> int:
        """How many more the chunks are worth."""
        return self._settings.wanted(n_waiting + len(self.busy())) - len(self.replicas)

    def surplus(self, n_waiting: int, now: float) -> list[int]:
        """The numbers of those to end: asked for and not needed any more, or idle for long and beyond the minimum."""
        n_over = -self.missing(n_waiting)
        ended = [one.number for one in self.pending()[:max(0, n_over)]]
        resting = [one for one in self.idle() if now - one.since >= self._settings.idle_seconds]
        resting.sort(key=lambda one: one.since)
        n_left = len(self.replicas) - len(ended) - self._settings.minimum
        return ended + [one.number for one in resting[:max(0, min(n_left, n_over - len(ended)))]]

    def states(self) -> tuple[WorkerState, ...]:
        """The living ones as the pages show them."""
        now = time.monotonic()
        device = "cuda" if self._settings.gpus else "cpu"
        return tuple(
            WorkerState(f"{device} on {one.introduction.node}", one.introduction.pid, one.memory_bytes,
                        f"{one.job.operation} {one.job.model}".strip() if one.job else "",
                        now - one.since if one.job else 0.0, one.models)
            for one in self.replicas.values() if one.introduction is not None)

    def pids_here(self) -> list[int]:
        """Of those that live on this machine."""
        return [one.introduction.pid for one in self.replicas.values()
                if one.introduction is not None and one.introduction.machine == machine()]
