"""A replica: the Ray actor on a node of the cluster that computes one chunk at a time and keeps models in memory.

Its code is the node's own checkout, in the PYTHONPATH of `ray start`; `info` returns its versions, and the web server
uses only replicas with the same versions as its own.
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
from engine.inference.local.worker_loop import ChunkFunction, portable_error
from engine.inference.machine import machine
from engine.inference.ray.settings import RaySettings
from engine.inference.worker_state import ModelInMemory
from engine.messages.message import Message
from engine.models.sources.model_location import locate
from engine.models.sources.names import local_directory

# Variables of the web server that a node needs.
FORWARDED_VARIABLES = ("HAKARI_MODEL_MEMORY_GB", "HAKARI_PACKING", "HAKARI_TOKENIZERS")


@dataclass(frozen=True)
class ReplicaInfo:
    """Where a replica runs: host name of the node, Ray's node id, machine and process id.

    versions: of its code and libraries, see `keys.code_and_libraries`.
    """

    node: str
    node_id: str
    machine: str
    pid: int
    versions: dict[str, str]


@dataclass(frozen=True)
class ReplicaStatus:
    """The memory of a replica after a chunk: resident bytes of its process; its models, most recently used first."""

    memory_bytes: int
    models: tuple[ModelInMemory, ...]


class Replica:
    """A Ray actor. It receives and returns bytes, so that neither Ray nor the driver process unpickles arrays.

    They are pickled, like everything that Ray sends: access to the cluster is protected by its token
    (`docs/scaling.md`). Errors are returned like answers.
    """

    def __init__(self, environment: Mapping[str, str], settings: RaySettings, chunk_function: ChunkFunction) -> None:
        """Set the environment of the replica, before torch is imported, and its share of the node's memory."""
        import ray

        context = ray.get_runtime_context()
        self._node_id = str(context.get_node_id())
        [node] = [node for node in ray.nodes() if node["NodeID"] == self._node_id]
        self._node = str(node["NodeManagerHostname"])
        self._chunk_function = chunk_function
        os.environ.update(environment)
        os.environ["HAKARI_WORKERS"] = str(replicas_on(node["Resources"], settings))

    def info(self) -> ReplicaInfo:
        """Where it runs, and the versions of its code and libraries."""
        return ReplicaInfo(self._node, self._node_id, machine(), os.getpid(), code_and_libraries())

    def answer(self, packed: bytes) -> tuple[bytes, ReplicaStatus]:
        """Compute a chunk: takes bytes of `packed_request`, returns bytes for `unpacked_answer` and the new status."""
        operation, request, fingerprint = pickle.loads(packed)
        answer: list[Piece] | Exception
        try:
            if fingerprint is not None:
                self._require_same_files(request, fingerprint)
            answer = self._chunk_function(operation, request)
        except EngineError as error:
            answer = error
        except Exception as error:
            answer = portable_error(error, operation, request)
        try:
            packed_answer = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            packed_answer = pickle.dumps(portable_error(error, operation, request), pickle.HIGHEST_PROTOCOL)
        return packed_answer, ReplicaStatus(psutil.Process().memory_info().rss, _models_in_memory())

    def _require_same_files(self, request: Request, fingerprint: str) -> None:
        name = request["model"]
        if local_directory(name) is None:
            raise ModelError(
                Message(
                    "The directory {name} is not on node {node} of the Ray cluster. A model's "
                    "directory must be at the same path on every node, as on a shared file system.",
                    name=name,
                    node=self._node,
                )
            )
        if locate(name, request.get("revision")).fingerprint != fingerprint:
            raise ModelError(
                Message(
                    "The files of {name} on node {node} of the Ray cluster are not those of the web "
                    "server. Copy them there again, or share one file system.",
                    name=name,
                    node=self._node,
                )
            )


def packed_request(operation: str, request: Request, fingerprint: str | None) -> bytes:
    """The bytes that `Replica.answer` takes; `fingerprint`: of the files of a model in a local directory, else None."""
    return pickle.dumps((operation, request, fingerprint), pickle.HIGHEST_PROTOCOL)


def unpacked_answer(packed: bytes) -> list[Piece]:
    """The pieces that a replica computed. Raises what the computation raised."""
    answer = pickle.loads(packed)
    if isinstance(answer, Exception):
        raise answer
    return answer  # type: ignore[no-any-return]


def environment_of_replicas(settings: RaySettings) -> dict[str, str]:
    """The environment variables of every replica: one thread per processor, and its device."""
    forwarded = {name: os.environ[name] for name in FORWARDED_VARIABLES if name in os.environ}
    # Ray hides the GPUs that a replica did not request, so "auto" finds exactly its own.
    return {
        **forwarded,
        "HAKARI_THREADS": str(max(1, int(settings.cpus))),
        "HAKARI_DEVICE": "auto" if settings.gpus else "cpu",
    }


def replicas_on(resources: Mapping[str, float], settings: RaySettings) -> int:
    """The largest number of replicas that may share the memory of a node.

    >>> replicas_on({"CPU": 8.0, "GPU": 2.0}, RaySettings("head:6379", maximum=16, cpus=2, gpus=1))
    2
    """
    n_by_resource = [resources.get("CPU", 0.0) / settings.cpus]
    if settings.gpus:
        n_by_resource.append(resources.get("GPU", 0.0) / settings.gpus)
    return max(1, min(settings.maximum, *(int(n) for n in n_by_resource)))


def _models_in_memory() -> tuple[ModelInMemory, ...]:
    """The models in memory; none as long as the library of the models is not imported."""
    worker: Any = sys.modules.get("engine.models.worker")
    return tuple(ModelInMemory(**model) for model in worker.models_in_memory()) if worker is not None else ()
