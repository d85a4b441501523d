"""Where models run."""

from __future__ import annotations

import os

import numpy as np
import torch

from engine.errors import ModelError

VARIABLE = "HAKARI_DEVICE"


def chosen_device() -> torch.device:
    """The device that HAKARI_DEVICE names ("cpu", "cuda", "cuda:1"); "auto", or nothing: CUDA where there is one.

    Raises ModelError when the device that is named is not there.
    """
    named = os.environ.get(VARIABLE, "").strip() or "auto"
    if named == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(named)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ModelError(f"{VARIABLE} names a device that is not here: {named!r}. "
                         "Set it to cpu, cuda or cuda:<number>, or leave it out.") from error
    return device


def on_device(array: np.ndarray, device: torch.device) -> torch.Tensor:
    """An array as a tensor on `device`. To CUDA it travels from pinned memory, while the host goes on to the next."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)
