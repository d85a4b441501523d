"""Scheduling of chunks on replicas: handles the messages of the driver process, and sends it commands.

Called by one thread, which passes the time; nothing here blocks. A chunk whose replica or node is lost is retried once
on another, and then fails alone with WorkerDied. While the head of the cluster is unreachable, chunks stay queued; a
loss of the head does not count as a failure of the chunks that were running.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from engine.errors import RunError, WorkerDied
from engine.inference.fair_queue import FairQueue
from engine.inference.local.workers import TRIES
from engine.inference.ray.fleet import Fleet, Job
from engine.inference.ray.replica import ReplicaInfo, ReplicaStatus, packed_request
from engine.inference.ray.settings import RaySettings
from engine.inference.statistics import Statistics
from engine.messages.message import Message, together

CLOSED = Message("The workers were closed; nothing more can be computed.")
LONGEST_PAUSE_SECONDS = 10.0  # between two attempts to connect or to start a replica
REFUSED_SECONDS = 60.0  # for which a node with other code or libraries is avoided; then it may have been updated
ROOM_SECONDS = 60.0  # for which a replica may be pending before runs report that the cluster has no room
PATIENCE = 8  # chunks in a row that may overtake the run whose turn it is, because their model is loaded

# A chunk that has ended, and its packed answer or its error.
ChunkOutcome = tuple[Job, bytes | Exception]

logger = logging.getLogger(__name__)


class Dispatcher:
    """Assigns queued chunks to replicas; keeps this server's view of the cluster."""

    def __init__(
        self,
        settings: RaySettings,
        queue: FairQueue[Job],
        statistics: Statistics,
        local_versions: dict[str, str],
        make_driver: Callable[[], Any],
    ) -> None:
        """`local_versions`: of this server's code and libraries; a replica must have the same."""
        self.fleet = Fleet(settings)
        self.driver: Any = None
        self.fingerprints: dict[str, str] = {}  # of models in local directories, by address
        self._settings = settings
        self._queue = queue
        self._statistics = statistics
        self._local_versions = local_versions
        self._make_driver = make_driver
        self._connected = False
        self._unreachable_reason = ""  # why the head cannot be reached, "" if it can
        self._start_failure = ""  # why the last replica could not start or was refused
        self._n_failures, self._retry_at = 0, 0.0
        self._refused_until: dict[str, float] = {}  # Ray's node id -> time

    def fault(self, now: float) -> str:
        """Why no chunk is computed; "" while a replica is running or starting."""
        cluster = Message("The Ray cluster at {address}", address=self._settings.address)
        if self._unreachable_reason:
            return Message(
                "{cluster} does not answer; runs wait ({unreachable_reason}).",
                cluster=cluster,
                unreachable_reason=self._unreachable_reason,
            )
        pending = self.fleet.pending()
        if len(pending) < len(self.fleet.replicas):
            return ""
        if self._start_failure:
            return Message(
                "{cluster} has no replica; runs wait ({start_failure}).",
                cluster=cluster,
                start_failure=self._start_failure,
            )
        if pending and now - pending[-1].since > ROOM_SECONDS and len(self._queue):
            return Message(
                "{cluster} has no room for a replica of {share}; runs wait.",
                cluster=cluster,
                share=self._settings.share,
            )
        return ""

    def handle_message(self, message: tuple[Any, ...], now: float) -> list[ChunkOutcome]:
        """Handle a message of the driver (listed in `driver`); returns the chunks that it ends."""
        match message:
            case ("connected",):
                self._connected, self._unreachable_reason, self._n_failures = True, "", 0
            case ("reachable",):
                self._unreachable_reason = ""
            case ("unreachable", reason):
                self._unreachable_reason = reason
            case ("ready", number, info) if number in self.fleet.replicas:
                self._admit(number, info, now)
            case ("answer", number, answer, status):
                return self._finish(number, answer, status, now)
            case ("lost", number, reason):
                return self._replace_lost(number, reason, now)
            case ("exited", reason):
                return self._handle_driver_exit(reason, now)
        return []

    def schedule(self, now: float) -> list[ChunkOutcome]:
        """Connect, scale and assign chunks as needed; returns the chunks that could not be sent."""
        if self.driver is None and now >= self._retry_at and (len(self._queue) or self._unreachable_reason):
            self.driver = self._make_driver()
        if not self._connected or self._unreachable_reason:
            return []
        for number in self.fleet.surplus(len(self._queue), now):
            self._end(number)
        if now >= self._retry_at:
            avoided = tuple(node for node, until in self._refused_until.items() if until > now)
            for _ in range(self.fleet.missing(len(self._queue))):
                self.driver.send("start", self.fleet.start(now), avoided)
        unsent: list[ChunkOutcome] = []
        while self.fleet.idle() and (job := self._queue.choose(self._is_loaded, PATIENCE)) is not None:
            if not job.future.cancelled():
                unsent += self._assign(job, now)
        return unsent

    def _is_loaded(self, job: Job) -> bool:
        return any(replica.holds(job.model) for replica in self.fleet.idle())

    def _assign(self, job: Job, now: float) -> list[ChunkOutcome]:
        try:
            packed = packed_request(job.operation, job.request, self.fingerprints.get(job.model))
        except Exception as error:
            return [(job, error)]
        replica = self.fleet.best_idle(job)
        self.fleet.assign(replica, job, now)
        self.driver.send("compute", replica.number, packed)
        return []

    def _admit(self, number: int, info: ReplicaInfo, now: float) -> None:
        difference = _version_difference(self._local_versions, info.versions)
        if not difference:
            self.fleet.set_ready(number, info, now)
            self._start_failure, self._n_failures = "", 0
            return
        self._start_failure = Message(
            "node {node} has other versions than this server: {difference}", node=info.node, difference=difference
        )
        logger.warning("A replica was refused: %s", self._start_failure)
        self._refused_until[info.node_id] = now + REFUSED_SECONDS
        self._end(number)

    def _finish(self, number: int, answer: bytes, status: ReplicaStatus, now: float) -> list[ChunkOutcome]:
        finished = self.fleet.finish(number, status, now)
        if finished is None:
            return []
        job, seconds = finished
        self._statistics.record_chunk(seconds)
        return [(job, answer)]

    def _replace_lost(self, number: int, reason: str, now: float) -> list[ChunkOutcome]:
        replica = self.fleet.replicas.pop(number, None)
        if replica is None:
            return []
        if replica.info is None:
            self._start_failure = reason
            self._back_off(now)
            return []
        logger.warning("The replica on node %s was lost: %s", replica.info.node, reason)
        if replica.job is None:
            return []
        replica.job.deaths.append(reason)
        return self._retry(replica.job)

    def _handle_driver_exit(self, reason: str, now: float) -> list[ChunkOutcome]:
        jobs = [replica.job for replica in self.fleet.busy() if replica.job]
        self.fleet.replicas.clear()
        if self._connected and not self._unreachable_reason:  # a chunk may have caused it
            for job in jobs:
                job.deaths.append(reason)
        self._unreachable_reason = self._unreachable_reason or reason
        self.driver.end()
        self.driver, self._connected = None, False
        self._back_off(now)
        return [outcome for job in reversed(jobs) for outcome in self._retry(job)]

    def _retry(self, job: Job) -> list[ChunkOutcome]:
        if len(job.deaths) >= TRIES:
            n_items = len(job.request.get("items", ()))
            return [
                (
                    job,
                    WorkerDied(
                        Message(
                            "The replica on the Ray cluster was lost {TRIES} times during {operation} of {n_items} items "
                            "with {model}: {deaths} A smaller model, shorter sentences or bf16 precision need less memory.",
                            TRIES=TRIES,
                            operation=job.operation,
                            n_items=n_items,
                            model=job.model,
                            deaths=job.deaths[-1],
                        )
                    ),
                )
            ]
        return [] if self._queue.put_back(job.run_id, job) else [(job, RunError(CLOSED))]

    def _back_off(self, now: float) -> None:
        self._n_failures += 1
        self._retry_at = now + min(LONGEST_PAUSE_SECONDS, 2.0 ** (self._n_failures - 1))

    def _end(self, number: int) -> None:
        del self.fleet.replicas[number]
        self.driver.send("end", number)


def _version_difference(local_versions: dict[str, str], remote_versions: dict[str, str]) -> str:
    differences = [
        Message(
            "{name} {name_} there and {version} here",
            name=name,
            name_=remote_versions.get(name, "absent"),
            version=version,
        )
        for name, version in local_versions.items()
        if name != "code" and remote_versions.get(name) != version
    ]
    if local_versions["code"] != remote_versions.get("code"):
        differences.insert(0, Message("the code of Hakari there differs"))
    return together(", ", differences)
