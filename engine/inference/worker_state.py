"""What a worker is computing and which models it holds, as last reported by it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelInMemory:
    """A model in a worker's memory in one precision.

    task: those that it was asked ("encode", "masked", "causal"), joined by ", ".
    """

    name: str
    task: str
    device: str
    parameters: int
    bytes: int
    precision: str = "fp32"


@dataclass(frozen=True)
class WorkerState:
    """One worker: its device ("auto" chooses itself), its process, and what that process holds.

    memory_bytes: resident memory of the whole process, models and libraries; None where it cannot be measured.
    computing: operation and model of the current chunk, "" while idle; seconds: for how long. models: as reported with
    the last finished chunk, most recently used first; a model that is being loaded is not yet among them.
    """

    device: str
    pid: int
    memory_bytes: int | None
    computing: str
    seconds: float
    models: tuple[ModelInMemory, ...]
