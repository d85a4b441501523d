"""One vector for a sentence, pooled from the hidden states of its tokens.

Layer k is the k-th hidden state: 0 the embeddings, `facts.n_layers` the last, after the norm that some models have
after the stack.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from tokenizers.normalizers import Lowercase

from engine.errors import InputError, ModelError
from engine.messages.message import Message, list_of
from engine.models.finite import require_finite
from engine.models.loading.devices import on_device
from engine.models.loading.published_modules import apply_published_modules
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.attention.packing import supports_packing
from engine.models.scoring.batching import (
    STEADY_ROWS,
    budget_of_batches,
    computing,
    copied_to_host,
    groups_for,
    run_buckets,
    wait_for_copies,
)
from engine.models.scoring.hidden_states import (
    batch_inputs,
    check_layers,
    hidden_states,
    padded_texts,
    shape_lengths,
    states_of_tokens,
)
from engine.models.scoring.last_layer import can_read_one_position, reading_one_position
from engine.models.scoring.probes import batching_of
from engine.models.scoring.scored_tokens import excluded_piece, too_long
from engine.models.tokenization.encoding import token_ids
from engine.models.tokenization.plain_text import control_spellings
from engine.models.tokenization.template import cls_position
from engine.models.tokenization.token_cache import TOKENS

Piece = dict[str, Any]

POOLINGS = ("published", "cls", "mean", "mean-without-special", "last", "weighted-mean")
# Those that take the state of one token alone.
_ONE_TOKEN = ("cls", "last")
# Devices that have torch's sum of bags, which adds in one order every time; an indexed sum on CUDA does not.
_WITH_BAGS = ("cpu", "cuda")


@dataclass(frozen=True)
class _Row:
    """The ids that the model reads of one text, and the weight of each in the pooling: float32 (n_tokens,).

    n_tokens: of the whole text, of which the model may read fewer.
    """

    ids: list[int]
    weights: np.ndarray
    n_tokens: int


def sentence_vectors(
    loaded: LoadedModel,
    texts: Sequence[str],
    *,
    layers: Sequence[int],
    pooling: str = "cls",
    prompt: str = "",
    truncate_dim: int | None = None,
) -> list[Piece]:
    """One vector for each text and layer.

    pooling: "cls" takes the hidden state of the classification token that the tokenizer adds ([CLS], <s>); "mean" the
    unweighted mean over all tokens, special ones included, as sentence-transformers does; "mean-without-special" the
    mean over the text's own tokens; "last" the state of the last token; "weighted-mean" the mean in which the k-th
    token weighs k; "published" what the modules of the directory say (`facts.published`): their pooling and what
    follows it, applied to the states of each layer, after lower-casing where they say so, and of texts cut at their
    longest input. prompt: put before each text. truncate_dim: how many of the first numbers of a vector are kept; None:
    all.

    Returns for each text {"vectors": float32 (n_layers, d), "n_tokens": int}, special tokens counted, and
    "n_read": int where the model read fewer; or {"excluded": reason, "n_tokens": int} when it is longer than the model
    reads or has no token to average. Raises InputError for an unknown layer or pooling, ModelError for "cls" with a
    tokenizer that adds no such token and for "published" where the directory does not say how.

    Source: Reimers and Gurevych, Sentence-BERT (EMNLP 2019), whose library's vectors these are.
    """
    check_layers(loaded, layers)
    if pooling not in POOLINGS:
        raise InputError(
            Message("The pooling is one of {POOLINGS}; got {pooling!r}.", POOLINGS=list_of(POOLINGS), pooling=pooling)
        )
    if pooling == "published":
        _require_published(loaded)
    # A control token is plain text in a text, and a control token in a prompt, as the publisher wrote it.
    control = [token for token in control_spellings(loaded.tokenizer).tokens if token in prompt]
    rows = _rows(loaded, [prompt + text for text in texts], pooling, control)
    pieces = [_piece_or_exclusion(loaded, row) for row in rows]
    kept = [i for i, piece in enumerate(pieces) if "excluded" not in piece]
    prompt_tokens = _prompt_tokens(loaded, prompt, control) if pooling == "published" and prompt else 0

    batches: list[tuple[list[int], torch.Tensor]] = []  # read at the end: no batch waits for the one before

    def step(indices: list[int]) -> None:
        batch = [rows[kept[i]] for i in indices]
        if pooling == "published":
            vectors = _published_vectors(loaded, batch, layers, prompt_tokens, is_packed)
        elif pooling in _ONE_TOKEN:
            vectors = _states_of_one_token(loaded, batch, layers, is_packed)
        else:
            vectors = _mean_states(loaded, batch, layers, is_packed)
        if truncate_dim is not None and truncate_dim > vectors.shape[2]:
            raise InputError(
                Message(
                    "The vectors of {name} have {shape} numbers; {truncate_dim} of them cannot be kept.",
                    name=loaded.facts.name,
                    shape=vectors.shape[2],
                    truncate_dim=truncate_dim,
                )
            )
        batches.append((indices, copied_to_host(vectors[:, :, :truncate_dim])))

    with computing(loaded):
        lengths = [len(rows[i].ids) for i in kept]
        is_packed = supports_packing(loaded.model, max(lengths, default=0))
        shapes = lengths if is_packed else shape_lengths(loaded, lengths)
        groups = groups_for(batching_of(loaded.model), lengths) if is_packed or shapes == lengths else np.array(shapes)
        # The published modules read padded states, so that their batches are bounded as padded ones.
        run_buckets(
            shapes,
            budget_of_batches(loaded),
            step,
            groups,
            model=loaded.model,
            is_packed=is_packed and pooling != "published",
        )
    wait_for_copies(loaded.device)
    for indices, vectors in batches:
        for i, vector in zip(indices, vectors.numpy(), strict=True):  # (n_layers, d)
            pieces[kept[i]]["vectors"] = vector
    require_finite(loaded, [pieces[i]["vectors"] for i in kept], [rows[i].ids for i in kept])
    return pieces


@torch.inference_mode()
def _states_of_one_token(
    loaded: LoadedModel, batch: Sequence[_Row], layers: Sequence[int], is_packed: bool
) -> torch.Tensor:
    """The state of the token that has all the weight, float32 (n_texts, n_layers, hidden)."""
    inputs, firsts = batch_inputs(loaded, [row.ids for row in batch], is_packed=is_packed)
    in_text = np.array([int(row.weights.argmax()) for row in batch], dtype=np.int64)
    in_batch = on_device(firsts + in_text, loaded.device)  # (n_texts,)
    columns = in_batch if is_packed else on_device(in_text, loaded.device)
    last = loaded.facts.n_layers
    # Where the last layer is not requested, the forward pass stops before it.
    narrow = last in layers and can_read_one_position(loaded.model)
    with reading_one_position(loaded.model, columns, inputs.get("segments")) if narrow else nullcontext():
        states = hidden_states(loaded.model, inputs, layers, one_position=narrow)
    # The narrow last layer has one position for each text already; (n_texts, 1) or, packed, (1, n_texts).
    return torch.stack(
        [
            state.flatten(0, 1) if narrow and layer == last else state.flatten(0, 1)[in_batch]
            for layer, state in zip(layers, states, strict=True)
        ],
        dim=1,
    ).float()


@torch.inference_mode()
def _mean_states(loaded: LoadedModel, batch: Sequence[_Row], layers: Sequence[int], is_packed: bool) -> torch.Tensor:
    """The weighted mean of the tokens' states, float32 (n_texts, n_layers, hidden)."""
    states = states_of_tokens(loaded, [row.ids for row in batch], layers, is_packed=is_packed)
    weights = np.concatenate([row.weights / row.weights.sum() for row in batch])  # (n_tokens,)
    lengths = np.array([len(row.weights) for row in batch])
    means: torch.Tensor = weighted_sums(states.flatten(1), weights, lengths).unflatten(1, states.shape[1:])
    return means


