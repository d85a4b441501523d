"""The last product of a language model, hidden states by vocabulary, kept in float32 while all others are in halves.

Its outputs are the logits, and a difference of logits is a difference of log-likelihoods. bfloat16 keeps 8 bits of a
number: GPT-2's logits, most of which lie between -30 and -110, would be rounded to quarters and halves of a nat, each
token's likelihood with them. Numbers inside the model are normalised layer by layer and bear it far better.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch


@contextmanager
def projecting_in_float32(model: torch.nn.Module | None, device: torch.device) -> Iterator[None]:
    """Inside, and inside an autocast, `model` computes its logits in float32; a model without a head is as it was.

    Whatever follows the projection (a bias of its own, a scale, a cap) gets float32 and so stays in it.
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
    """TF32 for the products inside: 11 bits of the factors, sums and outputs in float32, at tensor cores' speed."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
