"""What the environment says of a Ray cluster: where it is, how many replicas there may be, what each asks for."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import InputError

ADDRESS = "HAKARI_RAY_ADDRESS"
REPLICAS = "HAKARI_RAY_REPLICAS"
CPUS = "HAKARI_RAY_CPUS"
GPUS = "HAKARI_RAY_GPUS"
IDLE = "HAKARI_RAY_IDLE_SECONDS"
CHUNKS_PER_REPLICA = 4  # a chunk is about a second, a replica takes some to start: fewer are not worth another one

_ADDRESS = re.compile(r"[^\s:/]+:\d{1,5}|\[[0-9A-Fa-f:]+\]:\d{1,5}")
_REPLICAS = re.compile(r"(\d+)(?:\s*-\s*(\d+))?")


@dataclass(frozen=True)
class RaySettings:
    """A cluster and what is asked of it.

    address: HOST:PORT of the head. minimum, maximum: replicas, each with `cpus` and `gpus` of its own (fractions
    share one). idle_seconds: how long a replica beyond the minimum may have nothing to do before it ends.
    """

    address: str
    minimum: int = 1
    maximum: int = 4
    cpus: float = 1.0
    gpus: float = 0.0
    idle_seconds: float = 300.0

    @property
    def host(self) -> tuple[str, int]:
        """Name and port of the head."""
        name, _, port = self.address.rpartition(":")
        return name.strip("[]"), int(port)

    @property
    def share(self) -> str:
        """What a replica asks for, in words."""
        return f"{self.cpus:g} CPU" + (f" and {self.gpus:g} GPU" if self.gpus else "")

    def wanted(self, n_chunks: int) -> int:
        """How many replicas so many chunks, waiting or being computed, are worth.

        >>> [RaySettings("head:6379", 1, 3).wanted(n) for n in (0, 1, 4, 5, 100)]
        [1, 1, 1, 2, 3]
        """
        return max(self.minimum, min(self.maximum, math.ceil(n_chunks / CHUNKS_PER_REPLICA)))


def ray_settings(environment: Mapping[str, str] | None = None) -> RaySettings | None:
    """What the variables HAKARI_RAY_… say; None without an address. Raises InputError for what they cannot mean."""
    given = os.environ if environment is None else environment
    address = given.get(ADDRESS, "").strip()
    if not address:
        return None
    if not _ADDRESS.fullmatch(address):
        raise InputError(f"{ADDRESS} is HOST:PORT of the cluster's head, such as ray-head:6379; got {address!r}.")
    minimum, maximum = _bounds(given)
    cpus, gpus, idle = (_number(given, name, default) for name, default in ((CPUS, 1.0), (GPUS, 0.0), (IDLE, 300.0)))
    if not cpus:
        raise InputError(f"{CPUS} is a number above 0: a replica without a share of a processor would be placed "
                         "anywhere. Give 0.5 for two on one core.")
    for name, share in ((CPUS, cpus), (GPUS, gpus)):
        if share > 1 and share != int(share):
            raise InputError(f"{name} is a fraction of one or a whole number; got {share:g}.")
    return RaySettings(address, minimum, maximum, cpus, gpus, idle)


def _bounds(given: Mapping[str, str]) -> tuple[int, int]:
    text = given.get(REPLICAS, "").strip() or "1-4"
    matched = _REPLICAS.fullmatch(text)
    minimum, maximum = (int(matched[1]), int(matched[2] or matched[1])) if matched else (0, 0)
    if not 0 <= minimum <= maximum or not maximum:
        raise InputError(f"{REPLICAS} is a number of replicas or a span such as 1-4; got {text!r}.")
    return minimum, maximum


def _number(given: Mapping[str, str], variable: str, default: float) -> float:
    text = given.get(variable, "").strip()
    try:
        number = float(text) if text else default
    except ValueError:
        number = -1.0
    if not 0 <= number < math.inf:
        raise InputError(f"{variable} is a number from 0 on; got {text!r}.")
    return number
