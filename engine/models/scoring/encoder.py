"""Hidden states of a model: one vector for a sentence, or the similarity of every token pair of two sentences.

Layer k is the k-th hidden state: 0 the embeddings, `facts.n_layers` the last. For BERT and its kin that is
what bert_score calls num_layers=k. Models with a norm after the stack (GPT-2, ModernBERT) apply it to the last
hidden state only, as transformers returns it; bert_score cuts the stack and applies it to every k.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch

from engine.errors import InputError, ModelError
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.batching import autocast, groups_for, padded, run_buckets, token_budget
from engine.models.scoring.hidden_states import hidden_states
from engine.models.scoring.last_layer import can_read_one_position, reading_one_position
from engine.models.scoring.probes import batching_of
from engine.models.scoring.scored_tokens import excluded_piece, too_long
from engine.models.tokenization.encoding import pad_id, token_ids
from engine.models.tokenization.spans import Spans, token_spans
from engine.models.tokenization.template import cls_position

Piece = dict[str, Any]

POOLINGS = ("cls", "mean")
SIDES = ("reference", "candidate")
# Memory bound of the token vectors of the pairs whose similarities are computed together.
VECTOR_BYTES = 256 * 2**20


def sentence_vectors(
    loaded: LoadedModel, texts: Sequence[str], *, layers: Sequence[int], pooling: str = "cls", precision: str = "fp32"
) -> list[Piece]:
    """One vector for each text and layer.

    pooling: "cls" takes the hidden state of the classification token that the tokenizer adds ([CLS], <s>); "mean" the
    unweighted mean over the text's tokens, without padding and special tokens.
    Returns for each text {"vectors": float32 (n_layers, hidden), "n_tokens": int}, special tokens counted, or
    {"excluded": reason, "n_tokens": int} when it is longer than the model reads or has no token to average.
    Raises InputError for an unknown layer or pooling, ModelError for "cls" with a tokenizer that adds no such token.
    """
    _check(loaded, layers)
    if pooling not in POOLINGS:
        raise InputError(f"The pooling is one of {', '.join(POOLINGS)}; got {pooling!r}.")
    if pooling == "cls" and not loaded.facts.has_cls:
        raise ModelError(f"The tokenizer of {loaded.facts.name} ({loaded.facts.tokenizer}) has no CLS token. "
                         "Choose mean pooling, or a model that has one.")
    rows = [_ids_and_weights(loaded, text, pooling) for text in texts]
    pieces = [_piece_or_exclusion(loaded, ids, weights) for ids, weights in rows]
    kept = [i for i, piece in enumerate(pieces) if "excluded" not in piece]
    pooled = _cls_states if pooling == "cls" else _mean_states

    batches: list[tuple[list[int], torch.Tensor]] = []  # fetched at the end: no batch waits for the one before

    def step(indices: list[int]) -> None:
        batches.append((indices, pooled(loaded, [rows[kept[i]] for i in indices], layers)))

    with autocast(loaded.device, precision, loaded.model):
        lengths = [len(rows[i][0]) for i in kept]
        run_buckets(lengths, token_budget(loaded.device, loaded.facts.hidden_size), step,
                    groups_for(batching_of(loaded.model), lengths))
    for indices, vectors in batches:
        for i, vector in zip(indices, vectors.cpu().numpy(), strict=True):  # (n_layers, hidden)
            pieces[kept[i]]["vectors"] = vector
    return pieces


def token_similarities(
    loaded: LoadedModel, pairs: Sequence[Sequence[str]], *, layers: Sequence[int], precision: str = "fp32"
) -> list[Piece]:
    """Cosine similarity of every reference token with every candidate token, special tokens included.

    The texts of each pair (reference, candidate) are stripped of outer white space, as bert_score does. Hidden
    states are normalised to length 1 in float32 before the product; a score does not depend on the other pairs.
    Returns for each pair {"similarity": float32 (n_layers, n_ref, n_cand) in [-1, 1], "reference_tokens": [str],
    "reference_special": bool (n_ref,), "reference_spans": int32 (n_ref, 2), …} and the same for the candidate; spans
    are characters of the text as given, (-1, -1) for special tokens. Or {"excluded": reason, "n_tokens": int}
    when a text is longer than the model reads, or has no token at all. Raises InputError for an unknown layer.

    Source: Zhang et al., BERTScore (ICLR 2020), section 3, whose maxima `engine.measures.bertscore` takes.
    """
    _check(loaded, layers)
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    spans = {text: token_spans(loaded.tokenizer, text.strip()) for text in texts}
    unusable = {text: _unusable(loaded, spans[text]) for text in texts}
    columns = {text: _token_columns(text, spans[text]) for text in texts}
    pieces = [_excluded_pair(pair, spans, unusable) if any(unusable[text] for text in pair) else
              {f"{side}_{name}": value for side, text in zip(SIDES, pair, strict=True)
               for name, value in columns[text].items()}
              for pair in pairs]
    kept = [i for i, piece in enumerate(pieces) if "excluded" not in piece]
    for group in _groups(loaded, [(i, pairs[i][0], pairs[i][1]) for i in kept], spans, len(layers)):
        with autocast(loaded.device, precision, loaded.model):
            units = _unit_vectors(loaded, {text: spans[text].ids for _, *pair in group for text in pair}, layers)
        for i, reference, candidate in group:
            # (n_layers, n_ref, hidden) and (n_layers, hidden, n_cand) -> (n_layers, n_ref, n_cand)
            pieces[i]["similarity"] = units[reference] @ units[candidate].swapaxes(1, 2)
    return pieces


@torch.inference_mode()
def _cls_states(
    loaded: LoadedModel, batch: Sequence[tuple[list[int], np.ndarray]], layers: Sequence[int]
) -> torch.Tensor:
    """The state of the token that has all the weight, float32 (n_texts, n_layers, hidden)."""
    ids, mask = padded([ids for ids, _ in batch], pad_id(loaded.tokenizer), loaded.device)
    columns = torch.tensor([int(weights.argmax()) for _, weights in batch], device=loaded.device)
    last = loaded.facts.n_layers
    # Where the last layer is not requested, the forward pass stops before it.
    narrow = last in layers and can_read_one_position(loaded.model)
    with reading_one_position(loaded.model, columns) if narrow else nullcontext():
        states = hidden_states(loaded.model, {"input_ids": ids, "attention_mask": mask}, layers, one_position=narrow)
    rows = torch.arange(len(batch), device=loaded.device)
    return torch.stack([state[:, 0] if narrow and layer == last else state[rows, columns]
                        for layer, state in zip(layers, states, strict=True)], dim=1).float()


@torch.inference_mode()
def _mean_states(
    loaded: LoadedModel, batch: Sequence[tuple[list[int], np.ndarray]], layers: Sequence[int]
) -> torch.Tensor:
    """The weighted mean of the tokens' states, float32 (n_texts, n_layers, hidden)."""
    states = _hidden_states(loaded, [ids for ids, _ in batch], layers)
    weights = torch.zeros(states.shape[0], states.shape[2])  # (n_texts, longest); padding weighs nothing
    for index, (_, weight) in enumerate(batch):
        weights[index, : len(weight)] = torch.from_numpy(weight / weight.sum())
    with torch.autocast(loaded.device.type, enabled=False):  # the mean itself is taken in float32
        # (n_texts, n_layers, longest, hidden) and (n_texts, longest) -> (n_texts, n_layers, hidden)
        return torch.einsum("nlth,nt->nlh", states, weights.to(states.device))


