"""What a worker is doing and which models it holds, as last heard from it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ResidentModel:
    """A model in a worker's memory, loaded for one task ("encode", "masked", "causal")."""

    name: str
    task: str
    device: str
    parameters: int
    bytes: int


@dataclass(frozen=True)
class WorkerState:
    """One worker: the device it was made for ("auto" chooses itself), its process, and what that process holds.

    memory_bytes: resident memory of the whole process, models and libraries; None where it cannot be told. computing:
    the operation and model of the chunk it has now, for so many seconds; "" while it waits. models: as it said with the
    last chunk it finished, the one used last first; a model that is only now being loaded is not among them.
    """

    device: str
    pid: int
    memory_bytes: int | None
    computing: str
    seconds: float
    models: tuple[ResidentModel, ...]
