"""Pseudo-log-likelihoods of the tokens of running text under a masked model, in windows where a text is longer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.messages.message import Message
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.masked_lm import BEFORE_MASK, check_scoring, scored_positions, scores_at, together_in
from engine.models.scoring.running_text.windows import Window, room_in, scored_share, share_of, windows
from engine.models.scoring.scored_tokens import excluded_piece
from engine.models.tokenization.spans import Spans
from engine.models.tokenization.token_cache import TOKENS


def document_log_likelihoods(
    loaded: LoadedModel,
    items: Sequence[tuple[str, int, int]],
    *,
    scoring: str,
    window: int,
    stride: int,
    words: str = "auto",
) -> list[dict[str, Any]]:
    """The log-likelihood of each token of a share of each text given the other tokens of its window, in nats.

    items, window, stride: as in `causal.document_log_likelihoods`; scoring, words: as in
    `masked_lm.token_log_likelihoods`, whose numbers a text that fits into the window has. Every window stands between
    the special tokens that the tokenizer puts around a text, and a token is scored in the window where it is about in
    the middle, with (tokens of the text in a window − stride) // 2 tokens or more on either side where the text has
    them. Words are those of the whole text. Returns and raises as `causal.document_log_likelihoods`, and InputError
    for an unknown scoring.
    """
    check_scoring(scoring)
    next_token = scoring.startswith(BEFORE_MASK)
    texts = [text for text, *_ in items]
    spans_by_text = TOKENS.spans(loaded.tokenizer, texts)
    shares, ids, together, positions = [], [], [], []
    for (text, share, n_shares), spans in zip(items, spans_by_text, strict=True):
        own = np.flatnonzero(~spans.special)
        first, last = (int(own[0]), int(own[-1]) + 1) if len(own) else (0, 0)
        numbers = together_in(text, spans, scoring, words)
        parts = share_of(_windows(loaded, spans, first, last, window, stride), share, n_shares)
        shares.append(parts)
        for part in parts:
            read = np.r_[0:first, first + part.begin : first + part.end, last : len(spans.ids)]
            ids.append([spans.ids[i] for i in read.tolist()])
            together.append(numbers[read])
            positions.append(_scored(spans, part, first, next_token) - part.begin)
    scores = iter(scores_at(loaded, ids, together, positions, next_token=next_token))
    pieces = []
    for (_, share, _), spans, parts in zip(items, spans_by_text, shares, strict=True):
        of_parts = [next(scores) for _ in parts]
        if not len(scored_positions(spans, next_token)):
            pieces.append(excluded_piece(Message("It has no token to score."), len(spans.ids)))
            continue
        first = int(np.flatnonzero(~spans.special)[0])
        inside, scored = (
            np.concatenate([np.zeros(0, dtype=np.int64), *(_scored(spans, part, first, skips) for part in parts)])
            for skips in (False, next_token)
        )
        pieces.append(
            scored_share(
                spans,
                scored,
                np.setdiff1d(inside, scored),
                np.concatenate([np.zeros(0, dtype=np.float32), *of_parts]),
                read_ids=[] if share else spans.ids,
                n_windows=len(parts),
                unknown_id=loaded.tokenizer.unk_token_id,
            )
        )
    return pieces


def _windows(loaded: LoadedModel, spans: Spans, first: int, last: int, window: int, stride: int) -> list[Window]:
    """The windows over the ids from the first to the last token of the text; one for a text that fits."""
    n = last - first
    room = room_in(loaded, window, len(spans.ids) - n)
    if len(spans.ids) <= window:
        return [Window(0, n, 0, n)]
    return windows(n, room, min(stride, room), both_sides=True)


def _scored(spans: Spans, part: Window, first: int, next_token: bool) -> np.ndarray:
    """The tokens that are scored in a window, int64 (n,), by their place in the text.

    next_token: a token that nothing stands before in its window is left out.
    """
    places = np.arange(first + part.scored_from, first + part.scored_to)
    is_scored = ~spans.special[places] & ((places > part.begin) if next_token else True)
    scored: np.ndarray = places[is_scored]
    return scored
