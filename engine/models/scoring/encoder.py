"""The similarity of every token of one sentence with every token of another, from the hidden states of a model.

Layer k is the k-th hidden state: 0 the embeddings, `facts.n_layers` the last. For BERT and its kin that is
what bert_score calls num_layers=k. Models with a norm after the stack (GPT-2, ModernBERT) apply it to the last
hidden state only, as transformers returns it; bert_score cuts the stack and applies it to every k, so that there the
last layer alone is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from engine.models.loading.weights import LoadedModel
from engine.models.scoring.batching import budget_of_batches, computing, groups_for, run_buckets
from engine.models.scoring.hidden_states import check_layers, states_of_rows
from engine.models.scoring.probes import batching_of
from engine.models.scoring.scored_tokens import excluded_piece, too_long
from engine.models.tokenization.spans import Spans
from engine.models.tokenization.token_cache import TOKENS

Piece = dict[str, Any]

SIDES = ("reference", "candidate")
# Memory bound of the token vectors of the pairs whose similarities are computed together.
VECTOR_BYTES = 256 * 2**20


def token_similarities(
    loaded: LoadedModel, pairs: Sequence[Sequence[str]], *, layers: Sequence[int]
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
    check_layers(loaded, layers)
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    spans = dict(zip(texts, TOKENS.spans(loaded.tokenizer, [text.strip() for text in texts]), strict=True))
    unusable = {text: _unusable(loaded, spans[text]) for text in texts}
    columns = {text: _token_columns(text, spans[text]) for text in texts}
    pieces = [_excluded_pair(pair, spans, unusable) if any(unusable[text] for text in pair) else
              {f"{side}_{name}": value for side, text in zip(SIDES, pair, strict=True)
               for name, value in columns[text].items()}
              for pair in pairs]
    kept = [i for i, piece in enumerate(pieces) if "excluded" not in piece]
    for group in _groups(loaded, [(i, pairs[i][0], pairs[i][1]) for i in kept], spans, len(layers)):
        with computing(loaded):
            units = _unit_vectors(loaded, {text: spans[text].ids for _, *pair in group for text in pair}, layers)
        for i, reference, candidate in group:
            # (n_layers, n_ref, hidden) and (n_layers, hidden, n_cand) -> (n_layers, n_ref, n_cand)
            pieces[i]["similarity"] = units[reference] @ units[candidate].swapaxes(1, 2)
    return pieces


def _unit_vectors(
    loaded: LoadedModel, ids_by_text: dict[str, list[int]], layers: Sequence[int]
) -> dict[str, np.ndarray]:
    """The hidden states of each text's tokens at length 1, float32 (n_layers, n_tokens, hidden)."""
    texts, rows = list(ids_by_text), list(ids_by_text.values())
    units_by_text: dict[str, np.ndarray] = {}

    def step(indices: list[int]) -> None:
        states = states_of_rows(loaded, [rows[i] for i in indices], layers)
        units = torch.nn.functional.normalize(states, dim=-1).cpu().numpy()  # (n_rows, n_layers, longest, hidden)
        for i, unit in zip(indices, units, strict=True):
            units_by_text[texts[i]] = unit[:, : len(rows[i])]

    lengths = [len(row) for row in rows]
    run_buckets(lengths, budget_of_batches(loaded), step, groups_for(batching_of(loaded.model), lengths),
                model=loaded.model)
    return units_by_text


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
