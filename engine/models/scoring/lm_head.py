"""Log-likelihoods at chosen positions of a batch, with the language-model head run at those positions only.

A head writes one number per vocabulary entry for every position; of a masked copy of a sentence one position is
needed. So the hidden states are picked where the body of the model passes them to the head, whatever the head
consists of: BERT's `cls`, RoBERTa's `lm_head`, DistilBERT's four modules, a scaled or capped output. Once per model
the result is compared with that of the full forward pass; where it differs, the full pass is used.
Where every row is read at one position only, a BERT's last layer is computed there alone (`last_layer`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from transformers import PreTrainedModel

from engine.models.loading.devices import free_memory
from engine.models.scoring.attention.packed_pass import run_model
from engine.models.scoring.last_layer import can_read_one_position, reading_one_position
from engine.models.scoring.shortcuts import matches_full_pass, tolerance_of_logits, trial_inputs
from engine.models.sources.memory_budget import BYTES_PER_LOGIT, FEWEST_LOGITS

# Numbers that a head may write at once: 1 GiB in float32, and as much again for its softmax. On a graphics card they
# may take this share of its free memory.
MAX_LOGITS = 2**28
MEMORY_SHARE = 0.25
# Numbers whose softmax is taken at a time on a processor: 2 MiB in float32.
CPU_CACHED_LOGITS = 2**19
# On other devices: 512 MiB in float32.
DEVICE_LOGITS = 2**27

# The module that passes the hidden states to the head; None where picking there does not work.
_bodies: WeakKeyDictionary[PreTrainedModel, torch.nn.Module | None] = WeakKeyDictionary()
_bounds: WeakKeyDictionary[PreTrainedModel, int] = WeakKeyDictionary()  # of `logits_at_once`


def log_likelihoods_at(
    model: PreTrainedModel,
    inputs: dict[str, Any],
    rows: torch.Tensor,
    columns: torch.Tensor,
    targets: torch.Tensor,
    *,
    once_in_each: bool = False,
) -> torch.Tensor:
    """log p(target) in nats, float32 (n,), at position (rows[i], columns[i]) of a batch.

    `inputs` are what `run_model` takes, `input_ids` (n_rows, length) among them; `rows`, `columns` and `targets` int64
    (n,). The softmax is taken in float32 whatever the model computes in. once_in_each: the i-th position is that of
    the i-th row, or the i-th text of a packed row, and there is one for each.
    """
    position_of_target = torch.arange(len(targets), device=targets.device)
    return target_log_likelihoods_at(
        model, inputs, rows, columns, position_of_target, targets, once_in_each=once_in_each
    )


def target_log_likelihoods_at(
    model: PreTrainedModel,
    inputs: dict[str, Any],
    rows: torch.Tensor,
    columns: torch.Tensor,
    position_of_target: torch.Tensor,
    targets: torch.Tensor,
    *,
    once_in_each: bool = False,
    sets: torch.Tensor | None = None,
) -> torch.Tensor:
    """log p(targets[k]) in nats, float32 (n_targets,), at (rows[i], columns[i]) where i = position_of_target[k].

    As `log_likelihoods_at`, but several targets of one position share its logits: `rows` and `columns` int64
    (n_positions,), `position_of_target` and `targets` int64 (n_targets,). sets: bool (n_sets, vocab); the target -1 - j
    stands for the j-th of them, the probability that any of its members stands there.
    """
    most = max(1, logits_at_once(model) // int(model.config.get_text_config().vocab_size))  # positions
    if len(rows) > most and _body_of(model) is not None:
        # A row that is longer than the logits have room for: its positions in turn, the body run for each part.
        log_likelihoods = torch.empty(len(targets), dtype=torch.float32, device=rows.device)
        for start in range(0, len(rows), most):
            part = (position_of_target >= start) & (position_of_target < start + most)
            log_likelihoods[part] = target_log_likelihoods_at(
                model,
                inputs,
                rows[start : start + most],
                columns[start : start + most],
                position_of_target[part] - start,
                targets[part],
                sets=sets,
            )
        return log_likelihoods
    logits = _logits_at(model, inputs, rows, columns, once_in_each)  # (n_positions, vocab)
    if logits.device.type != "cpu":
        return _picked_log_softmax(logits, position_of_target, targets, sets)
    # On a processor a few rows at a time, so that their distributions stay in its cache: 4 times as fast.
    step = max(1, CPU_CACHED_LOGITS // logits.shape[1])
    log_likelihoods = torch.empty(len(targets), dtype=torch.float32, device=logits.device)
    for start in range(0, len(logits), step):
        inside = (
            slice(None)
            if step >= len(logits)
            else ((position_of_target >= start) & (position_of_target < start + step))
        )
        distributions = torch.log_softmax(logits[start : start + step].float(), dim=-1)
        log_likelihoods[inside] = _picked(distributions, position_of_target[inside] - start, targets[inside], sets)
    return log_likelihoods


def log_distributions_at(
    model: PreTrainedModel,
    inputs: dict[str, Any],
    rows: torch.Tensor,
    columns: torch.Tensor,
    *,
    once_in_each: bool = False,
) -> torch.Tensor:
    """log p of every entry of the vocabulary, float32 (n, vocab), at the positions of `log_likelihoods_at`."""
    return torch.log_softmax(_logits_at(model, inputs, rows, columns, once_in_each).float(), dim=-1)


def _picked_log_softmax(
    logits: torch.Tensor, position_of_target: torch.Tensor, targets: torch.Tensor, sets: torch.Tensor | None = None
) -> torch.Tensor:
    """log p(targets[k]) at position_of_target[k] without a distribution being kept: float32 (n_targets,).

    In pieces whose float32 copy is bounded, whatever the vocabulary, and without asking the device for a number, unless
    there are sets.
    """
    largest = logits.amax(dim=1, keepdim=True).float()  # (n_positions, 1)
    sums = torch.cat(
        [
            (piece.float() - top).exp_().sum(dim=1)
            for piece, top in zip(
                *(numbers.split(max(1, DEVICE_LOGITS // logits.shape[1])) for numbers in (logits, largest)), strict=True
            )
        ]
    )
    picked = _picked(logits, position_of_target, targets, sets) - largest[position_of_target, 0]
    return picked - sums.log()[position_of_target]


def _picked(
    numbers: torch.Tensor, position_of_target: torch.Tensor, targets: torch.Tensor, sets: torch.Tensor | None
) -> torch.Tensor:
    """The numbers (n_positions, vocab) of the targets, of a set the logarithm of the sum of its exponentials: float32
    (n_targets,)."""
    if sets is None:
        return numbers[position_of_target, targets].float()
    picked = numbers[position_of_target, targets.clamp(min=0)].float()
    for number, members in enumerate(sets):
        asked = targets == -1 - number
        distinct, index = position_of_target[asked].unique(return_inverse=True)
        picked[asked] = torch.cat(
            [
                torch.logsumexp(numbers[rows].float().masked_fill(~members, -torch.inf), dim=1)
                for rows in distinct.split(max(1, DEVICE_LOGITS // numbers.shape[1]))
            ]
        )[index]
    return picked


def _logits_at(
    model: PreTrainedModel, inputs: dict[str, Any], rows: torch.Tensor, columns: torch.Tensor, once_in_each: bool
) -> torch.Tensor:
    """(n, vocab) in the data type that the model computes in."""
    body = _body_of(model)
    if body is None:
        return _full_logits(model, inputs, rows, columns)
    if isinstance(body, PreTrainedModel) and once_in_each and can_read_one_position(body):
        with reading_one_position(body, columns, inputs.get("segments")):
            logits: torch.Tensor = run_model(model, inputs).logits
        return logits.flatten(0, 1)  # (n_rows, vocab) of (n_rows, 1) or (1, n_texts)
    return _picked_logits(model, body, inputs, rows, columns)


def row_costs(
    model: PreTrainedModel, lengths: Sequence[int] | np.ndarray, n_scored: Sequence[int] | np.ndarray, token_budget: int
) -> np.ndarray:
    """The cost of each row in tokens of a budget, if its head writes `n_scored` rows of logits: int64 (n_rows,).

    Its length plus the share of `logits_at_once` that its logits are, so that a large vocabulary makes batches
    smaller. A head that cannot be run at chosen positions writes as many as the row is long.
    """
    written = np.asarray(lengths if _body_of(model) is None else n_scored, dtype=np.int64)
    vocabulary = int(model.config.get_text_config().vocab_size)
    return np.asarray(lengths, dtype=np.int64) + written * vocabulary * token_budget // logits_at_once(model)


def logits_at_once(model: PreTrainedModel) -> int:
    """How many logits a head may write at once; on a graphics card no more than fit into its free memory.

    Measured once per model, when its weights are there and nothing else is: the free memory changes with each batch.
    """
    if model.device.type != "cuda":
        return MAX_LOGITS
    if model not in _bounds:
        head: Any = model.get_output_embeddings()
        free = free_memory(model.device if head is None else head.weight.device)
        _bounds[model] = max(FEWEST_LOGITS, min(MAX_LOGITS, int(free * MEMORY_SHARE) // BYTES_PER_LOGIT))
    return _bounds[model]


def _body_of(model: PreTrainedModel) -> torch.nn.Module | None:
    """The module whose output may be picked from, tested once per model; None when the full pass is needed."""
    if model not in _bodies:
        # OPT's head follows the decoder inside its body.
        candidates = [model.base_model, model.get_decoder()]
        with torch.inference_mode():
            _bodies[model] = next((body for body in candidates if _picking_agrees(model, body)), None)
    return _bodies[model]


def _full_logits(
    model: PreTrainedModel, inputs: dict[str, Any], rows: torch.Tensor, columns: torch.Tensor
) -> torch.Tensor:
    return run_model(model, inputs).logits[rows, columns]  # type: ignore[no-any-return]  # (n, vocab)


def _picked_logits(
    model: PreTrainedModel, body: torch.nn.Module, inputs: dict[str, Any], rows: torch.Tensor, columns: torch.Tensor
) -> torch.Tensor:
    def pick(_module: torch.nn.Module, _arguments: Any, output: Any) -> Any:
        states = output[0]  # on the device of the body's last layer, where several share the model
        hidden = states[rows.to(states.device), columns.to(states.device)][None]  # (1, n, hidden)
        if isinstance(output, tuple):
            return (hidden, *output[1:])
        output.last_hidden_state = hidden
        return output

    # Registered only during this pass; a worker runs one operation on a model at a time.
    hook = body.register_forward_hook(pick)
    try:
        return run_model(model, inputs).logits[0]  # type: ignore[no-any-return]  # (n, vocab)
    finally:
        hook.remove()


def _picking_agrees(model: PreTrainedModel, body: torch.nn.Module) -> bool:
    vocabulary = int(model.config.get_text_config().vocab_size)
    ids = torch.arange(8, device=model.device).reshape(2, 4) % vocabulary  # (2, 4)
    inputs = trial_inputs(model, ids, torch.ones_like(ids))
    rows, columns = torch.tensor([[0, 1, 1], [3, 0, 2]], device=model.device)
    whole = _full_logits(model, inputs, rows, columns)
    return matches_full_pass(
        [whole], lambda: [_picked_logits(model, body, inputs, rows, columns)], tolerance_of_logits(model.dtype)
    )
