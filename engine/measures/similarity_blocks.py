"""Similarity matrices of many sizes, end to end in one array: the order of their cells along either side.

A **block** is the matrix of one pair, row-major; `n_rows` and `n_columns` int64 (n_blocks,) are the blocks' sizes. What
belongs to the rows (reference tokens) of all blocks lies end to end, too, and so do the columns. A **line** is the
cells of one token with every token of the other side: a row, or a column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Cells that are worked on at a time: some 40 bytes are needed for each.
CELLS_AT_ONCE = 2_000_000

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Lines:
    """The cells of some blocks in an order that runs along one side: `own` tokens, each with all `other` ones."""

    own: Ints  # (n_cells,) number of the token whose line the cell is in
    other: Ints  # (n_cells,) number of the token on the other side
    lengths: Ints  # (n_own,) cells of each token's line
    starts: Ints  # (n_own,) where each token's line begins
    block: Ints  # (n_own,) the block of each token
    first: Ints  # (n_blocks,) the first own token of each block


def along_both_sides(n_rows: Ints, n_columns: Ints) -> tuple[Lines, Lines, Ints]:
    """The lines of the rows, the lines of the columns, and where each cell of the latter stands in the former.

    >>> rows, columns, transposed = along_both_sides(np.array([2]), np.array([3]))
    >>> rows.starts.tolist(), columns.starts.tolist(), transposed.tolist()
    ([0, 3], [0, 2, 4], [0, 3, 1, 4, 2, 5])
    """
    rows, columns = _lines(n_rows, n_columns), _lines(n_columns, n_rows)
    column = columns.own - columns.first[columns.block[columns.own]]  # (n_cells,) within its block
    return rows, columns, rows.starts[columns.other] + column


def parts(n_rows: Ints, n_columns: Ints) -> Iterator[tuple[slice, slice, slice, slice]]:
    """Runs of blocks of at most CELLS_AT_ONCE cells (or one block): the slices of blocks, cells, rows and columns."""
    ends = np.stack([np.cumsum(n_rows * n_columns), np.cumsum(n_rows), np.cumsum(n_columns)])  # (3, n_blocks)
    block, before = 0, np.zeros(3, dtype=np.int64)
    while block < len(n_rows):
        until = max(int(np.searchsorted(ends[0], before[0] + CELLS_AT_ONCE, side="right")), block + 1)
        after = ends[:, until - 1]
        cells, rows, columns = map(slice, before.tolist(), after.tolist())
        yield slice(block, until), cells, rows, columns
        block, before = until, after


def _lines(n_own: Ints, n_other: Ints) -> Lines:
    block = np.repeat(np.arange(len(n_own)), n_own)
    lengths = n_other[block]  # (n_own,)
    starts = np.cumsum(lengths) - lengths
    own = np.repeat(np.arange(len(block)), lengths)
    first_other = np.cumsum(n_other) - n_other  # (n_blocks,)
    other = np.arange(len(own)) - starts[own] + first_other[block][own]
    return Lines(own, other, lengths, starts, block, np.cumsum(n_own) - n_own)