def weighted_sums(states: torch.Tensor, weights: np.ndarray, lengths: np.ndarray) -> torch.Tensor:
    """The weighted sum of each text's states, float32 (n_texts, d).

    states: float32 (n_tokens, d), the tokens of one text after another. weights: (n_tokens,). lengths: (n_texts,).
    """
    device = states.device
    weight = on_device(weights.astype(np.float32), device)
    if device.type not in _WITH_BAGS:
        text = on_device(np.repeat(np.arange(len(lengths)), lengths), device)
        return states.new_zeros(len(lengths), states.shape[1]).index_add_(0, text, states * weight[:, None])
    return torch.nn.functional.embedding_bag(
        torch.arange(len(states), device=device),
        states,
        on_device(np.cumsum(lengths) - lengths, device),
        mode="sum",
        per_sample_weights=weight,
    )


@torch.inference_mode()
def _published_vectors(
    loaded: LoadedModel, batch: Sequence[_Row], layers: Sequence[int], prompt_tokens: int, is_packed: bool
) -> torch.Tensor:
    """The vectors that the published modules make, float32 (n_texts, n_layers, d)."""
    rows = [row.ids for row in batch]
    states = states_of_tokens(loaded, rows, layers, is_packed=is_packed)  # (n_tokens, n_layers, hidden)
    _, mask = padded_texts(loaded, rows)  # (n_texts, longest)
    positions = np.concatenate([text * mask.shape[1] + np.arange(len(row)) for text, row in enumerate(rows)])
    padded_states = states.new_zeros(mask.numel(), *states.shape[1:])
    padded_states[on_device(positions, loaded.device)] = states
    padded_states = padded_states.unflatten(0, mask.shape)  # (n_texts, longest, n_layers, hidden)
    n_texts = len(rows)
    if extra := -n_texts % STEADY_ROWS:  # what follows the pooling multiplies one row for each text
        padded_states, mask = (
            torch.cat([tensor, tensor[-1:].expand(extra, *tensor.shape[1:])]) for tensor in (padded_states, mask)
        )
    return torch.stack(
        [
            apply_published_modules(loaded.published_modules, padded_states[:, :, number], mask, prompt_tokens)[
                :n_texts
            ]
            for number in range(len(layers))
        ],
        dim=1,
    )


