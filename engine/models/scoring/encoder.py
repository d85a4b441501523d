"""The similarity of every token of one sentence with every token of another, from the hidden states of a model.

Layer k is the k-th hidden state: 0 the embeddings, `facts.n_layers` the last. For BERT and its kin that is
what bert_score calls num_layers=k. Models with a norm after the stack (GPT-2, ModernBERT) apply it to the last
hidden state only, as transformers returns it; bert_score cuts the stack and applies it to every k, so that there the
last layer alone is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from engine.messages.message import Message, together
from engine.models.finite import require_finite
from engine.models.loading.devices import on_device
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.attention.packing import supports_packing
from engine.models.scoring.batching import budget_of_batches, computing, groups_for, run_buckets
from engine.models.scoring.hidden_states import check_layers, states_of_tokens
from engine.models.scoring.probes import batching_of
from engine.models.scoring.scored_tokens import excluded_piece, too_long
from engine.models.tokenization.spans import Spans
from engine.models.tokenization.token_cache import TOKENS

Piece = dict[str, Any]

SIDES = ("reference", "candidate")
# Memory bound of the token vectors of the pairs whose similarities are computed together.
VECTOR_BYTES = 256 * 2**20
# Similarities that are computed in one product of matrices, those beyond a text's end included.
PRODUCTS = 2**18


def token_similarities(loaded: LoadedModel, pairs: Sequence[Sequence[str]], *, layers: Sequence[int]) -> list[Piece]:
    """Cosine similarity of every reference token with every candidate token, special tokens included.

    The texts of each pair (reference, candidate) are stripped of outer white space, as bert_score does. Hidden
    states are normalised to length 1 in float32 before the product; a score does not depend on the other pairs.
    Returns for each pair {"similarity": float32 (n_layers, n_ref, n_cand) in [-1, 1], "reference_tokens": [str],
    "reference_special": bool (n_ref,), "reference_spans": int32 (n_ref, 2), …} and the same for the candidate; spans
    are characters of the text as given, (-1, -1) for special tokens. Or {"excluded": reason, "n_tokens": int}
    when a text is longer than the model reads, or has no token at all. Raises InputError for an unknown layer.

    Source: Zhang et al., BERTScore (ICLR 2020), section 3, whose maxima `engine.measures.bertscore` takes.
    """
    check_layers(loaded, layers)
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    spans = dict(zip(texts, TOKENS.spans(loaded.tokenizer, [text.strip() for text in texts]), strict=True))
    unusable = {text: _unusable(loaded, spans[text]) for text in texts}
    columns = {text: _token_columns(text, spans[text]) for text in texts}
    pieces = [
        _excluded_pair(pair, spans, unusable)
        if any(unusable[text] for text in pair)
        else {
            f"{side}_{name}": value
            for side, text in zip(SIDES, pair, strict=True)
            for name, value in columns[text].items()
        }
        for pair in pairs
    ]
    kept = [i for i, piece in enumerate(pieces) if "excluded" not in piece]
    for group in _groups(loaded, [(i, pairs[i][0], pairs[i][1]) for i in kept], spans, len(layers)):
        with computing(loaded):
            units = _unit_vectors(loaded, {text: spans[text].ids for _, *pair in group for text in pair}, layers)
        similarities = _similarities(units, [(reference, candidate) for _, reference, candidate in group])
        require_finite(loaded, similarities, [max((spans[text].ids for text in pair), key=len) for _, *pair in group])
        for (i, *_), similarity in zip(group, similarities, strict=True):
            pieces[i]["similarity"] = similarity
    return pieces


@dataclass(frozen=True)
class _UnitVectors:
    """The hidden states of texts' tokens at length 1, float32 (n_tokens, n_layers, hidden) on the device.

    columns: where the tokens of each text are among them, (start, number).
    """

    vectors: torch.Tensor
    columns: dict[str, tuple[int, int]]


def _unit_vectors(loaded: LoadedModel, ids_by_text: dict[str, list[int]], layers: Sequence[int]) -> _UnitVectors:
    texts, rows = list(ids_by_text), list(ids_by_text.values())
    parts: list[torch.Tensor] = []
    columns: dict[str, tuple[int, int]] = {}

    def step(indices: list[int]) -> None:
        states = states_of_tokens(loaded, [rows[i] for i in indices], layers, is_packed=is_packed)
        parts.append(torch.nn.functional.normalize(states, dim=-1))
        start = sum(n_tokens for _, n_tokens in columns.values())
        for i in indices:
            columns[texts[i]] = (start, len(rows[i]))
            start += len(rows[i])

    lengths = [len(row) for row in rows]
    is_packed = supports_packing(loaded.model, max(lengths))
    run_buckets(
        lengths,
        budget_of_batches(loaded),
        step,
        groups_for(batching_of(loaded.model), lengths),
        model=loaded.model,
        is_packed=is_packed,
    )
    return _UnitVectors(torch.cat(parts), columns)


@torch.inference_mode()
def _similarities(units: _UnitVectors, pairs: Sequence[tuple[str, str]]) -> list[np.ndarray]:
    """The products of each pair's unit vectors, float32 (n_layers, n_ref, n_cand), computed where the vectors are."""
    lengths = np.array([[units.columns[text][1] for text in pair] for pair in pairs])  # (n_pairs, 2)
    batches: list[tuple[list[int], torch.Tensor]] = []  # fetched at the end: no batch waits for the one before

    def step(indices: list[int]) -> None:
        sides = []
        for side, longest in enumerate(lengths[indices].max(axis=0)):
            starts = np.array([units.columns[pairs[i][side]][0] for i in indices])[:, None]
            # Beyond a text's end its last token stands again; those products are not read.
            tokens = starts + np.minimum(np.arange(longest), lengths[indices, side][:, None] - 1)  # (n, longest)
            sides.append(units.vectors[on_device(tokens, units.vectors.device)].transpose(1, 2))
        reference, candidate = sides  # (n, n_layers, longest, hidden)
        batches.append((indices, reference @ candidate.mT))

    n_layers = units.vectors.shape[1]
    run_buckets(lengths.max(axis=1) ** 2 * n_layers, PRODUCTS, step)
    similarities: dict[int, np.ndarray] = {}
    for indices, products in batches:
        for i, product in zip(indices, products.cpu().numpy(), strict=True):
            n_reference, n_candidate = lengths[i]
            similarities[i] = np.ascontiguousarray(product[:, :n_reference, :n_candidate])
    return [similarities[i] for i in range(len(pairs))]


def _unusable(loaded: LoadedModel, spans: Spans) -> str | None:
    return too_long(loaded, len(spans.ids)) or (None if spans.ids else Message("It has no token."))


def _excluded_pair(pair: Sequence[str], spans: dict[str, Spans], unusable: dict[str, str | None]) -> Piece:
    reasons = [
        Message("{side}: {reason}", side=side.capitalize(), reason=unusable[text])
        for side, text in zip(SIDES, pair, strict=True)
        if unusable[text]
    ]
    return excluded_piece(together(" ", reasons), max(len(spans[text].ids) for text in pair))


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
