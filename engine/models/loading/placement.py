"""Where the weights of a model go: all to one device, or layer by layer over several cards, and never elsewhere.

The layers are dealt out by transformers' and accelerate's device maps. What they would move out to the processor or to
the disk is refused: such a model would read its weights again for every batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from transformers import PreTrainedModel
from transformers.integrations.accelerate import get_balanced_memory, infer_auto_device_map

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.loading.devices import free_memory
from engine.models.sources.facts import ModelFacts
from engine.models.sources.memory_budget import Budget, advice, budget_of, gib

DeviceMap = dict[str, torch.device | int]


def require_room(facts: ModelFacts, precision: str, free_by_device: Mapping[str, int]) -> Budget:
    """The budget of a model. Raises ModelError, with what would do, where it exceeds the free bytes of its devices.

    Each of several devices needs what a batch takes beside its share of the weights.
    """
    budget = budget_of(facts, precision)
    if not has_room(facts, precision, free_by_device):
        raise ModelError(_refusal(facts, budget, free_by_device))
    return budget


def has_room(facts: ModelFacts, precision: str, free_by_device: Mapping[str, int]) -> bool:
    """Whether a model fits into the free bytes of its devices."""
    budget = budget_of(facts, precision)
    return budget.weights <= sum(max(0, free - budget.working) for free in free_by_device.values())


def free_by_device(devices: tuple[torch.device, ...]) -> dict[str, int]:
    """The free bytes of each device by its name."""
    return {str(device): free_memory(device) for device in devices}


def device_map(facts: ModelFacts, skeleton: PreTrainedModel, budget: Budget, free: Mapping[str, int]) -> DeviceMap:
    """The device of each part of a model, as `from_pretrained` takes it.

    skeleton: the model on torch's meta device in its data type. free: bytes by name of device; several are cards with
    their numbers. Raises ModelError where the layers, none of which is divided, do not fit.
    """
    if len(free) == 1:
        return {"": torch.device(next(iter(free)))}
    names = {torch.device(name).index: name for name in free}
    most: dict[Any, Any] = {number: max(0, free[name] - budget.working) for number, name in names.items()}
    whole = set(getattr(skeleton, "_no_split_modules", None) or ())
    balanced = get_balanced_memory(skeleton, most, no_split_module_classes=whole)
    placed = infer_auto_device_map(skeleton, balanced, no_split_module_classes=whole)
    if not set(placed.values()) <= set(names):
        raise ModelError(_refusal(facts, budget, free))
    return dict(placed)


def _refusal(facts: ModelFacts, budget: Budget, free: Mapping[str, int]) -> Message:
    available = ", ".join(f"{gib(n_bytes)} GiB of {name}" for name, n_bytes in free.items())
    return Message(
        "{name} does not fit into the free memory ({available}): it takes {words}. {free}",
        name=facts.name,
        available=available,
        words=budget.words,
        free=advice(facts, budget, dict(free)),
    )
