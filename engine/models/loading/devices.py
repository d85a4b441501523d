"""The device that models run on."""

from __future__ import annotations

import os

import numpy as np
import torch

from engine.errors import ModelError

DEVICE_VARIABLE = "HAKARI_DEVICE"


def chosen_device() -> torch.device:
    """The device that HAKARI_DEVICE names ("cpu", "cuda", "cuda:1"); "auto", or unset: CUDA if available, else the CPU.

    Raises ModelError when that device is not available.
    """
    device_name = os.environ.get(DEVICE_VARIABLE, "").strip() or "auto"
    if device_name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(device_name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ModelError(f"{DEVICE_VARIABLE} names a device that is not here: {device_name!r}. "
                         "Set it to cpu, cuda or cuda:<number>, or leave it out.") from error
    return device


def on_device(array: np.ndarray, device: torch.device) -> torch.Tensor:
    """An array as a tensor on `device`. It is copied to CUDA from pinned memory, asynchronously."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)
