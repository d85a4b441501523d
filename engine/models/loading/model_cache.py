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
from engine.messages.message import Message
from engine.models.loading.devices import chosen_devices, device_name
from engine.models.loading.model_description import DescribedModel, describe
from engine.models.loading.placement import free_by_device, has_room
from engine.models.loading.weights import (
    LoadedModel,
    ModelWeights,
    Task,
    for_task,
    read_weights,
    require_kind,
    sized_for,
)
from engine.models.sources.facts import ModelFacts
from engine.models.sources.model_location import locate
from engine.precision import BYTES_PER_WEIGHT

MEMORY_VARIABLE = "HAKARI_MODEL_MEMORY_GB"
WORKERS_VARIABLE = "HAKARI_WORKERS"
MAX_DESCRIPTIONS = 16


@dataclass(frozen=True)
class _Held:
    """A model in memory, and what it is for each task that was asked of it."""

    weights: ModelWeights
    loaded_by_task: dict[Task, LoadedModel] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        """The size of its parameters and buffers, each once."""
        model = self.weights.model
        return sum(tensor.numel() * tensor.element_size() for tensor in (*model.parameters(), *model.buffers()))


@dataclass
class ModelCache:
    """Models by (fingerprint, precision, …), least recently used first, each once for all its tasks.

    A changed model has another fingerprint.
    """

    held: OrderedDict[tuple[str, ...], _Held] = field(default_factory=OrderedDict)
    described: OrderedDict[tuple[str, ...], DescribedModel] = field(default_factory=OrderedDict)

    def describe(self, name: str, revision: str | None) -> DescribedModel:
        """Facts, configuration and tokenizer of a model, read again only when its files change.

        For a model of the hub, give the commit: a branch is looked up anew each time. Raises ModelError as `describe`.
        """
        located = locate(name, revision)
        key = (name, str(located.path), located.fingerprint, device_name())
        if key not in self.described:
            self.described[key] = describe(located)
            while len(self.described) > MAX_DESCRIPTIONS:
                self.described.popitem(last=False)
        self.described.move_to_end(key)
        return self.described[key]

    def load(self, name: str, revision: str | None, task: Task, precision: str) -> LoadedModel:
        """The model for a task in a resolved precision, from memory if it is there.

        Otherwise it is loaded, after the least recently used models made room. Raises ModelError as `load` does, and
        when the model alone exceeds the bound or the memory of the device.
        """
        described = self.describe(name, revision)
        facts = described.facts
        require_kind(facts, task)
        identity = (name, facts.path, facts.fingerprint, facts.device, precision)
        key = next((key for key in self.held if key[:-1] == identity and task in self.held[key].weights.checks), None)
        if key is None:
            self._make_room(sized_for(facts, task), precision)
            weights = read_weights(described, task, precision)
            key = (*identity, ", ".join(weights.checks))
            self.held[key] = _Held(weights)
        held = self.held[key]
        if task not in held.loaded_by_task:
            held.loaded_by_task[task] = for_task(held.weights, task)
        self.held.move_to_end(key)
        return held.loaded_by_task[task]

    def contents(self) -> list[dict[str, Any]]:
        """The models in memory, the most recently used first, in plain values.

        name, task (those that were asked, joined by ", "), device, precision, parameters, and bytes: the size of their
        parameters and buffers.
        """
        return [
            {
                "name": held.weights.described.facts.name,
                "task": ", ".join(held.loaded_by_task),
                "device": held.weights.described.facts.device,
                "precision": held.weights.precision,
                "parameters": held.weights.described.facts.n_parameters,
                "bytes": held.n_bytes,
            }
            for held in reversed(self.held.values())
        ]

    def _make_room(self, facts: ModelFacts, precision: str) -> None:
        needed, bound = facts.n_parameters * BYTES_PER_WEIGHT[precision], memory_bound()
        if is_bounded() and needed > bound:
            raise ModelError(
                Message(
                    "{name} in {precision} takes {needed:.2f} GiB in memory; the models of a worker "
                    "may take {bound:.2f} GiB. Set {MEMORY_VARIABLE} to more, or choose a smaller "
                    "model.",
                    name=facts.name,
                    precision=precision,
                    needed=needed / 2**30,
                    bound=bound / 2**30,
                    MEMORY_VARIABLE=MEMORY_VARIABLE,
                )
            )
        while self.held and (
            sum(held.n_bytes for held in self.held.values()) + needed > bound
            or not has_room(facts, precision, free_by_device(chosen_devices()))
        ):
            self.held.popitem(last=False)
            gc.collect()  # transformers' models hold references to themselves
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


def is_bounded() -> bool:
    """Whether HAKARI_MODEL_MEMORY_GB bounds a model that is alone in memory; otherwise the device's memory does."""
    return bool(os.environ.get(MEMORY_VARIABLE, "").strip())


def memory_bound() -> int:
    """Bytes that the models of one worker may take: HAKARI_MODEL_MEMORY_GB, or the worker's share of half the memory.

    Without the variable one model alone may take more, as far as it fits. The memory is that of the graphics cards
    where these are the device, else the machine's, shared by HAKARI_WORKERS workers.
    Raises InputError when the variable holds no positive number.
    """
    raw_value = os.environ.get(MEMORY_VARIABLE, "").strip()
    if raw_value:
        try:
            memory_bytes = float(raw_value) * 2**30
        except ValueError:
            memory_bytes = 0.0
        if not memory_bytes > 0:
            raise InputError(
                Message(
                    "{MEMORY_VARIABLE} is a number of gigabytes above 0; got {raw_value!r}.",
                    MEMORY_VARIABLE=MEMORY_VARIABLE,
                    raw_value=raw_value,
                )
            )
        return int(memory_bytes)
    devices = chosen_devices()
    if devices[0].type == "cuda":
        return int(sum(torch.cuda.get_device_properties(device).total_memory for device in devices) // 2)
    return int(psutil.virtual_memory().total // 2 // max(1, int(os.environ.get(WORKERS_VARIABLE) or 1)))
