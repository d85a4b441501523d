"""The device that is checked or measured, and its memory."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from engine.models.loading.devices import DEVICE_VARIABLE
from engine.version import library_version


def missing(device: str) -> str:
    """Why `device` cannot be used, in words; "" where it can."""
    if not device.startswith("cuda") or torch.cuda.is_available():
        return ""
    return f"no GPU: torch {library_version('torch')} sees no CUDA device on this machine, so nothing was run on one."


def in_words(device: str) -> str:
    """The device and the libraries."""
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else "the CPU"
    cuda = f", CUDA {torch.version.cuda}" if device.startswith("cuda") else ""
    return f"{name}; torch {library_version('torch')}{cuda}, transformers {library_version('transformers')}"


@contextmanager
def variables(**values: str) -> Iterator[None]:
    """Environment variables of the engine inside."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def on(device: str) -> dict[str, str]:
    """The variable that names a device."""
    return {DEVICE_VARIABLE: device}


def wait(device: str) -> None:
    """Until the device has done what it was given."""
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def allocated(device: str) -> int:
    """Bytes of tensors on a card; 0 elsewhere."""
    gc.collect()  # transformers' models hold references to themselves
    if not device.startswith("cuda"):
        return 0
    torch.cuda.empty_cache()
    return torch.cuda.memory_allocated(device)
