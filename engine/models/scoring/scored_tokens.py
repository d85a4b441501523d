"""The result of scoring one text: its scored tokens with their log-likelihoods, or why it was excluded."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.messages.message import Message
from engine.models.loading.weights import LoadedModel
from engine.models.tokenization.spans import Spans


def scored_piece(
    spans: Spans,
    positions: np.ndarray,
    log_likelihoods: np.ndarray,
    *,
    read_ids: list[int],
    unknown_id: int | None,
    word_boundaries: np.ndarray | None = None,
) -> dict[str, Any]:
    """The tokens at `positions` int64 (|S|,) with their log-likelihoods float32 (|S|,), in nats.

    "n_unknown" of them are the tokenizer's unknown token, which stands for characters it has no piece for.
    "read_ids" are all ids that the model reads, scored or not: texts that share them are one text to it. Without
    any token the text is excluded: a sum over none would be 0, the best there is. word_boundaries: as in
    `causal_lm.token_log_likelihoods`, where they were asked for and the tokenizer has them.
    """
    if not len(positions):
        return excluded_piece(Message("It has no token to score."), len(spans.ids))
    first, end = int(positions[0]), int(positions[-1]) + 1
    # Nearly always the tokens from one to another: those are not looked up one by one.
    chosen = slice(first, end) if end - first == len(positions) else None
    places = positions.tolist()
    ids = spans.ids[chosen] if chosen else [spans.ids[i] for i in places]
    return {
        "tokens": spans.tokens[chosen] if chosen else [spans.tokens[i] for i in places],
        "ids": np.array(ids, dtype=np.int32),
        "spans": spans.spans[chosen] if chosen else spans.spans[positions],
        "log_likelihoods": log_likelihoods,
        "read_ids": np.array(read_ids, dtype=np.int32),
        "n_unknown": 0 if unknown_id is None else ids.count(unknown_id),
        **({} if word_boundaries is None else {"word_boundaries": word_boundaries}),
    }


def excluded_piece(reason: str, n_tokens: int) -> dict[str, Any]:
    """The piece of a text that was excluded."""
    return {"excluded": reason, "n_tokens": n_tokens}


def too_long(loaded: LoadedModel, n_tokens: int) -> str | None:
    """Why a text of `n_tokens` tokens, special ones included, is too long for the model; None where it is not."""
    limit = loaded.facts.max_tokens
    if n_tokens <= limit:
        return None
    return Message(
        "It has {n_tokens:,} tokens with the special ones, and {name} takes at most {limit:,}.",
        n_tokens=n_tokens,
        name=loaded.facts.name,
        limit=limit,
    )
