"""The projection of hidden states to logits, kept in float32 when all other products are in half precision.

Its outputs are the logits, and a difference of logits is a difference of log-likelihoods. bfloat16 keeps 8 bits of a
number: GPT-2's logits, most of which lie between -30 and -110, would be rounded to quarters and halves of a nat, and
the likelihood of each token with them. Numbers inside the model are normalised in each layer and are less sensitive.
The weights stay in half precision in memory; a product of two numbers of 8 or 11 bits is exact in float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch

from engine.models.sources.memory_budget import PROJECTED_NUMBERS

# Numbers of the output matrix that are in float32 at a time: 128 MiB. That of 150,000 tokens and 4,096 dimensions
# would take 2.3 GiB beside the weights.
PIECE_NUMBERS = PROJECTED_NUMBERS


@contextmanager
def projecting_in_float32(model: torch.nn.Module | None) -> Iterator[None]:
    """Inside, a `model` in half precision computes its logits in float32; a model without a head is unchanged.

    Operations after the projection (a bias, a scale, a cap) receive float32 and so compute in float32.
    """
    head: Any = getattr(model, "get_output_embeddings", lambda: None)()
    is_product = isinstance(head, torch.nn.Linear)
    if not is_product:
        yield
        return
    before = vars(head).get("forward")  # that of accelerate, where several devices share the model
    # Shadows the class's.
    head.forward = lambda hidden: project(hidden, head.weight, head.bias)
    try:
        yield
    finally:
        if before is None:
            del head.forward
        else:
            head.forward = before


def project(hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """hidden (…, d) times the transpose of weight (vocab, d), plus bias (vocab,): float32 (…, vocab).

    The weights are brought to float32 a piece at a time, so that a large vocabulary takes no second copy of them.
    """
    step = max(1, PIECE_NUMBERS // weight.shape[1])
    wide = hidden.to(weight.device).float()
    with tensor_cores() if weight.device.type == "cuda" else nullcontext():
        if step >= len(weight):
            return torch.nn.functional.linear(wide, weight.float(), None if bias is None else bias.float())
        logits = torch.empty((*hidden.shape[:-1], len(weight)), dtype=torch.float32, device=weight.device)
        for start in range(0, len(weight), step):
            rows = slice(start, start + step)
            logits[..., rows] = torch.nn.functional.linear(
                wide, weight[rows].float(), None if bias is None else bias[rows].float()
            )
    return logits


@contextmanager
def tensor_cores() -> Iterator[None]:
    """TF32 for the products inside: factors of 11 bits, sums and outputs in float32, at the speed of tensor cores."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
