"""Floating-point operations that a job needs, and how many this machine does: the limit that no program passes.

Counted are matrix products, two operations for each product and sum, of what is asked and nothing else: no padding,
every text once, a last layer or a head only where it is looked at, a common beginning once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch.profiler import ProfilerActivity, profile
from transformers import PreTrainedConfig

from tests.benchmarks.measuring import clock_seconds

PRODUCT_SIZE, PRODUCTS = 2048, 3
# torch's own names of matrix products and of attention, which is two of them
PRODUCT = re.compile(r"^(aten::(addmm|mm|bmm|baddbmm|_scaled_dot_product.*)|mkldnn::.*linear.*)$")


@dataclass(frozen=True)
class Size:
    """A model in numbers; the feed-forward network is four times as wide as the model."""

    n_layers: int
    hidden: int
    vocabulary: int

    @classmethod
    def of(cls, config: PreTrainedConfig) -> Size:
        """The size that a configuration says."""
        return cls(config.num_hidden_layers, config.hidden_size, config.vocab_size)


def operations_a_second(
    dtype: torch.dtype = torch.float32, *, inner: int = PRODUCT_SIZE, columns: int = PRODUCT_SIZE
) -> float:
    """The rate of a large matrix product, with all threads that torch has; a linear layer's of `columns` outputs."""
    a, b = torch.ones(PRODUCT_SIZE, inner, dtype=dtype), torch.ones(columns, inner, dtype=dtype)
    seconds = clock_seconds(lambda: [torch.nn.functional.linear(a, b) for _ in range(PRODUCTS)])
    return PRODUCTS * 2 * PRODUCT_SIZE * inner * columns / seconds


def share_of_products(job: Callable[[], object]) -> float:
    """The part of a job's time that torch spends in matrix products and attention."""
    start = time.perf_counter()
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        job()
    seconds = time.perf_counter() - start
    events = [event for event in profiler.key_averages() if PRODUCT.search(event.key)]
    return sum(event.self_cpu_time_total for event in events) / 1e6 / seconds


def encoded(size: Size, lengths: Iterable[int]) -> float:
    """All hidden states of texts of that many tokens."""
    return sum(length * size.n_layers * _layer(size, length) for length in lengths)


def read_at_one_position(size: Size, lengths: Iterable[int]) -> float:
    """The last hidden state of one token of each text: of the others the last layer's keys and values only."""
    last = Size(1, size.hidden, size.vocabulary)
    below = Size(size.n_layers - 1, size.hidden, size.vocabulary)
    return sum(
        encoded(below, [length]) + (length - 1) * 4 * size.hidden**2 + _layer(last, length) for length in lengths
    )


def masked_copies(size: Size, lengths: Sequence[int], n_scored: Sequence[int]) -> float:
    """A copy of each text for each of its scored tokens, and the head at that one: a dense layer and the vocabulary."""
    head = 2 * size.hidden**2 + 2 * size.hidden * size.vocabulary
    return sum(n * (read_at_one_position(size, [length]) + head) for length, n in zip(lengths, n_scored, strict=True))


def read_once(size: Size, sequences: Iterable[Sequence[int]]) -> float:
    """Every token of sequences once where what is before it is the same, the head included."""
    nodes = {tuple(ids[:end]) for ids in sequences for end in range(1, len(ids) + 1)}
    return sum(size.n_layers * _layer(size, len(node)) + 2 * size.hidden * size.vocabulary for node in nodes)


def _layer(size: Size, n_attended: int) -> float:
    """One token through one layer, attending to `n_attended`: 4 + 8 hidden x hidden matrices, scores and their sum."""
    return 2 * 12 * size.hidden**2 + 2 * 2 * n_attended * size.hidden
