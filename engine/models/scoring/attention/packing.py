"""Texts of any lengths in one row without padding, for the models that compute the same numbers so.

Whether a model does is tried once: its own code must read the positions it is given and call attention by name
(DeBERTa, T5 and other models with attention of their own do not), and nothing else in it may reach across tokens
(convolutions, recurrences). Such models keep the padded pass. So does the CPU unless it is asked for: with one thread
and BERT-base it made vectors and similarities of Japanese sentences 7-12% faster, causal scores 3%, and masked ones no
faster.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from transformers import PreTrainedModel

from engine.errors import InputError
from engine.messages.message import Message, list_of
from engine.models.loading.devices import on_device
from engine.models.scoring.attention.kernels import Kernel, by_equal_lengths, kernel_for
from engine.models.scoring.attention.packed_pass import attending_within
from engine.models.scoring.attention.segments import Segments, whole_texts, with_ancestors
from engine.models.scoring.prefixes import Row, pack_sequences
from engine.models.scoring.probes import batching_of
from engine.models.scoring.shortcuts import TOLERANCE_OF_STATES, matches_full_pass, tolerance_of_logits

PACKING_VARIABLE = "HAKARI_PACKING"
PACKING_CHOICES = ("auto", "on", "off")
# Tokens of a tree of texts with common beginnings: in a packed row attention costs the length of each text alone.
TREE_TOKENS = 1024
# Configuration settings that limit attention to a number of tokens; models that pass theirs to the attention function
# are tried beyond it, up to LONGEST_TRIAL tokens.
WINDOWS = ("sliding_window", "local_attention", "attention_chunk_size", "window_size")
LONGEST_TRIAL = 300
# Tokens of the trial texts but for the one that shares a beginning with two of them.
_TRIAL_LENGTHS = (5, 9, 23)

_supported: WeakKeyDictionary[PreTrainedModel, dict[bool, bool]] = WeakKeyDictionary()


@dataclass(frozen=True)
class PackedRow:
    """Token ids of several texts end to end: `inputs` of `packed_pass.run_model`; text i begins at column starts[i].

    inputs: input_ids, position_ids and attention_mask int64 (1, n_tokens) and segments; starts int64 (n_texts,).
    """

    inputs: dict[str, Any]
    starts: np.ndarray


def is_packing_wanted(device: torch.device) -> bool:
    """Whether texts are packed on a device: HAKARI_PACKING on or off; auto, the default: on CUDA alone.

    Raises InputError for another value.
    """
    choice = os.environ.get(PACKING_VARIABLE, "").strip() or "auto"
    if choice not in PACKING_CHOICES:
        raise InputError(
            Message(
                "{PACKING_VARIABLE} is one of {PACKING_CHOICES}; got {choice!r}.",
                PACKING_VARIABLE=PACKING_VARIABLE,
                PACKING_CHOICES=list_of(PACKING_CHOICES),
                choice=choice,
            )
        )
    return device.type == "cuda" if choice == "auto" else choice == "on"


def supports_packing(model: PreTrainedModel, longest: int, *, as_trees: bool = False) -> bool:
    """Whether a model computes the same for packed texts of at most `longest` tokens as for each alone.

    as_trees: for texts that share their beginnings (`prefixes.Row`). Tried once per model, with the reference kernel
    and then with the one that the device uses. False where packing is not wanted.
    """
    if not is_packing_wanted(model.device) or batching_of(model) != "any":
        return False
    windows = _windows(model)
    if any(longest > window > LONGEST_TRIAL // 2 for window in windows):
        return False
    trials = _supported.setdefault(model, {})
    if as_trees not in trials:
        with torch.inference_mode():
            trials[as_trees] = _packed_agrees(model, windows, as_trees)
    return trials[as_trees]


def packed_texts(model: PreTrainedModel, ids: np.ndarray, positions: np.ndarray, lengths: np.ndarray) -> PackedRow:
    """A packed row of texts of the given lengths: ids and positions int64 (n_tokens,) of all of them, in order."""
    inputs = _inputs(model, ids, positions, whole_texts(lengths, model.device))
    return PackedRow(inputs, np.cumsum(lengths) - lengths)


def packed_rows(model: PreTrainedModel, rows: Sequence[Sequence[int]]) -> PackedRow:
    """A packed row of texts, each a list of ids."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    positions = np.concatenate([positions_of(model, row) for row in rows])
    return packed_texts(model, np.concatenate([np.asarray(row, dtype=np.int64) for row in rows]), positions, lengths)


def packed_trees(model: PreTrainedModel, rows: Sequence[Row]) -> PackedRow:
    """A packed row of trees: each token once, which attends to those that it follows."""
    starts = np.cumsum([0, *(len(row.ids) for row in rows)])
    query_lengths, key_columns = [], []
    for start, row in zip(starts, rows, strict=False):
        n_read = 0
        for columns in row.columns_by_sequence.values():
            n_new = len(row.ids[n_read : columns[-1] + 1]) if columns else 0
            if n_new > 0:  # a text that another one begins with has no token of its own
                query_lengths.append(n_new)
                key_columns.append(start + np.array(columns, dtype=np.int64))
                n_read += n_new
    ids, positions = (
        np.concatenate([np.array(getattr(row, name), dtype=np.int64) for row in rows]) for name in ("ids", "positions")
    )
    return PackedRow(
        _inputs(model, ids, positions, with_ancestors(query_lengths, key_columns, model.device)), starts[:-1]
    )


