"""Settings of a Ray cluster from the environment: address, number of replicas, resources per replica."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import InputError
from engine.messages.message import Message

ADDRESS = "HAKARI_RAY_ADDRESS"
REPLICAS = "HAKARI_RAY_REPLICAS"
CPUS = "HAKARI_RAY_CPUS"
GPUS = "HAKARI_RAY_GPUS"
IDLE = "HAKARI_RAY_IDLE_SECONDS"
CHUNKS_PER_REPLICA = 4  # a chunk takes about a second, a replica several to start

_ADDRESS = re.compile(r"[^\s:/]+:\d{1,5}|\[[0-9A-Fa-f:]+\]:\d{1,5}")
_REPLICAS = re.compile(r"(\d+)(?:\s*-\s*(\d+))?")


@dataclass(frozen=True)
class RaySettings:
    """The address of a cluster and the resources requested from it.

    address: HOST:PORT of the head. minimum, maximum: number of replicas. cpus, gpus: of each replica (fractions share
    one). idle_seconds: after how long an idle replica beyond the minimum is ended.
    """

    address: str
    minimum: int = 1
    maximum: int = 4
    cpus: float = 1.0
    gpus: float = 0.0
    idle_seconds: float = 300.0

    @property
    def host(self) -> tuple[str, int]:
        """Host name and port of the head."""
        name, _, port = self.address.rpartition(":")
        return name.strip("[]"), int(port)

    @property
    def share(self) -> str:
        """The resources of one replica, for messages."""
        return (
            Message("{cpus:g} CPU and {gpus:g} GPU", cpus=self.cpus, gpus=self.gpus)
            if self.gpus
            else f"{self.cpus:g} CPU"
        )

    def n_replicas_for(self, n_chunks: int) -> int:
        """The number of replicas for `n_chunks` queued or running chunks.

        >>> [RaySettings("head:6379", 1, 3).n_replicas_for(n) for n in (0, 1, 4, 5, 100)]
        [1, 1, 1, 2, 3]
        """
        return max(self.minimum, min(self.maximum, math.ceil(n_chunks / CHUNKS_PER_REPLICA)))


def ray_settings(environment: Mapping[str, str] | None = None) -> RaySettings | None:
    """The settings of the variables HAKARI_RAY_…; None without an address. Raises InputError for invalid values."""
    environment = os.environ if environment is None else environment
    address = environment.get(ADDRESS, "").strip()
    if not address:
        return None
    if not _ADDRESS.fullmatch(address):
        raise InputError(
            Message(
                "{ADDRESS} is HOST:PORT of the cluster's head, such as ray-head:6379; got {address!r}.",
                ADDRESS=ADDRESS,
                address=address,
            )
        )
    minimum, maximum = _bounds(environment)
    defaults = ((CPUS, 1.0), (GPUS, 0.0), (IDLE, 300.0))
    cpus, gpus, idle = (_number(environment, name, default) for name, default in defaults)
    if not cpus:
        raise InputError(
            Message(
                "{CPUS} is a number above 0: Ray would place a replica without a share of a "
                "processor on any node. Give 0.5 for two replicas on one core.",
                CPUS=CPUS,
            )
        )
    for name, share in ((CPUS, cpus), (GPUS, gpus)):
        if share > 1 and share != int(share):
            raise InputError(
                Message("{name} is a fraction of one or a whole number; got {share:g}.", name=name, share=share)
            )
    return RaySettings(address, minimum, maximum, cpus, gpus, idle)


def _bounds(environment: Mapping[str, str]) -> tuple[int, int]:
    text = environment.get(REPLICAS, "").strip() or "1-4"
    matched = _REPLICAS.fullmatch(text)
    minimum, maximum = (int(matched[1]), int(matched[2] or matched[1])) if matched else (0, 0)
    if not 0 <= minimum <= maximum or not maximum:
        raise InputError(
            Message(
                "{REPLICAS} is a number of replicas or a range such as 1-4; got {text!r}.", REPLICAS=REPLICAS, text=text
            )
        )
    return minimum, maximum


def _number(environment: Mapping[str, str], variable: str, default: float) -> float:
    text = environment.get(variable, "").strip()
    try:
        number = float(text) if text else default
    except ValueError:
        number = -1.0
    if not 0 <= number < math.inf:
        raise InputError(Message("{variable} is a number from 0 on; got {text!r}.", variable=variable, text=text))
    return number
