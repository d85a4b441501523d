"""A backend that serves the models of HAKARI_ENDPOINTS itself, and passes everything else to another backend.

A thread with an event loop talks to the servers: chunks of each endpoint wait in a queue of their own, shared fairly by
runs, and a few are in flight at once. What is in flight for a run that is cancelled is broken off.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
import traceback
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from engine.errors import Cancelled, EngineError, ModelError, RunError
from engine.inference.backend import Backend, DownloadProgress, Piece, Request
from engine.inference.endpoint.client import FIRST_PAUSE, Client
from engine.inference.endpoint.identity import Identity, identity_of
from engine.inference.endpoint.scoring import Scorer
from engine.inference.endpoint.settings import Endpoint, endpoints
from engine.inference.endpoint.trial import Abilities, try_endpoint
from engine.inference.fair_queue import FairQueue
from engine.inference.worker_state import WorkerState
from engine.messages.message import Message
from engine.models.sources.endpoint_names import is_endpoint, needs_the_model, unknown_endpoint
from engine.models.sources.facts import ENDPOINT, EndpointFacts, ModelFacts
from engine.models.sources.model_location import LocatedModel

CLOSED = Message("The connections to the endpoints were closed; nothing more can be computed.")
CLOSE_SECONDS = 5.0


@dataclass(frozen=True, eq=False)
class _Job:
    operation: str
    request: Request
    run_id: str
    number: int  # rising: cancelling a run concerns the chunks that it has, not those that follow
    future: Future[list[Piece]] = field(default_factory=Future)


class _Lane:
    """The requests of one endpoint. Used by the event loop alone, but for its queue."""

    def __init__(self, endpoint: Endpoint, client: Client) -> None:
        self.endpoint, self.client = endpoint, client
        self.queue: FairQueue[_Job] = FairQueue()
        self.tasks: dict[asyncio.Task[None], _Job] = {}  # of chunks in flight
        self.identities: dict[str, Identity] = {}  # by fingerprint
        self._trials: dict[str, asyncio.Task[Abilities]] = {}

    async def abilities(self, fingerprint: str) -> Abilities:
        """What the trial of the endpoint found out; it is made once for each fingerprint, and again after an error."""
        trial = self._trials.get(fingerprint)
        if trial is None or (trial.done() and (trial.cancelled() or trial.exception() is not None)):
            trial = self._trials[fingerprint] = asyncio.create_task(try_endpoint(self.endpoint, self.client))
        return await asyncio.shield(trial)


class WithEndpoints:
    """Implements `engine.inference.backend.Backend`. The thread starts with the first use of an endpoint."""

    def __init__(self, backend: Backend, by_name: Mapping[str, Endpoint], *, first_pause: float = FIRST_PAUSE) -> None:
        """`first_pause`: seconds before a request is tried for the second time."""
        self.statistics = backend.statistics
        self._backend, self._endpoints, self._first_pause = backend, dict(by_name), first_pause
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lanes: dict[str, _Lane] = {}
        self._closed = False
        self._numbers = count()

    @property
    def devices(self) -> tuple[str, ...]:
        """Those of the other backend."""
        return self._backend.devices

    def locate(self, model: str, revision: str | None = None, report: DownloadProgress | None = None) -> LocatedModel:
        """Where a model is; of an endpoint, what its server says of itself now stands for its commit."""
        if not is_endpoint(model):
            return self._backend.locate(model, revision, report)
        endpoint = self._require(model)
        if revision:
            raise ModelError(Message("{model} has no revisions; got {revision!r}.", model=model, revision=revision))
        identity = self._asked(self._identify(endpoint))
        return LocatedModel(model, ENDPOINT, Path(), commit=identity.fingerprint)

    def run(self, operation: str, request: Request, run_id: str) -> Future[list[Piece]]:
        """Queue one chunk. Raises ModelError for an operation that an endpoint cannot serve."""
        model = str(request.get("model", ""))
        if not is_endpoint(model):
            return self._backend.run(operation, request, run_id)
        endpoint = self._require(model)
        if operation not in ("describe", "token_log_likelihoods"):
            raise needs_the_model(model)
        lane, job = self._lane(endpoint), _Job(operation, request, run_id, next(self._numbers))
        if not lane.queue.put(run_id, job):
            raise RunError(CLOSED)
        self._running_loop().call_soon_threadsafe(self._fill, lane)
        return job.future

    def cancel(self, run_id: str) -> None:
        """Drop the run's queued chunks; those in flight at an endpoint are broken off."""
        self._backend.cancel(run_id)
        with self._lock:
            lanes, loop = list(self._lanes.values()), self._loop
        for lane in lanes:
            for job in lane.queue.drop(run_id):
                job.future.cancel()
        if loop is not None and lanes:
            loop.call_soon_threadsafe(self._break_off, lanes, run_id, next(self._numbers))

    def pids(self) -> list[int]:
        """Those of the other backend."""
        return self._backend.pids()

    def fault(self) -> str:
        """That of the other backend."""
        return self._backend.fault()

    def workers(self) -> tuple[WorkerState, ...]:
        """Those of the other backend."""
        return self._backend.workers()

    def close(self) -> None:
        """Break off all requests, and close the other backend."""
        with self._lock:
            self._closed = True
            lanes, loop, thread = list(self._lanes.values()), self._loop, self._thread
        for lane in lanes:
            for job in lane.queue.close():
                job.future.cancel()
        try:
            if loop is not None and thread is not None and thread.is_alive():
                # A connection that is not closed blocks nothing.
                with suppress(Exception):
                    asyncio.run_coroutine_threadsafe(_closed(lanes), loop).result(CLOSE_SECONDS)
                loop.call_soon_threadsafe(loop.stop)
                thread.join(CLOSE_SECONDS)
        finally:
            self._backend.close()

    def _require(self, model: str) -> Endpoint:
        if model not in self._endpoints:
            raise unknown_endpoint(model, self._endpoints)
        return self._endpoints[model]

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise RunError(CLOSED)
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run_loop, args=(self._loop,), name="hakari-endpoints", daemon=True
                )
                self._thread.start()
            return self._loop

    def _lane(self, endpoint: Endpoint) -> _Lane:
        with self._lock:
            if endpoint.name not in self._lanes:
                self._lanes[endpoint.name] = _Lane(endpoint, Client(endpoint, first_pause=self._first_pause))
            return self._lanes[endpoint.name]

    def _asked(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The result of a coroutine of the event loop, for which the caller waits."""
        try:
            loop = self._running_loop()
        except RunError:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    async def _identify(self, endpoint: Endpoint) -> Identity:
        lane = self._lane(endpoint)
        identity = await identity_of(endpoint, lane.client)
        lane.identities[identity.fingerprint] = identity
        return identity

    def _fill(self, lane: _Lane) -> None:
        while len(lane.tasks) < lane.endpoint.requests:
            job = lane.queue.choose(lambda _: True, patience=0)
            if job is None:
                return
            if job.future.set_running_or_notify_cancel():
                task = asyncio.get_running_loop().create_task(self._serve(lane, job))
                lane.tasks[task] = job
                task.add_done_callback(lambda done: self._finish(lane, done))

    def _finish(self, lane: _Lane, task: asyncio.Task[None]) -> None:
        job = lane.tasks.pop(task)
        if not job.future.done():  # it was broken off before it began
            job.future.set_exception(Cancelled(Message("The run was cancelled.")))
        self._fill(lane)

    def _break_off(self, lanes: list[_Lane], run_id: str, before: int) -> None:
        for lane in lanes:
            for task, job in lane.tasks.items():
                if job.run_id == run_id and job.number < before:
                    task.cancel()

    async def _serve(self, lane: _Lane, job: _Job) -> None:
        start = time.monotonic()
        try:
            pieces = await _computed(lane, job)
        except asyncio.CancelledError:
            job.future.set_exception(Cancelled(Message("The run was cancelled.")))
        except EngineError as error:
            job.future.set_exception(error)
        except Exception as error:  # the key may be in it, and it must go through a pipe
            text = lane.client.without_key(f"{type(error).__name__}: {error}")
            place = "".join(traceback.format_tb(error.__traceback__))
            job.future.set_exception(RuntimeError(f"{text} during {job.operation} at an endpoint\n{place}"))
        else:
            self.statistics.record_chunk(time.monotonic() - start)
            job.future.set_result(pieces)


def with_endpoints(backend: Backend) -> Backend:
    """A backend that also serves the endpoints of HAKARI_ENDPOINTS; the backend itself where there are none.

    Raises InputError for an entry that cannot be, after the backend was closed.
    """
    try:
        by_name = endpoints()
    except EngineError:
        backend.close()
        raise
    return WithEndpoints(backend, by_name) if by_name else backend


async def _computed(lane: _Lane, job: _Job) -> list[Piece]:
    fingerprint = str(job.request.get("revision") or "")
    identity = lane.identities.get(fingerprint)
    if identity is None:
        raise RunError(
            Message(
                "The server of {full_name} has another model than when the run began. Run it again.",
                full_name=lane.endpoint.full_name,
            )
        )
    abilities = await lane.abilities(fingerprint)
    if job.operation == "describe":
        return [_facts(lane.endpoint, identity, abilities).to_dict()]
    scorer = Scorer(lane.endpoint, lane.client, abilities, job.request["settings"])
    return await scorer.pieces(job.request["items"])


def _facts(endpoint: Endpoint, identity: Identity, abilities: Abilities) -> ModelFacts:
    opening = abilities.opening
    bos = abilities.bos or (opening[0] if len(opening) == 1 else "")
    meta = identity.reported.get("meta")
    n_parameters = meta.get("n_params") if isinstance(meta, Mapping) else None
    longest = identity.reported.get("max_model_len")
    return ModelFacts(
        name=endpoint.full_name,
        source=ENDPOINT,
        path="",
        revision=None,
        fingerprint=identity.fingerprint,
        tokenizer_fingerprint=hashlib.sha256(f"tokens of {identity.fingerprint}".encode()).hexdigest(),
        architecture=Message("a model behind a server"),
        kind="causal",
        n_layers=0,
        hidden_size=0,
        vocab_size=0,
        max_tokens=longest if isinstance(longest, int) else 0,
        n_parameters=n_parameters if isinstance(n_parameters, int) else 0,
        tokenizer=Message("the server's"),
        has_mask=False,
        has_cls=False,
        has_bos=bool(bos),
        device="server",
        dtype=Message("as served"),
        weights_bytes=0,
        latin_tokens=abilities.latin_tokens,
        bos_token=bos,
        opening=opening,
        endpoint=EndpointFacts(
            endpoint.host,
            endpoint.model,
            identity.version,
            identity.reported,
            abilities.form.style,
            abilities.continued,
        ),
    )


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _closed(lanes: list[_Lane]) -> None:
    own = asyncio.current_task()
    tasks = [task for task in asyncio.all_tasks() if task is not own]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for lane in lanes:
        await lane.client.close()
