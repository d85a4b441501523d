"""Is a model what its configuration says? Tried once per model on a few tokens, before its numbers are trusted.

Two things are assumed wherever rows are batched or shared, and neither holds for every architecture: that a row's
numbers do not depend on the rows beside it, and that a causal model does not read ahead. ConvBERT's convolutions read
padding, rotary positions with a dynamic scale ("longrope", "dynamic") take it from the longest row of a batch, and
BigBird stays in full attention for good once a text was too short for its sparse attention.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Literal
from weakref import WeakKeyDictionary

import torch
from transformers import PreTrainedModel

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.finite import not_finite
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.batching import is_out_of_memory
from engine.models.scoring.shortcuts import (
    INCOMPATIBILITY_ERRORS,
    TOLERANCE_OF_HALF_PRECISION,
    TOLERANCE_OF_LOGITS,
    trial_inputs,
)
from engine.models.scoring.vocabulary_projection import projecting_in_float32
from engine.models.silence_transformers import one_line_message

# What rows may stand together in a batch: any, those of one length, none.
Batching = Literal["any", "equal lengths", "alone"]
# Rotary embeddings whose factors follow from the longest row that a forward pass sees.
_SCALED_BY_LENGTH = ("longrope", "dynamic")
SHORT, LONG = 5, 23  # tokens of the trial rows; odd, so that convolutions see the end of each

_batching: WeakKeyDictionary[PreTrainedModel, Batching] = WeakKeyDictionary()
_causal: WeakKeyDictionary[PreTrainedModel, bool] = WeakKeyDictionary()


def batching_of(model: PreTrainedModel) -> Batching:
    """Which rows of a model may share a batch without changing each other's numbers; tried once per model.

    "any": padded rows of all lengths; "equal lengths": only rows without padding; "alone": each row by itself.
    Raises ModelError where the model reads no texts of such lengths at all, as a Nystromformer published for padded
    ones.
    """
    if model not in _batching:
        try:
            with torch.inference_mode():
                _require_both_ways(model)
                _batching[model] = _tried_batching(model)
        except INCOMPATIBILITY_ERRORS as error:
            if is_out_of_memory(error):
                raise
            raise ModelError(
                Message(
                    "This {class_name} cannot read a text of {SHORT} or {LONG} tokens ({error}). "
                    "Choose a model that takes texts of any length.",
                    class_name=type(model).__name__,
                    SHORT=SHORT,
                    LONG=LONG,
                    error=one_line_message(error),
                )
            ) from error
    return _batching[model]


def reads_ahead(model: PreTrainedModel) -> bool:
    """Whether what a causal model says before a token changes when that token does; tried once per model."""
    if model not in _causal:
        with torch.inference_mode():
            _causal[model] = not _reads_ahead(model)
    return not _causal[model]


def require_causal(loaded: LoadedModel) -> None:
    """Raise ModelError where what a causal model says before a token changes when that token does."""
    if reads_ahead(loaded.model):
        raise ModelError(
            Message(
                "{name} ({architecture}) reads ahead: its probabilities of a token depend on the "
                "tokens after it, so their product is no likelihood of a text. Choose a causal "
                "model, or evaluate this one by its hidden states (clusters, alignment).",
                name=loaded.facts.name,
                architecture=loaded.facts.architecture,
            )
        )


def _require_both_ways(model: PreTrainedModel) -> None:
    """Raise ModelError where a configuration says that a decoder reads in both directions and its class does not."""
    config = model.config
    if config.is_encoder_decoder or getattr(config.get_text_config(), "is_causal", None) is not False:
        return
    if not _reads_ahead(model):
        raise ModelError(
            Message(
                "config.json says is_causal: false, that the model reads in both directions; the {class_name} of the "
                "installed transformers reads from left to right. Its vectors would be those of another model: choose "
                "one of an architecture that honours it (Llama, Mistral, Qwen, Gemma …).",
                class_name=type(model).__name__,
            )
        )


def _tried_batching(model: PreTrainedModel) -> Batching:
    config = model.config.get_text_config()
    if _rope_type(config) in _SCALED_BY_LENGTH or getattr(config, "attention_type", "") == "block_sparse":
        return "equal lengths"
    short, other, long = (_row(model, n, start) for n, start in ((SHORT, 1), (SHORT, 40), (LONG, 80)))
    alone = [_numbers(model, [row])[0] for row in (short, other, long)]
    padded = _numbers(model, [short, long, other])
    if all(_equal(model, a, b) for a, b in zip((alone[0], alone[2], alone[1]), padded, strict=True)):
        return "any"
    together = _numbers(model, [short, other])
    return "equal lengths" if all(_equal(model, a, b) for a, b in zip(alone[:2], together, strict=True)) else "alone"


def _rope_type(config: Any) -> str:
    settings = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    if not isinstance(settings, dict):
        return ""
    kinds = [settings, *(value for value in settings.values() if isinstance(value, dict))]  # one for each layer type
    return next(
        (str(kind) for part in kinds if (kind := part.get("rope_type", part.get("type"))) in _SCALED_BY_LENGTH), ""
    )


def _reads_ahead(model: PreTrainedModel) -> bool:
    first = _row(model, SHORT + 1, 1)
    second = [*first[:-1], _row(model, 1, 60)[0]]
    before = [_numbers(model, [row], first)[0][:SHORT] for row in (first, second)]
    return not _equal(model, *before)


def _row(model: PreTrainedModel, n_tokens: int, start: int) -> list[int]:
    """Distinct ids, but for the first few of a vocabulary, where special tokens lie."""
    vocabulary = int(model.config.get_text_config().vocab_size)
    low = min(10, vocabulary // 2)
    return [low + (start + 7 * i) % (vocabulary - low) for i in range(n_tokens)]


def _numbers(model: PreTrainedModel, rows: list[list[int]], encoder_row: list[int] | None = None) -> list[torch.Tensor]:
    """What the model gives each row: its logits where it has a head, else its last hidden state, float32.

    encoder_row: what the encoder of an encoder-decoder reads beside every row; None: the row itself.
    """
    longest = max(map(len, rows))
    ids = torch.zeros((len(rows), longest), dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
        mask[number, : len(row)] = 1
    read = None if encoder_row is None else torch.tensor([encoder_row] * len(rows), device=model.device)
    half = model.dtype in (torch.bfloat16, torch.float16)
    with projecting_in_float32(model) if half else nullcontext():  # as in every pass of such a model
        output = model(**trial_inputs(model, ids.to(model.device), mask.to(model.device), encoder_ids=read))
    numbers = output.logits if getattr(output, "logits", None) is not None else output.last_hidden_state
    of_rows = [numbers[number, : len(row)].float() for number, row in enumerate(rows)]
    for row, own in zip(rows, of_rows, strict=True):
        if own.isnan().any() or own.isposinf().any():  # the logits of tokens that never stand may be -inf
            raise not_finite(model, row)
    return of_rows


def _equal(model: PreTrainedModel, first: torch.Tensor, second: torch.Tensor) -> bool:
    half = model.dtype in (torch.bfloat16, torch.float16)
    first, second = (numbers.nan_to_num(neginf=0.0) for numbers in (first, second))
    tolerance = TOLERANCE_OF_HALF_PRECISION if half else TOLERANCE_OF_LOGITS
    return bool((first - second).abs().max() <= tolerance * first.abs().max())
