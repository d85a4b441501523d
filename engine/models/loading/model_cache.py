"""The models that a worker process keeps in memory: the most recently used, within a bound in bytes."""

from __future__ import annotations

import gc
import os
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import psutil
import torch

from engine.errors import InputError, ModelError
from engine.models.loading.describing import Described, describe
from engine.models.loading.devices import chosen_device
from engine.models.loading.weights import Loaded, Task, load_described
from engine.models.sources.locating import locate

MEMORY_VARIABLE = "HAKARI_MODEL_MEMORY_GB"
WORKERS_VARIABLE = "HAKARI_WORKERS"
DESCRIBED_KEPT = 16
BYTES_PER_NUMBER = 4  # float32


@dataclass
class Residents:
    """Models by (fingerprint, task, …), least recently used first. A changed model has another fingerprint."""

    loaded: OrderedDict[tuple[str, ...], Loaded] = field(default_factory=OrderedDict)
    described: OrderedDict[tuple[str, ...], Described] = field(default_factory=OrderedDict)

    def describe(self, name: str, revision: str | None) -> Described:
        """Facts, configuration and tokenizer of a model, read once while its files stay as they are.

        For a model of the hub, give the commit: a branch is looked up anew each time. Raises ModelError as `describe`.
        """
        located = locate(name, revision)
        key = (name, str(located.path), located.fingerprint, str(chosen_device()))
        if key not in self.described:
            self.described[key] = describe(located)
            while len(self.described) > DESCRIBED_KEPT:
                self.described.popitem(last=False)
        self.described.move_to_end(key)
        return self.described[key]

    def load(self, name: str, revision: str | None, task: Task) -> Loaded:
        """The model for a task, from memory where it is there; others make room for it.

        Raises ModelError as `load` does, and when the model alone is beyond the bound.
        """
        described = self.describe(name, revision)
        facts = described.facts
        key = (name, facts.path, facts.fingerprint, facts.device, task)
        if key not in self.loaded:
            self._make_room(facts.name, facts.n_parameters * BYTES_PER_NUMBER)
            self.loaded[key] = load_described(described, task)
        self.loaded.move_to_end(key)
        return self.loaded[key]

    def report(self) -> list[dict[str, Any]]:
        """The models in memory, the one used last first, in plain values: name, task, device, parameters, bytes.

        bytes: what their numbers take, in float32 or otherwise.
        """
        return [
            {"name": loaded.facts.name, "task": key[-1], "device": loaded.facts.device,
             "parameters": loaded.facts.n_parameters, "bytes": _bytes_of(loaded)}
            for key, loaded in reversed(self.loaded.items())
        ]

    def _make_room(self, name: str, needed: int) -> None:
        bound = memory_bound()
        if needed > bound:
            raise ModelError(f"{name} takes {needed / 2**30:.2f} GiB in memory; the models of a worker may take "
                             f"{bound / 2**30:.2f} GiB. Set {MEMORY_VARIABLE} to more, or choose a smaller model.")
        used = sum(resident.facts.n_parameters * BYTES_PER_NUMBER for resident in self.loaded.values())
        while self.loaded and used + needed > bound:
            _, dropped = self.loaded.popitem(last=False)
            used -= dropped.facts.n_parameters * BYTES_PER_NUMBER
            del dropped
            gc.collect()  # transformers' models hold references to themselves
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


def _bytes_of(loaded: Loaded) -> int:
    return sum(tensor.numel() * tensor.element_size()
               for tensor in (*loaded.model.parameters(), *loaded.model.buffers()))


def memory_bound() -> int:
    """Bytes that the models of one worker may take: HAKARI_MODEL_MEMORY_GB, or its share of half the memory there is.

    The memory is the graphics card's where that is the device, else the machine's, shared by HAKARI_WORKERS workers.
    Raises InputError when the variable holds no positive number.
    """
    given = os.environ.get(MEMORY_VARIABLE, "").strip()
    if given:
        try:
            bound = float(given) * 2**30
        except ValueError:
            bound = 0.0
        if not bound > 0:
            raise InputError(f"{MEMORY_VARIABLE} is a number of gigabytes above 0; got {given!r}.")
        return int(bound)
    device = chosen_device()
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory // 2)
    return int(psutil.virtual_memory().total // 2 // max(1, int(os.environ.get(WORKERS_VARIABLE) or 1)))
