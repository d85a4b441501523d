"""Texts in the shares in which their windows are computed, and the pieces of the texts from those of the shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from engine.inference.backend import Piece

_ARRAYS = ("ids", "spans", "log_likelihoods", "read_ids", "unscored_spans")


def in_shares(texts: Sequence[str], n_shares: Sequence[int]) -> list[tuple[str, int, int]]:
    """Each text with the number of each of its shares, from 0, and how many there are.

    >>> in_shares(["a", "b"], [1, 2])
    [('a', 0, 1), ('b', 0, 2), ('b', 1, 2)]
    """
    return [(text, share, n) for text, n in zip(texts, n_shares, strict=True) for share in range(n)]


def joined(pieces: Iterable[Piece], n_shares: Sequence[int]) -> list[Piece]:
    """The piece of each text, from those of its shares in their order (`in_shares`)."""
    of_shares = iter(pieces)
    return [joined_shares([next(of_shares) for _ in range(n)]) for n in n_shares]


def joined_shares(pieces: Sequence[Piece]) -> Piece:
    """The tokens of all shares, in their order; a text that was excluded is so in each of them.

    >>> joined_shares([{"excluded": "empty", "n_tokens": 0}])["excluded"]
    'empty'
    """
    if len(pieces) == 1 or "excluded" in pieces[0]:
        return pieces[0]
    return {
        "tokens": list(chain.from_iterable(piece["tokens"] for piece in pieces)),
        **{name: np.concatenate([piece[name] for piece in pieces]) for name in _ARRAYS},
        **{name: sum(piece[name] for piece in pieces) for name in ("n_unknown", "n_windows")},
    }
