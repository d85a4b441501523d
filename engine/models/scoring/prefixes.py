"""Packing of sequences with common prefixes into rows, so that a causal model reads each prefix once.

A row is a tree: each token is the child of the token it follows, and attends to its ancestors and to no other token.
The model's output at a token then equals that in the plain sequence, because a causal model attends to nothing else.
The two sentences of a minimal pair share the tokens before their first difference, and so do other sentences.
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

    `columns_by_sequence`: the number of each sequence -> the columns of its tokens in the row, in order.
    """

    ids: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    columns_by_sequence: dict[int, list[int]] = field(default_factory=dict)

    def attention(self) -> np.ndarray:
        """Which token (first axis) sees which (second): itself and those it follows; bool (n, n)."""
        seen: list[int] = []  # for each token the bits of those that it sees
        for token, parent in enumerate(self.parents):
            seen.append(1 << token | (seen[parent] if parent >= 0 else 0))  # a parent precedes its children
        n_bytes = max(1, -(-len(seen) // 8))
        packed = np.frombuffer(b"".join(bits.to_bytes(n_bytes, "little") for bits in seen), dtype=np.uint8)
        return np.unpackbits(packed.reshape(-1, n_bytes), axis=1, count=len(seen), bitorder="little").view(bool)


def pack_sequences(sequences: Sequence[Sequence[int]], row_tokens: int = ROW_TOKENS) -> list[Row]:
    """Pack every sequence of ids into one row; a row holds `row_tokens`, or one longer sequence.

    >>> [row.ids for row in pack_sequences([[1, 5, 6], [1, 7], [1, 5, 8]])]
    [[1, 5, 6, 8, 7]]
    """
    rows: list[Row] = []
    previous_ids: Sequence[int] = ()
    previous_number = -1
    # In order of their ids each sequence shares most with the one before.
    for number in sorted(range(len(sequences)), key=lambda i: tuple(sequences[i])):
        ids = sequences[number]
        token_pairs = enumerate(zip(ids, previous_ids, strict=False))
        common = next(
            (i for i, (token, previous_token) in token_pairs if token != previous_token),
            min(len(ids), len(previous_ids)),
        )
        if not rows or len(rows[-1].ids) + len(ids) - common > row_tokens:
            rows.append(Row())
            common = 0
        row = rows[-1]
        columns = row.columns_by_sequence[previous_number][:common] if common else []
        for position in range(common, len(ids)):
            row.parents.append(columns[-1] if columns else -1)
            columns.append(len(row.ids))
            row.ids.append(ids[position])
            row.positions.append(position)
        row.columns_by_sequence[number] = columns
        previous_ids, previous_number = ids, number
    return rows