@torch.inference_mode()
def _hidden_states(loaded: LoadedModel, rows: Sequence[Sequence[int]], layers: Sequence[int]) -> torch.Tensor:
    """Float32 (n_rows, n_layers, longest, hidden); values after the end of a row are padding."""
    ids, mask = padded(rows, pad_id(loaded.tokenizer), loaded.device)
    states = hidden_states(loaded.model, {"input_ids": ids, "attention_mask": mask}, layers)
    return torch.stack(states, dim=1).float()


def _unit_vectors(
    loaded: LoadedModel, ids_by_text: dict[str, list[int]], layers: Sequence[int]
) -> dict[str, np.ndarray]:
    """The hidden states of each text's tokens at length 1, float32 (n_layers, n_tokens, hidden)."""
    texts, rows = list(ids_by_text), list(ids_by_text.values())
    units_by_text: dict[str, np.ndarray] = {}

    def step(indices: list[int]) -> None:
        states = _hidden_states(loaded, [rows[i] for i in indices], layers)
        units = torch.nn.functional.normalize(states, dim=-1).cpu().numpy()  # (n_rows, n_layers, longest, hidden)
        for i, unit in zip(indices, units, strict=True):
            units_by_text[texts[i]] = unit[:, : len(rows[i])]

    lengths = [len(row) for row in rows]
    run_buckets(lengths, token_budget(loaded.device, loaded.facts.hidden_size), step,
                groups_for(batching_of(loaded.model), lengths))
    return units_by_text


