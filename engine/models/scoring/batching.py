"""Token ids -> batches of similar length, within a budget of tokens and the memory of the device.

Batches are formed by token length, never by characters or words, so that little is computed on padding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from weakref import WeakKeyDictionary

import numpy as np
import torch

from engine.errors import RunError
from engine.messages.message import Message
from engine.models.loading.devices import free_memory, on_device
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.vocabulary_projection import projecting_in_float32, tensor_cores
from engine.models.sources.memory_budget import NUMBERS_PER_DIMENSION, SMALLEST_BUDGET

# Tokens of a batch, padding included. On a processor a batch should stay in its caches; a graphics
# card needs more to be fully used, and gains nothing beyond that.
TOKEN_BUDGETS = {"cpu": 2048, "cuda": 65536}
OTHER_DEVICE_BUDGET = 8192
# A batch may take this share of a card's free memory. The logits have their own bound (`lm_head.logits_at_once`).
MEMORY_SHARE = 0.5
# A batch that fills BUSY_SHARE of its budget uses the device well: it takes no row shorter than SHORTEST_SHARE of its
# longest row, because computation on padding is wasted.
BUSY_SHARE, SHORTEST_SHARE = 1 / 8, 0.85
# On a processor a product of matrices gives a row the same bits whatever rows stand beside it where their number is a
# multiple of this, and so does attention with so many queries and keys (float32, MKL with AVX2, 1 and 2 threads: tried
# with 1 to 2,048 rows). With fewer or other numbers of rows the last digits follow from the company.
STEADY_ROWS = 4

# The budget that was left after a batch of a model had run out of memory.
_remembered: WeakKeyDictionary[torch.nn.Module, int] = WeakKeyDictionary()


def budget_of_batches(loaded: LoadedModel) -> int:
    """How many tokens a batch of a model holds: `token_budget`, or fewer once more of them ran out of memory."""
    devices = loaded.devices or (loaded.device,)
    budget = min(token_budget(device, loaded.facts.hidden_size) for device in devices)
    return min(budget, _remembered.get(loaded.model, budget))


def token_budget(device: torch.device, hidden_size: int) -> int:
    """How many tokens a batch holds on `device`; on CUDA no more than fit into its free memory.

    hidden_size: the dimensions of the model's hidden states.
    """
    most = TOKEN_BUDGETS.get(device.type, OTHER_DEVICE_BUDGET)
    if device.type != "cuda":
        return most
    for_batch = int(free_memory(device) * MEMORY_SHARE)
    return max(SMALLEST_BUDGET, min(most, for_batch // (4 * NUMBERS_PER_DIMENSION * hidden_size)))


def buckets(lengths: Sequence[int] | np.ndarray, token_budget: int) -> list[list[int]]:
    """Split the rows of the given token lengths into batches of similar length.

    Returns lists of row indices that hold every row once, longest rows first (a budget that is too large fails
    at once); in each, n_rows x longest <= `token_budget`, except that a longer row stands alone. A batch ends
    sooner where much shorter rows would follow (BUSY_SHARE, SHORTEST_SHARE).

    >>> buckets([2, 5, 3, 5], token_budget=10)
    [[1, 3], [2], [0]]
    """
    remaining = _longest_first(lengths)
    batches = []
    while remaining:
        n = _fitting(remaining, lengths, token_budget)
        batches.append(remaining[:n])
        remaining = remaining[n:]
    return batches


def run_buckets(
    lengths: Sequence[int] | np.ndarray,
    token_budget: int,
    step: Callable[[list[int]], None],
    groups: Sequence[int] | np.ndarray | None = None,
    *,
    model: torch.nn.Module | None = None,
    is_packed: bool = False,
) -> None:
    """Call `step(indices)` for each of `buckets`, in smaller ones once the device ran out of memory.

    groups: (n_rows,) only rows with equal numbers may share a bucket; None: all may (see `groups_for`).
    model: that of the steps, whose later calls keep to the smaller buckets, too (`budget_of_batches`).
    is_packed: the step reads its rows without padding, so that a bucket costs the sum of their lengths.

    A step that runs out of memory is repeated on half of its rows and the later buckets keep to that size,
    so a step must be repeatable. Raises RunError when one row alone does not fit; any other error passes.
    """
    remaining = _longest_first(lengths, groups)
    has_failed = False
    while remaining:
        n = (_fitting_packed if is_packed else _fitting)(remaining, lengths, token_budget)
        if groups is not None:
            n = next((i for i in range(1, n) if groups[remaining[i]] != groups[remaining[0]]), n)
        if _fits(step, remaining[:n]):
            remaining = remaining[n:]
            continue
        if n == 1:
            raise RunError(
                Message(
                    "The memory of the device does not hold one text alone. Leave out the longest "
                    "texts, or use a smaller model or a device with more memory."
                )
            )
        token_budget = (
            sum(int(lengths[row]) for row in remaining[:n]) if is_packed else n * int(lengths[remaining[0]])
        ) // 2
        has_failed = True
        if model is not None:
            _remembered[model] = token_budget
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
    if model is not None and model in _remembered and not has_failed:
        _remembered[model] *= 2  # what took the memory may have gone


def groups_for(batching: str, lengths: Sequence[int] | np.ndarray) -> np.ndarray | None:
    """What `run_buckets` may put together, int64 (n_rows,): rows of one length, none, or None for any.

    batching: of `probes.batching_of`. `lengths`: tokens of each row as the model reads it.
    """
    if batching == "any":
        return None
    return np.asarray(lengths, dtype=np.int64) if batching == "equal lengths" else np.arange(len(lengths))


def steady_length(length: int, most: int, device: torch.device) -> int:
    """The length that a text of that many tokens is padded to, of itself: whatever the texts beside it.

    On a processor the next multiple of STEADY_ROWS, at most `most`, the longest that the model reads; elsewhere its
    own, because no card promises the same bits.

    >>> [steady_length(n, 510, torch.device("cpu")) for n in (1, 4, 13, 509)]
    [4, 4, 16, 510]
    """
    if device.type != "cpu":
        return length
    return max(length, min(-(-length // STEADY_ROWS) * STEADY_ROWS, most))


def padded(
    rows: Sequence[Sequence[int] | np.ndarray], pad_id: int, device: torch.device, *, least: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of ids -> ids and attention mask, both int64 (n_rows, longest), padded on the right; `least`: of longest."""
    longest = max(least, *(len(row) for row in rows))
    ids = np.full((len(rows), longest), pad_id, dtype=np.int64)  # (n_rows, longest)
    mask = np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return on_device(ids, device), on_device(mask, device)


