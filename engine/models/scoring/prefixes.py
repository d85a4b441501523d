"""Sequences with common beginnings, packed so that a causal model reads each beginning once.

A row is a tree: each token stands behind the token it follows, and attends to those it follows and to no other. What
the model makes of a token is then what it makes of it in the plain sequence, because a causal model sees nothing else;
the two sentences of a minimal pair share all up to where they differ, and sentences that open alike share the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

# Tokens of a row: attention costs their square, and 64 tokens already hold most of what sentences have in common.
ROW_TOKENS = 64


@dataclass
class Row:
    """One row: `ids` of its n tokens, `positions` of each in its sequence, `parents` in the row (-1: none).

    `places` says for each sequence, by its number, at which tokens of the row it stands, in order.
    """

    ids: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    places: dict[int, list[int]] = field(default_factory=dict)

    def attention(self) -> np.ndarray:
        """Which token (first axis) sees which (second): itself and those it follows; bool (n, n)."""
        seen = np.eye(len(self.ids), dtype=bool)
        for token, parent in enumerate(self.parents):
            if parent >= 0:
                seen[token] |= seen[parent]  # a parent stands before its children
        return seen


def packed(sequences: Sequence[Sequence[int]], row_tokens: int = ROW_TOKENS) -> list[Row]:
    """Pack every sequence of ids into one row; a row holds `row_tokens`, or one longer sequence.

    >>> [row.ids for row in packed([[1, 5, 6], [1, 7], [1, 5, 8]])]
    [[1, 5, 6, 8, 7]]
    """
    rows: list[Row] = []
    previous: Sequence[int] = ()
    last = -1
    # In order of their ids each sequence shares most with the one before.
    for number in sorted(range(len(sequences)), key=lambda i: tuple(sequences[i])):
        ids = sequences[number]
        common = next((i for i, (one, other) in enumerate(zip(ids, previous, strict=False)) if one != other),
                      min(len(ids), len(previous)))
        if not rows or len(rows[-1].ids) + len(ids) - common > row_tokens:
            rows.append(Row())
            common = 0
        row = rows[-1]
        path = row.places[last][:common] if common else []
        for position in range(common, len(ids)):
            row.parents.append(path[-1] if path else -1)
            path.append(len(row.ids))
            row.ids.append(ids[position])
            row.positions.append(position)
        row.places[number] = path
        previous, last = ids, number
    return rows
