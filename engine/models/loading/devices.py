"""The device that models run on, or the devices that share one model, and their free memory."""

from __future__ import annotations

import os

import numpy as np
import psutil
import torch

from engine.errors import ModelError
from engine.messages.message import Message

DEVICE_VARIABLE = "HAKARI_DEVICE"
BETWEEN_DEVICES = "+"


def chosen_devices() -> tuple[torch.device, ...]:
    """The devices that HAKARI_DEVICE names ("cpu", "cuda", "cuda:1"); "auto", or unset: CUDA if available, else CPU.

    Several, joined by "+" ("cuda:0+cuda:1"), share the layers of each model. Raises ModelError when one of them is not
    available, or when several are not different graphics cards, each with its number.
    """
    names = (os.environ.get(DEVICE_VARIABLE, "").strip() or "auto").split(BETWEEN_DEVICES)
    if names == ["auto"]:
        return (torch.device("cuda" if torch.cuda.is_available() else "cpu"),)
    if len(names) > 1 and (len(set(names)) < len(names) or any(":" not in name for name in names)):
        raise ModelError(
            Message(
                "{DEVICE_VARIABLE} names devices that cannot share a model: {names!r}. Several are "
                "different graphics cards, each with its number, such as cuda:0+cuda:1.",
                DEVICE_VARIABLE=DEVICE_VARIABLE,
                names=BETWEEN_DEVICES.join(names),
            )
        )
    return tuple(map(_available, names))


def chosen_device() -> torch.device:
    """The first of `chosen_devices`, which gets the inputs. Raises ModelError as they do."""
    return chosen_devices()[0]


def device_name() -> str:
    """`chosen_devices` in one word, as HAKARI_DEVICE has them."""
    return BETWEEN_DEVICES.join(map(str, chosen_devices()))


def free_memory(device: torch.device) -> int:
    """Bytes that torch can still use on a device; on one that tells nothing of its memory, those of the machine."""
    if device.type == "cuda":
        # CUDA counts memory that torch's allocator has reserved but not allocated as used.
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0] + unused)
    return int(psutil.virtual_memory().available)


def on_device(array: np.ndarray, device: torch.device) -> torch.Tensor:
    """An array as a tensor on `device`. It is copied to CUDA from pinned memory, asynchronously."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def _available(device_name: str) -> torch.device:
    try:
        device = torch.device(device_name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ModelError(
            Message(
                "{DEVICE_VARIABLE} names a device that is not here: {device_name!r}. Set it to cpu, "
                "cuda or cuda:<number>, or leave it out.",
                DEVICE_VARIABLE=DEVICE_VARIABLE,
                device_name=device_name,
            )
        ) from error
    return device
