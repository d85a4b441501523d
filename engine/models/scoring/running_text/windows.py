"""The windows in which a text longer than a model reads is scored, each token once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import InputError
from engine.messages.message import Message
from engine.models.loading.weights import LoadedModel
from engine.models.tokenization.spans import Spans


@dataclass(frozen=True)
class Window:
    """Tokens `begin` to before `end` of a text are read; of these `scored_from` to before `scored_to` are scored."""

    begin: int
    end: int
    scored_from: int
    scored_to: int


def windows(n: int, length: int, stride: int, *, both_sides: bool = False) -> list[Window]:
    """The windows over the `n` tokens of a text, `length` tokens each and the last one shorter, `stride` tokens apart.

    Each token is scored in one window. Of a model that reads to the left that is the first window that has it, as in
    the loop of Hugging Face's documentation ("Perplexity of fixed-length models"): all tokens after the first window
    have length − stride tokens or more before them. both_sides: of a model that reads to both sides, where it is about
    the middle of the window: it has (length − stride) // 2 tokens or more on either side, where the text has them.

    1 ≤ stride ≤ length. A text without tokens has one window without any.

    >>> [(w.begin, w.end, w.scored_from, w.scored_to) for w in windows(7, 4, 2)]
    [(0, 4, 0, 4), (2, 6, 4, 6), (4, 7, 6, 7)]
    >>> [(w.begin, w.end, w.scored_from, w.scored_to) for w in windows(7, 4, 2, both_sides=True)]
    [(0, 4, 0, 3), (2, 6, 3, 5), (4, 7, 5, 7)]
    """
    found: list[Window] = []
    for begin in range(0, max(n, 1), stride):
        end = min(begin + length, n)
        last = end == n
        to = n if last else begin + stride + (length - stride) // 2 if both_sides else end
        found.append(Window(begin, end, found[-1].scored_to if found else 0, to))
        if last:
            break
    return found


def share_of(everything: list[Any], share: int, n_shares: int) -> list[Any]:
    """The `share`-th (from 0) of `n_shares` parts of a list, about equally long; together they are the list.

    >>> [share_of([1, 2, 3, 4, 5], share, 2) for share in (0, 1)], share_of([1], 0, 2)
    ([[1, 2], [3, 4, 5]], [])
    """
    return everything[len(everything) * share // n_shares : len(everything) * (share + 1) // n_shares]


def room_in(loaded: LoadedModel, window: int, n_around: int) -> int:
    """How many tokens of a text fit into a window beside `n_around` special ones.

    Raises InputError for a window longer than the model reads, or without room for a token.
    """
    if window > loaded.facts.max_tokens:
        raise InputError(
            Message(
                "A window of {window:,} tokens is too long: {name} takes at most {limit:,}.",
                window=window,
                name=loaded.facts.name,
                limit=loaded.facts.max_tokens,
            )
        )
    if window <= n_around:
        raise InputError(
            Message(
                "A window of {window:,} tokens has no room for the text: {name} reads {n_around:,} special tokens with it.",
                window=window,
                name=loaded.facts.name,
                n_around=n_around,
            )
        )
    return window - n_around


def scored_share(
    spans: Spans,
    scored: np.ndarray,
    left_out: np.ndarray,
    log_likelihoods: np.ndarray,
    *,
    read_ids: list[int],
    n_windows: int,
    unknown_id: int | None,
) -> dict[str, Any]:
    """The piece of a share of a text: its scored tokens with their log-likelihoods float32 (|S|,), in nats.

    scored, left_out: int64, tokens of the text that are scored in this share, and those that are not, having nothing
    before them; "unscored_spans" int32 (n, 2) are the characters of the latter. read_ids: of the whole text, [] but
    in the first share. The other fields are those of `scored_tokens.scored_piece`.
    """
    places = scored.tolist()
    ids = [spans.ids[i] for i in places]
    return {
        "tokens": [spans.tokens[i] for i in places],
        "ids": np.array(ids, dtype=np.int32),
        "spans": spans.spans[scored],
        "log_likelihoods": log_likelihoods,
        "read_ids": np.array(read_ids, dtype=np.int32),
        "n_unknown": 0 if unknown_id is None else ids.count(unknown_id),
        "unscored_spans": spans.spans[left_out],
        "n_windows": n_windows,
    }
