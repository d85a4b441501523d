"""The projection of hidden states to logits, kept in float32 when all other products are in half precision.

Its outputs are the logits, and a difference of logits is a difference of log-likelihoods. bfloat16 keeps 8 bits of a
number: GPT-2's logits, most of which lie between -30 and -110, would be rounded to quarters and halves of a nat, and
the likelihood of each token with them. Numbers inside the model are normalised in each layer and are less sensitive.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch


@contextmanager
def projecting_in_float32(model: torch.nn.Module | None, device: torch.device) -> Iterator[None]:
    """Inside, and inside an autocast, `model` computes its logits in float32; a model without a head is unchanged.

    Operations after the projection (a bias, a scale, a cap) receive float32 and so compute in float32.
    """
    head: Any = getattr(model, "get_output_embeddings", lambda: None)()
    if not isinstance(head, torch.nn.Linear):
        yield
        return

    def forward(hidden: torch.Tensor) -> torch.Tensor:
        with torch.autocast(device.type, enabled=False), _tensor_cores() if device.type == "cuda" else nullcontext():
            return torch.nn.functional.linear(hidden.float(), head.weight.float(), head.bias)

    head.forward = forward  # type: ignore[assignment]  # shadows the class's
    try:
        yield
    finally:
        del head.forward


@contextmanager
def _tensor_cores() -> Iterator[None]:
    """TF32 for the products inside: factors of 11 bits, sums and outputs in float32, at the speed of tensor cores."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
