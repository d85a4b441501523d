"""The piece of a text from those of the shares in which its windows were computed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from engine.inference.backend import Piece

_ARRAYS = ("ids", "spans", "log_likelihoods", "read_ids", "unscored_spans")


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