def copied_to_host(numbers: torch.Tensor) -> torch.Tensor:
    """The numbers in the memory of the host; of a graphics card they are there only after `wait_for_copies`.

    A card copies them to pinned memory while it computes what follows, so that nothing waits for them.
    """
    if numbers.device.type != "cuda":
        return numbers.cpu()
    on_host = torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=True)
    return on_host.copy_(numbers, non_blocking=True)


def wait_for_copies(device: torch.device) -> None:
    """Wait until everything that `copied_to_host` began on a device has arrived."""
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()


@contextmanager
def computing(loaded: LoadedModel) -> Iterator[None]:
    """The context of the forward passes of a model, by the precision that it was loaded in.

    bf16, fp16: the weights and what is computed from them have that type; the product that makes the logits is in
    float32 (`vocabulary_projection`). tf32: products of float32 on tensor cores. fp32: nothing is changed.
    """
    in_half = loaded.precision in ("bf16", "fp16")
    with (
        projecting_in_float32(loaded.model) if in_half else nullcontext(),
        tensor_cores() if loaded.precision == "tf32" else nullcontext(),
    ):
        yield


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means out of memory: CUDA's own class, or the message of the CPU allocator."""
    words = str(error).lower()
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or (
        isinstance(error, RuntimeError) and ("out of memory" in words or "can't allocate memory" in words)
    )


def _fits(step: Callable[[list[int]], None], indices: list[int]) -> bool:
    """Whether the step succeeded; False when memory ran out."""
    try:
        step(indices)
    except (RuntimeError, MemoryError) as error:
        if is_out_of_memory(error):
            return False  # the error, and with it the tensors its frames hold, is released here
        raise
    return True


def _longest_first(lengths: Sequence[int] | np.ndarray, groups: Sequence[int] | np.ndarray | None = None) -> list[int]:
    # Stable, so that copies of one text stay together.
    longest_first = -np.asarray(lengths, dtype=np.int64)
    if groups is None:
        return list(np.argsort(longest_first, kind="stable").tolist())
    return list(np.lexsort([longest_first, -np.asarray(groups, dtype=np.int64)]).tolist())  # by group, then by length


def _fitting(remaining: list[int], lengths: Sequence[int] | np.ndarray, token_budget: int) -> int:
    """How many of the first rows make one bucket; the first is the longest."""
    longest = max(1, int(lengths[remaining[0]]))
    n = min(len(remaining), max(1, token_budget // longest))
    busy_rows = max(1, math.ceil(token_budget * BUSY_SHARE / longest))  # rows
    return next((i for i in range(busy_rows, n) if int(lengths[remaining[i]]) < SHORTEST_SHARE * longest), n)


def _fitting_packed(remaining: list[int], lengths: Sequence[int] | np.ndarray, token_budget: int) -> int:
    """How many of the first rows make one bucket of rows without padding."""
    n_tokens = 0
    for n, row in enumerate(remaining):
        n_tokens += int(lengths[row])
        if n and n_tokens > token_budget:
            return n
    return len(remaining)
