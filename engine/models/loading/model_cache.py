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
from engine.models.loading.devices import chosen_device
from engine.models.loading.model_description import DescribedModel, describe
from engine.models.loading.weights import LoadedModel, Task, load_from_description
from engine.models.sources.model_location import locate
from engine.precision import BYTES_PER_WEIGHT

MEMORY_VARIABLE = "HAKARI_MODEL_MEMORY_GB"
WORKERS_VARIABLE = "HAKARI_WORKERS"
MAX_DESCRIPTIONS = 16


@dataclass
class ModelCache:
    """Models by (fingerprint, precision, task, …), least recently used first.

    A changed model has another fingerprint.
    """

    loaded: OrderedDict[tuple[str, ...], LoadedModel] = field(default_factory=OrderedDict)
    described: OrderedDict[tuple[str, ...], DescribedModel] = field(default_factory=OrderedDict)

    def describe(self, name: str, revision: str | None) -> DescribedModel:
        """Facts, configuration and tokenizer of a model, read again only when its files change.

        For a model of the hub, give the commit: a branch is looked up anew each time. Raises ModelError as `describe`.
        """
        located = locate(name, revision)
        key = (name, str(located.path), located.fingerprint, str(chosen_device()))
        if key not in self.described:
            self.described[key] = describe(located)
            while len(self.described) > MAX_DESCRIPTIONS:
                self.described.popitem(last=False)
        self.described.move_to_end(key)
        return self.described[key]

    def load(self, name: str, revision: str | None, task: Task, precision: str) -> LoadedModel:
        """The model for a task in a resolved precision, from memory if it is there.

        Otherwise it is loaded, after the least recently used models made room.

        Raises ModelError as `load` does, and when the model alone exceeds the bound.
        """
        described = self.describe(name, revision)
        facts = described.facts
        key = (name, facts.path, facts.fingerprint, facts.device, precision, task)
        if key not in self.loaded:
            self._make_room(facts.name, facts.n_parameters * BYTES_PER_WEIGHT[precision])
            self.loaded[key] = load_from_description(described, task, precision)
        self.loaded.move_to_end(key)
        return self.loaded[key]

    def contents(self) -> list[dict[str, Any]]:
        """The models in memory, the most recently used first, in plain values: name, task, device, precision,
        parameters, bytes.

        bytes: the size of their parameters and buffers.
        """
        return [
            {"name": loaded.facts.name, "task": key[-1], "device": loaded.facts.device,
             "precision": loaded.precision, "parameters": loaded.facts.n_parameters, "bytes": _bytes_of(loaded)}
            for key, loaded in reversed(self.loaded.items())
        ]

    def _make_room(self, name: str, needed: int) -> None:
        bound = memory_bound()
        if needed > bound:
            raise ModelError(f"{name} takes {needed / 2**30:.2f} GiB in memory; the models of a worker may take "
                             f"{bound / 2**30:.2f} GiB. Set {MEMORY_VARIABLE} to more, or choose a smaller model.")
        used = sum(_bytes_of(cached) for cached in self.loaded.values())
        while self.loaded and used + needed > bound:
            _, dropped = self.loaded.popitem(last=False)
            used -= _bytes_of(dropped)
            del dropped
            gc.collect()  # transformers' models hold references to themselves
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


def _bytes_of(loaded: LoadedModel) -> int:
    return sum(tensor.numel() * tensor.element_size()
               for tensor in (*loaded.model.parameters(), *loaded.model.buffers()))


def memory_bound() -> int:
    """Bytes that the models of one worker may take: HAKARI_MODEL_MEMORY_GB, or the worker's share of half the memory.

    The memory is the graphics card's where that is the device, else the machine's, shared by HAKARI_WORKERS workers.
    Raises InputError when the variable holds no positive number.
    """
    raw_value = os.environ.get(MEMORY_VARIABLE, "").strip()
    if raw_value:
        try:
            memory_bytes = float(raw_value) * 2**30
        except ValueError:
            memory_bytes = 0.0
        if not memory_bytes > 0:
            raise InputError(f"{MEMORY_VARIABLE} is a number of gigabytes above 0; got {raw_value!r}.")
        return int(memory_bytes)
    device = chosen_device()
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory // 2)
    return int(psutil.virtual_memory().total // 2 // max(1, int(os.environ.get(WORKERS_VARIABLE) or 1)))