def _ids_and_weights(loaded: LoadedModel, text: str, pooling: str) -> tuple[list[int], np.ndarray]:
    """Ids of a text, and the weight of each in the pooling: float32 (n_tokens,)."""
    if pooling == "mean":
        spans = token_spans(loaded.tokenizer, text)
        return spans.ids, (~spans.special).astype(np.float32)
    ids = token_ids(loaded.tokenizer, text)
    weights = np.zeros(len(ids), dtype=np.float32)
    position = cls_position(loaded.tokenizer)
    if position is None:
        raise ModelError(f"The tokenizer of {loaded.facts.name} ({loaded.facts.tokenizer}) adds no CLS token to a "
                         "text. Choose mean pooling.")
    weights[position] = 1
    return ids, weights


def _piece_or_exclusion(loaded: LoadedModel, ids: list[int], weights: np.ndarray) -> Piece:
    if reason := too_long(loaded, len(ids)):
        return excluded_piece(reason, len(ids))
    return {"n_tokens": len(ids)} if weights.any() else excluded_piece("It has no token to average.", len(ids))


def _unusable(loaded: LoadedModel, spans: Spans) -> str | None:
    return too_long(loaded, len(spans.ids)) or (None if spans.ids else "It has no token.")


def _excluded_pair(pair: Sequence[str], spans: dict[str, Spans], unusable: dict[str, str | None]) -> Piece:
    reasons = [f"{side.capitalize()}: {unusable[text]}" for side, text in zip(SIDES, pair, strict=True)
               if unusable[text]]
    return excluded_piece(" ".join(reasons), max(len(spans[text].ids) for text in pair))


def _token_columns(text: str, spans: Spans) -> Piece:
    # From characters of the stripped text to characters of the text as given.
    shift = len(text) - len(text.lstrip())
    shifted = np.where(spans.special[:, None], spans.spans, spans.spans + shift).astype(np.int32)  # (n_tokens, 2)
    return {"tokens": spans.tokens, "special": spans.special, "spans": shifted}


def _groups(
    loaded: LoadedModel, pairs: Sequence[tuple[int, str, str]], spans: dict[str, Spans], n_layers: int
) -> Iterator[list[tuple[int, str, str]]]:
    """Cut the pairs into runs whose token vectors fit into VECTOR_BYTES; a text is encoded once in each."""
    group: list[tuple[int, str, str]] = []
    used = 0
    for pair in pairs:
        needed = sum(len(spans[text].ids) for text in pair[1:]) * n_layers * loaded.facts.hidden_size * 4
        if group and used + needed > VECTOR_BYTES:
            yield group
            group, used = [], 0
        group.append(pair)
        used += needed
    if group:
        yield group


def _check(loaded: LoadedModel, layers: Sequence[int]) -> None:
    wrong = [layer for layer in layers if not 0 <= layer <= loaded.facts.n_layers]
    if wrong or not layers:
        raise InputError(f"{loaded.facts.name} has layers 0 (embeddings) to {loaded.facts.n_layers}; "
                         f"got {wrong or 'none'}.")
