"""Log-likelihoods of the tokens of running text under a causal model, in windows where a text is longer than they."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.messages.message import Message
from engine.models.loading.weights import LoadedModel
from engine.models.scoring.causal_lm import TokenSequence, ids_of_prefix, read_texts, sequence_scores
from engine.models.scoring.probes import require_causal
from engine.models.scoring.running_text.windows import Window, room_in, scored_share, share_of, windows
from engine.models.scoring.scored_tokens import excluded_piece

EACH, FIRST = "each", "first"


def document_log_likelihoods(
    loaded: LoadedModel,
    items: Sequence[tuple[str, int, int]],
    *,
    window: int,
    stride: int,
    window_prefix: str = EACH,
    prefix: Sequence[str] | None = None,
    leading_space: bool = False,
) -> list[dict[str, Any]]:
    """The log-likelihood of each token of a share of each text given the tokens before it in its window, in nats.

    items: texts, each with the number of a share, from 0, and of all shares: the share has about as many of the text's
    windows as the others (`windows.windows`), so that a long text is computed, shown and kept in parts. window: the
    most tokens that are read at once, special ones included; a text that fits is read as a whole and has the numbers
    of `causal_lm.token_log_likelihoods`. stride: of windows; at most as many as fit beside the prefix. window_prefix:
    "each": every window is read after the prefix; "first": the prefix stands before the text alone, and a window
    begins with tokens of the text: the loop of Hugging Face's documentation, over the ids of the prefix and the text.
    prefix, leading_space: as in `causal_lm.token_log_likelihoods`.

    A token without any before it in its window (the first one after no prefix; with "first" and a stride of the whole
    window the first of each window) is not scored. Returns one piece per item (`windows.scored_share`), or
    {"excluded": reason, "n_tokens": n} for a text without a token to score. Raises InputError for a window that is
    longer than the model takes or has no room for the text.
    """
    require_causal(loaded)
    prefix_ids = ids_of_prefix(loaded, prefix)
    n_repeated = len(prefix_ids) if window_prefix == EACH else 0
    room = room_in(loaded, window, n_repeated)
    spans_by_text, sequences = read_texts(loaded, [text for text, *_ in items], prefix_ids, leading_space=leading_space)
    shares = [
        share_of(_windows(sequence, window, room, min(stride, room), n_repeated), share, n_shares)
        for sequence, (_, share, n_shares) in zip(sequences, items, strict=True)
    ]
    of_windows = [
        [_in_window(sequence, part, n_repeated) for part in parts]
        for sequence, parts in zip(sequences, shares, strict=True)
    ]
    flat = [part for parts in of_windows for part in parts if len(part.at)]
    scores = iter(sequence_scores(loaded, flat))
    pieces = []
    for (_, share, _), spans, sequence, parts, of_text in zip(
        items, spans_by_text, sequences, shares, of_windows, strict=True
    ):
        if not len(sequence.tokens):
            pieces.append(excluded_piece(Message("It has no token to score."), len(spans.ids)))
            continue
        own = [np.zeros(0, dtype=np.float32), *(next(scores) for part in of_text if len(part.at))]
        scored = np.concatenate([np.zeros(0, dtype=np.int64), *(part.tokens for part in of_text)])
        places = np.flatnonzero(~spans.special)
        # Of no window: what a tokenizer puts before a text in place of the prefix.
        inside = [places[_is_in(places + sequence.shift, part, n_repeated)] for part in parts]
        left_out = np.setdiff1d(np.concatenate([np.zeros(0, dtype=np.int64), *inside]), scored)
        pieces.append(
            scored_share(
                spans,
                scored,
                left_out,
                np.concatenate(own),
                read_ids=[] if share else sequence.ids,
                n_windows=len(parts),
                unknown_id=loaded.tokenizer.unk_token_id,
            )
        )
    return pieces


def _windows(sequence: TokenSequence, window: int, room: int, stride: int, n_repeated: int) -> list[Window]:
    """The windows over the ids after the first `n_repeated`; one for a text that fits."""
    n = len(sequence.ids) - n_repeated
    return [Window(0, n, 0, n)] if len(sequence.ids) <= window else windows(n, room, stride)


def _in_window(sequence: TokenSequence, part: Window, n_repeated: int) -> TokenSequence:
    """What the model reads of a text in one window, and scores there."""
    chosen = _is_in(sequence.at, part, n_repeated) & (sequence.at - part.begin >= 1)
    first = n_repeated + part.begin
    return TokenSequence(
        [*sequence.ids[:n_repeated], *sequence.ids[first : n_repeated + part.end]],
        sequence.at[chosen] - part.begin,
        sequence.tokens[chosen],
    )


def _is_in(places: np.ndarray, part: Window, n_repeated: int) -> np.ndarray:
    """Which places of ids are scored in a window: bool, as `places`."""
    return (places >= n_repeated + part.scored_from) & (places < n_repeated + part.scored_to)