def positions_of(model: PreTrainedModel, ids: Sequence[int]) -> np.ndarray:
    """The position ids that a model gives a text alone, int64 (n_tokens,).

    From 0; with RoBERTa and its kin from after that of padding, which a padding token inside a text keeps.
    """
    padding = _padding_position(model)
    if padding is None:
        return np.arange(len(ids), dtype=np.int64)
    is_token = np.asarray(ids, dtype=np.int64) != padding
    return np.asarray(np.cumsum(is_token) * is_token + padding)


def _inputs(model: PreTrainedModel, ids: np.ndarray, positions: np.ndarray, segments: Segments) -> dict[str, Any]:
    row = on_device(ids[None], model.device)
    # Without a mask of padding transformers asks the device whether the row ends in a padding token, and warns.
    inputs = {
        "input_ids": row,
        "position_ids": on_device(positions[None], model.device),
        "attention_mask": torch.ones_like(row),
        "segments": segments,
    }
    # A cache of keys, which causal models fill unless told otherwise, would be kept for nothing.
    return {**inputs, "use_cache": False} if hasattr(model.config.get_text_config(), "use_cache") else inputs


def _padding_position(model: PreTrainedModel) -> int | None:
    return next(
        (
            int(module.padding_idx)
            for name, module in model.named_modules()
            if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None
        ),
        None,
    )


def _windows(model: PreTrainedModel) -> list[int]:
    config = model.config.get_text_config()
    return [window for name in WINDOWS if isinstance(window := getattr(config, name, None), int)]


def _packed_agrees(model: PreTrainedModel, windows: list[int], as_trees: bool) -> bool:
    """Whether the packed pass equals the plain one, and the device's kernel the reference, on a few texts."""
    if getattr(model.config, "attention_type", "") == "block_sparse":  # full attention for texts as short as these
        return False
    texts = _trial_texts(model, windows)
    trees = pack_sequences(texts, TREE_TOKENS)
    packed = packed_trees(model, trees) if as_trees else packed_rows(model, texts)
    columns = (
        _columns_in_trees(trees, packed.starts)
        if as_trees
        else {number: start + np.arange(len(texts[number])) for number, start in enumerate(packed.starts)}
    )

    def read(kernel: Kernel, ids: torch.Tensor) -> list[torch.Tensor]:
        inputs = {name: value for name, value in packed.inputs.items() if name != "segments"}
        with attending_within(model, packed.inputs["segments"], kernel):
            numbers = _numbers(model(**{**inputs, "input_ids": ids}))[0]  # (n_tokens, vocab or hidden)
        return [numbers[torch.from_numpy(columns[number]).to(numbers.device)] for number in range(len(texts))]

    ids = packed.inputs["input_ids"]

    alone = []
    for text in texts:
        row = torch.tensor([text], device=model.device)
        alone.append(_numbers(model(input_ids=row, attention_mask=torch.ones_like(row)))[0])
    tolerance = tolerance_of_logits(model.dtype)

    def is_isolated(kernel: Kernel, changed: int) -> bool:
        """Whether the other texts keep their numbers when the tokens that are one text's alone change."""
        others = [number for number in range(len(texts)) if number != changed]
        own = np.setdiff1d(columns[changed], np.concatenate([columns[number] for number in others]))
        changed_ids = ids.clone()
        changed_ids[0, torch.from_numpy(own).to(ids.device)] = ids[0, torch.from_numpy(own).to(ids.device)].flip(0) - 1
        before, after = read(kernel, ids), read(kernel, changed_ids)
        return matches_full_pass(
            [before[number] for number in others], lambda: [after[number] for number in others], TOLERANCE_OF_STATES
        )

    def agrees(kernel: Kernel) -> bool:
        # In half precision a small influence of one text on another is no larger than the rounding of either, but
        # rounding is the same whatever the other text is.
        return matches_full_pass(alone, lambda: read(kernel, ids), tolerance) and all(
            is_isolated(kernel, number) for number in range(len(texts))
        )

    kernel = kernel_for(model.device, model.dtype)
    return agrees(by_equal_lengths) and (kernel is by_equal_lengths or agrees(kernel))


def _columns_in_trees(trees: Sequence[Row], starts: np.ndarray) -> dict[int, np.ndarray]:
    """The columns of each text's tokens in the packed row of trees, which begin at `starts`."""
    return {
        number: start + np.array(columns)
        for start, tree in zip(starts, trees, strict=True)
        for number, columns in tree.columns_by_sequence.items()
    }


def _trial_texts(model: PreTrainedModel, windows: list[int]) -> list[list[int]]:
    """Texts of a few lengths, one of them beyond a window; the second and third begin as the fourth does."""
    config = model.config.get_text_config()
    vocabulary, low = int(config.vocab_size), max(1, min(10, int(config.vocab_size) // 2))
    within_reach = [2 * window + 9 for window in windows if window <= LONGEST_TRIAL // 2]
    positions = int(getattr(config, "max_position_embeddings", None) or 0)
    # XLNet's -1 stands for any number; the first of RoBERTa's are those of padding.
    most = positions - 4 if positions > 0 else LONGEST_TRIAL
    longest = max(_TRIAL_LENGTHS[0], min(max(_TRIAL_LENGTHS[-1], *within_reach, 0), LONGEST_TRIAL, most))
    base = [low + (3 + 7 * i) % (vocabulary - low) for i in range(longest)]
    other = [low + (50 + 11 * i) % (vocabulary - low) for i in range(longest)]
    return [other[: _TRIAL_LENGTHS[0]], base[: _TRIAL_LENGTHS[1]], [*base[:3], *other[:2]], base]


def _numbers(output: Any) -> torch.Tensor:
    logits = getattr(output, "logits", None)
    numbers: torch.Tensor = output.last_hidden_state if logits is None else logits
    return numbers
