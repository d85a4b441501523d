"""Which replica computes what: what is done with every message of the driver, and what is sent to it.

One thread calls it, and gives the time: nothing here waits. A chunk whose replica or node is lost goes to another
once, and then fails alone with WorkerDied. While the head of the cluster does not answer, chunks wait; what is lost
with the head counts against no chunk.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from engine.errors import RunError, WorkerDied
from engine.inference.fair_queue import FairQueue
from engine.inference.local.workers import TRIES
from engine.inference.ray.fleet import Fleet, Job
from engine.inference.ray.replica import Held, Introduction, packed_request
from engine.inference.ray.settings import RaySettings
from engine.inference.statistics import Statistics

CLOSED = "The workers were closed; nothing more can be computed."
LONGEST_PAUSE_SECONDS = 10.0  # between two attempts to connect, or to start a replica that cannot start
REFUSED_SECONDS = 60.0  # that a node of other code is avoided: it may have been updated since
ROOM_SECONDS = 60.0  # that the cluster may take to find room before runs are told so
PATIENCE = 8  # chunks that may be taken before that of the run whose turn it is, for their model's sake

# A chunk that has come to an end: packed, as its replica answered, or why there is no answer.
Settled = tuple[Job, bytes | Exception]

logger = logging.getLogger(__name__)


class Dispatch:
    """The state of the cluster as far as this server knows it."""

    def __init__(self, settings: RaySettings, queue: FairQueue[Job], statistics: Statistics,
                 own: dict[str, str], make_driver: Callable[[], Any]) -> None:
        """`own`: this server's code and libraries, which a replica must share; `make_driver` starts a driver."""
        self.fleet = Fleet(settings)
        self.driver: Any = None
        self.fingerprints: dict[str, str] = {}  # of the models in directories, by address
        self._settings = settings
        self._queue = queue
        self._statistics = statistics
        self._own = own
        self._make_driver = make_driver
        self._connected = False
        self._silence = ""  # why the cluster does not answer
        self._trouble = ""  # why no replica could start
        self._n_failures, self._not_before = 0, 0.0
        self._refused: dict[str, float] = {}  # node -> until when

    def fault(self, now: float) -> str:
        """Why chunks wait; "" while a replica lives, or one may soon."""
        cluster = f"The Ray cluster at {self._settings.address}"
        if self._silence:
            return f"{cluster} does not answer; runs wait ({self._silence})."
        pending = self.fleet.pending()
        if len(pending) < len(self.fleet.replicas):
            return ""
        if self._trouble:
            return f"{cluster} has no replica; runs wait ({self._trouble})."
        if pending and now - pending[-1].since > ROOM_SECONDS and len(self._queue):
            return f"{cluster} has no room for a replica of {self._settings.share}; runs wait."
        return ""

    def heed(self, message: tuple[Any, ...], now: float) -> list[Settled]:
        """Take in what the driver said (see `ray_driver`); the chunks that this ends."""
        match message:
            case ("connected",):
                self._connected, self._silence, self._n_failures = True, "", 0
            case ("answers",):
                self._silence = ""
            case ("silent", reason):
                self._silence = reason
            case ("ready", number, introduction) if number in self.fleet.replicas:
                self._welcome(number, introduction, now)
            case ("answer", number, answer, held):
                return self._answered(number, answer, held, now)
            case ("lost", number, reason):
                return self._lost(number, reason, now)
            case ("gone", reason):
                return self._driver_gone(reason, now)
        return []

    def advance(self, now: float) -> list[Settled]:
        """Connect, scale, and give out chunks, as far as there is need; the chunks that cannot be sent."""
        if self.driver is None and now >= self._not_before and (len(self._queue) or self._silence):
            self.driver = self._make_driver()
        if not self._connected or self._silence:
            return []
        for number in self.fleet.surplus(len(self._queue), now):
            self._end(number)
        if now >= self._not_before:
            avoided = tuple(node for node, until in self._refused.items() if until > now)
            for _ in range(self.fleet.missing(len(self._queue))):
                self.driver.tell("start", self.fleet.start(now), avoided)
        unsent: list[Settled] = []
        while self.fleet.idle() and (job := self._queue.choose(self._suits, PATIENCE)) is not None:
            if not job.future.cancelled():
                unsent += self._give(job, now)
        return unsent

    def _suits(self, job: Job) -> bool:
        return any(one.holds(job.model) for one in self.fleet.idle())

    def _give(self, job: Job, now: float) -> list[Settled]:
        try:
            asked = packed_request(job.operation, job.request, self.fingerprints.get(job.model))
        except Exception as error:
            return [(job, error)]
        replica = self.fleet.chosen(job)
        self.fleet.give(replica, job, now)
        self.driver.tell("ask", replica.number, asked)
        return []

    def _welcome(self, number: int, introduction: Introduction, now: float) -> None:
        difference = _difference(self._own, introduction.surroundings)
        if not difference:
            self.fleet.ready(number, introduction, now)
            self._trouble, self._n_failures = "", 0
            return
        self._trouble = f"node {introduction.node} would give other numbers than this server: {difference}"
        logger.warning("A replica was refused: %s", self._trouble)
        self._refused[introduction.node_id] = now + REFUSED_SECONDS
        self._end(number)

    def _answered(self, number: int, answer: bytes, held: Held, now: float) -> list[Settled]:
        found = self.fleet.answered(number, held, now)
        if found is None:
            return []
        job, seconds = found
        self._statistics.computed(seconds)
        return [(job, answer)]

    def _lost(self, number: int, reason: str, now: float) -> list[Settled]:
        replica = self.fleet.replicas.pop(number, None)
        if replica is None:
            return []
        if replica.introduction is None:
            self._trouble = reason
            self._pause(now)
            return []
        logger.warning("The replica on node %s was lost: %s", replica.introduction.node, reason)
        if replica.job is None:
            return []
        replica.job.deaths.append(reason)
        return self._again(replica.job)

    def _driver_gone(self, reason: str, now: float) -> list[Settled]:
        jobs = [one.job for one in self.fleet.busy() if one.job]
        self.fleet.replicas.clear()
        if self._connected and not self._silence:  # one of the chunks may have been too much for it
            for job in jobs:
                job.deaths.append(reason)
        self._silence = self._silence or reason
        self.driver.end()
        self.driver, self._connected = None, False
        self._pause(now)
        return [ended for job in reversed(jobs) for ended in self._again(job)]

    def _again(self, job: Job) -> list[Settled]:
        if len(job.deaths) >= TRIES:
            n_items = len(job.request.get("items", ()))
            return [(job, WorkerDied(
                f"The replica on the Ray cluster was lost {TRIES} times during {job.operation} of {n_items} items with "
                f"{job.model}: {job.deaths[-1]} A smaller model, shorter sentences or bf16 precision need less memory."
            ))]
        return [] if self._queue.put_back(job.run_id, job) else [(job, RunError(CLOSED))]

    def _pause(self, now: float) -> None:
        self._n_failures += 1
        self._not_before = now + min(LONGEST_PAUSE_SECONDS, 2.0 ** (self._n_failures - 1))

    def _end(self, number: int) -> None:
        del self.fleet.replicas[number]
        self.driver.tell("end", number)


def _difference(own: dict[str, str], theirs: dict[str, str]) -> str:
    said = [f"{name} {theirs.get(name, 'absent')} there and {version} here" for name, version in own.items()
            if name != "code" and theirs.get(name) != version]
    if own["code"] != theirs.get("code"):
        said.insert(0, "Hakari's code there is of another state")
    return ", ".join(said)
