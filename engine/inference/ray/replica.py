"""One replica: what lives on a node of the Ray cluster, computes one chunk at a time and keeps models as a worker does.

Its code is the node's own checkout, which PYTHONPATH names where `ray start` runs; `introduce` tells its state, and the
web server takes no number from another one.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psutil

from engine.errors import EngineError, ModelError
from engine.inference.backend import Piece, Request
from engine.inference.keys import code_and_libraries
from engine.inference.local.worker_process import ChunkFunction, described
from engine.inference.machine import machine
from engine.inference.ray.settings import RaySettings
from engine.inference.worker_state import ResidentModel
from engine.models.sources.model_location import locate
from engine.models.sources.names import local_directory

# What a node does not know by itself.
PASSED_ON = ("HAKARI_MODEL_MEMORY_GB",)


@dataclass(frozen=True)
class Introduction:
    """Where a replica is: `node` for people, `node_id` for Ray; `machine` and `pid` tell its process.

    surroundings: its code and libraries, see `keys.code_and_libraries`.
    """

    node: str
    node_id: str
    machine: str
    pid: int
    surroundings: dict[str, str]


@dataclass(frozen=True)
class Held:
    """What a replica holds after a chunk: its process' resident memory, and its models, the one used last first."""

    memory_bytes: int
    models: tuple[ResidentModel, ...]


class Replica:
    """An actor of Ray. Bytes go in and out, so that neither Ray nor the process between unpickles an array.

    They are pickled, as all that Ray itself sends is: who may speak to the cluster is for its token to say
    (`deploy/SCALING.md`), and errors travel like answers.
    """

    def __init__(self, environment: Mapping[str, str], settings: RaySettings, chunk_function: ChunkFunction) -> None:
        """Before torch is imported: `environment` is the replica's, with its share of the node."""
        import ray

        context = ray.get_runtime_context()
        self._node_id = str(context.get_node_id())
        [node] = [node for node in ray.nodes() if node["NodeID"] == self._node_id]
        self._node = str(node["NodeManagerHostname"])
        self._chunk_function = chunk_function
        os.environ.update(environment)
        os.environ["HAKARI_WORKERS"] = str(replicas_on(node["Resources"], settings))

    def introduce(self) -> Introduction:
        """Where it is, and of which code."""
        return Introduction(self._node, self._node_id, machine(), os.getpid(), code_and_libraries())

    def answer(self, asked: bytes) -> tuple[bytes, Held]:
        """Compute a chunk: from what `packed_request` made to what `unpacked_answer` reads."""
        operation, request, fingerprint = pickle.loads(asked)
        answer: list[Piece] | Exception
        try:
            if fingerprint is not None:
                self._require_same_files(request, fingerprint)
            answer = self._chunk_function(operation, request)
        except EngineError as error:
            answer = error
        except Exception as error:
            answer = described(error, operation, request)
        try:
            packed = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            packed = pickle.dumps(described(error, operation, request), pickle.HIGHEST_PROTOCOL)
        return packed, Held(psutil.Process().memory_info().rss, _resident())

    def _require_same_files(self, request: Request, fingerprint: str) -> None:
        name = request["model"]
        if local_directory(name) is None:
            raise ModelError(f"The directory {name} is not on node {self._node} of the Ray cluster. A model's "
                             "directory must be at the same path on every node, as on a shared file system.")
        if locate(name, request.get("revision")).fingerprint != fingerprint:
            raise ModelError(f"The files of {name} on node {self._node} of the Ray cluster are not those of the web "
                             "server. Copy them there again, or share one file system.")


def packed_request(operation: str, request: Request, fingerprint: str | None) -> bytes:
    """What `Replica.answer` reads; `fingerprint` is that of the model's files where every node has its own."""
    return pickle.dumps((operation, request, fingerprint), pickle.HIGHEST_PROTOCOL)


def unpacked_answer(packed: bytes) -> list[Piece]:
    """The pieces that a replica computed. Raises what the computation raised."""
    answer = pickle.loads(packed)
    if isinstance(answer, Exception):
        raise answer
    return answer  # type: ignore[no-any-return]


def environment_of_replicas(settings: RaySettings) -> dict[str, str]:
    """What every replica finds in its environment: as many threads as processors, and its device."""
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    # Ray hides the cards that a replica did not ask for; those it did are "auto".
    return {**passed, "HAKARI_THREADS": str(max(1, int(settings.cpus))),
            "HAKARI_DEVICE": "auto" if settings.gpus else "cpu"}


def replicas_on(resources: Mapping[str, float], settings: RaySettings) -> int:
    """How many replicas may come to share a node's memory.

    >>> replicas_on({"CPU": 8.0, "GPU": 2.0}, RaySettings("head:6379", maximum=16, cpus=2, gpus=1))
    2
    """
    room = [resources.get("CPU", 0.0) / settings.cpus]
    if settings.gpus:
        room.append(resources.get("GPU", 0.0) / settings.gpus)
    return max(1, min(settings.maximum, *(int(one) for one in room)))


def _resident() -> tuple[ResidentModel, ...]:
    """A replica that never asked a model has not imported their library, and does not do so for this."""
    worker: Any = sys.modules.get("engine.models.worker")
    return tuple(ResidentModel(**model) for model in worker.models_in_memory()) if worker is not None else ()