def _rows(loaded: LoadedModel, texts: Sequence[str], pooling: str, control: Sequence[str]) -> list[_Row]:
    if pooling == "mean-without-special":
        return [
            _Row(spans.ids, (~spans.special).astype(np.float32), len(spans.ids))
            for spans in TOKENS.spans(loaded.tokenizer, texts, control)
        ]
    if pooling == "published":
        return _published_rows(loaded, texts, control)
    ids_by_text = TOKENS.token_ids(loaded.tokenizer, texts, control)
    weights = _weights_by_length(
        pooling, {len(ids) for ids in ids_by_text}, _cls_position(loaded) if pooling == "cls" else -1
    )
    return [_Row(ids, weights[len(ids)], len(ids)) for ids in ids_by_text]


def _weights_by_length(pooling: str, lengths: Collection[int], one_token: int) -> dict[int, np.ndarray]:
    """The weights of that many tokens, float32 (length,): all at `one_token`, if the pooling takes one alone."""
    weights = {}
    for length in lengths:
        weights[length] = np.full(length, 0 if pooling in _ONE_TOKEN else 1, dtype=np.float32)
        if pooling == "weighted-mean":
            weights[length] = np.arange(1, length + 1, dtype=np.float32)
        if pooling in _ONE_TOKEN and length:
            weights[length][one_token] = 1
    return weights


def _published_rows(loaded: LoadedModel, texts: Sequence[str], control: Sequence[str]) -> list[_Row]:
    """The ids of texts as sentence-transformers reads them: cut where they are longer than the published maximum."""
    published, limit = loaded.facts.published, loaded.facts.max_tokens
    assert published is not None
    if published.lower_case:
        texts = list(map(Lowercase().normalize_str, texts))
    n_read = min(limit, published.max_tokens or limit)
    rows = []
    for ids in TOKENS.token_ids(loaded.tokenizer, texts, control):
        read = ids if len(ids) <= n_read else _cut(loaded, ids, n_read)
        rows.append(_Row(read, np.ones(len(read), dtype=np.float32), len(ids)))
    return rows


def _cut(loaded: LoadedModel, ids: list[int], n_read: int) -> list[int]:
    before, after = _added_tokens(loaded, ids)
    kept = max(0, n_read - before - after)
    text_ids = ids[before : len(ids) - after]
    text_ids = text_ids[len(text_ids) - kept :] if loaded.tokenizer.truncation_side == "left" else text_ids[:kept]
    return [*ids[:before], *text_ids, *ids[len(ids) - after :]]


def _added_tokens(loaded: LoadedModel, ids: list[int]) -> tuple[int, int]:
    """How many special tokens the tokenizer puts before and after a text: those of an empty one."""
    template = token_ids(loaded.tokenizer, "")
    before = next((i for i, token in enumerate(template) if ids[i] != token), len(template))
    return before, len(template) - before


def _prompt_tokens(loaded: LoadedModel, prompt: str, control: Sequence[str]) -> int:
    """The tokens that sentence-transformers counts as the prompt's: all but a special token at the end."""
    ids = _published_rows(loaded, [prompt], control)[0].ids
    return len(ids) - (bool(ids) and ids[-1] in loaded.tokenizer.all_special_ids)


def _cls_position(loaded: LoadedModel) -> int:
    position = cls_position(loaded.tokenizer)
    if position is None or not loaded.facts.has_cls:
        raise ModelError(
            Message(
                "The tokenizer of {name} ({tokenizer}) has no CLS token. Choose mean pooling, or a model that has one.",
                name=loaded.facts.name,
                tokenizer=loaded.facts.tokenizer,
            )
        )
    return position


def _require_published(loaded: LoadedModel) -> None:
    published = loaded.facts.published
    if published is None:
        raise ModelError(
            Message(
                "The files of {name} do not say how a sentence becomes a vector (there is no "
                "modules.json of sentence-transformers). Choose another pooling.",
                name=loaded.facts.name,
            )
        )
    if published.problem:
        raise ModelError(
            Message(
                "{name} cannot be pooled as published: {problem}. Choose another pooling, such as mean.",
                name=loaded.facts.name,
                problem=published.problem,
            )
        )


def _piece_or_exclusion(loaded: LoadedModel, row: _Row) -> Piece:
    if reason := too_long(loaded, len(row.ids)):
        return excluded_piece(reason, len(row.ids))
    if not row.weights.any():
        return excluded_piece(Message("It has no token to average."), row.n_tokens)
    return {"n_tokens": row.n_tokens, **({"n_read": len(row.ids)} if len(row.ids) < row.n_tokens else {})}
