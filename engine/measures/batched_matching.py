"""The arithmetic of `matching` for many pairs at once: similarity matrices of many sizes, end to end in one array.

A **block** is the matrix of one pair, row-major; `n_rows` and `n_columns` int64 (n_blocks,) are the blocks' sizes,
none of them 0. What belongs to the rows (reference tokens) of all blocks lies end to end, too, and so do the columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.measures.matching import NO_MATCH

# Cells that are worked on at a time: some 40 bytes are needed for each.
CELLS_AT_ONCE = 2_000_000

Ints = NDArray[np.int64]
Floats = NDArray[np.floating]


@dataclass(frozen=True)
class RaggedMatches:
    """`matching.BestMatches` of all blocks, end to end: positions within the other side of the same block."""

    row_match: Ints  # (all rows,), -1 where no column is eligible
    row_similarity: NDArray[np.float64]  # (all rows,), nan there
    column_match: Ints  # (all columns,)
    column_similarity: NDArray[np.float64]  # (all columns,)


def best_of_blocks(similarity: Floats, n_rows: Ints, n_columns: Ints, barred_rows: NDArray[np.bool_],
                   barred_columns: NDArray[np.bool_]) -> RaggedMatches:
    """Which token of the other sentence is each token closest to, in every pair?

    The same as `matching.best_matches` of each block, where `barred_rows` bool (all rows,) and `barred_columns`
    bool (all columns,) are the special tokens if they may not be matches, and False throughout if they may.
    `similarity` float (all cells,) is finite; it is not written to.

    >>> found = best_of_blocks(np.array([0.9, 0.1, 0.2, 0.3, 0.5]), np.array([2, 1]), np.array([2, 1]),
    ...                        np.zeros(3, dtype=bool), np.zeros(3, dtype=bool))
    >>> found.row_match.tolist(), found.column_similarity.tolist()
    ([0, 1, 0], [0.9, 0.3, 0.5])
    """
    parts: list[RaggedMatches] = []
    for blocks, cells, rows, columns in _parts(n_rows, n_columns):
        by_row, by_column, turning = _layouts(n_rows[blocks], n_columns[blocks])
        values = similarity[cells]
        parts.append(RaggedMatches(*_best(values, by_row, barred_columns[columns]),
                                   *_best(values[turning], by_column, barred_rows[rows])))
    if not parts:
        return RaggedMatches(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64), np.empty(0))
    return RaggedMatches(np.concatenate([part.row_match for part in parts]),
                         np.concatenate([part.row_similarity for part in parts]),
                         np.concatenate([part.column_match for part in parts]),
                         np.concatenate([part.column_similarity for part in parts]))


def unit_blocks(similarity: Floats, n_rows: Ints, n_columns: Ints, row_unit: Ints, column_unit: Ints
                ) -> NDArray[np.float64]:
    """How alike are two units (words), each of one or more neighbouring tokens?

        sim(A, B) = ( mean_{a in A} max_{b in B} cos(a, b)  +  mean_{b in B} max_{a in A} cos(a, b) ) / 2

    Parameters
    ----------
    similarity, n_rows, n_columns : the blocks of tokens.
    row_unit, column_unit : int64 (all rows,), (all columns,): the number of each token's unit, counted on from 0
        through all blocks; it never falls, and no unit reaches from one block into the next.

    Returns float64 (all cells,) of the blocks of units, laid out like those of tokens.

    Range: [-1, 1], no unit, higher is better: the cosine itself between units of one token each, 1 between equal
    ones. Edges: none, a unit has a token. Raises nothing.

    Source: ours. BERTScore of one word against another (mean of recall and precision, Zhang et al. 2020, section 3):
    unlike the mean over all cosines it is 1 for a word and itself, and unlike the greatest it falls when a word has
    a piece that the other lacks.

    >>> two_pieces_and_one = np.array([1.0, 0.4])
    >>> unit_blocks(two_pieces_and_one, np.array([2]), np.array([1]), np.array([0, 0]), np.array([0])).tolist()
    [0.85]
    """
    parts: list[NDArray[np.float64]] = []
    for blocks, cells, rows, columns in _parts(n_rows, n_columns):
        by_row, by_column, turning = _layouts(n_rows[blocks], n_columns[blocks])
        values = similarity[cells].astype(np.float64)
        row_units, column_units = (units - units[0] for units in (row_unit[rows], column_unit[columns]))
        first_row, first_column = row_units[by_row.first], column_units[by_column.first]  # (n_blocks,) its first unit
        n_across = np.diff(first_column, append=column_units[-1] + 1)  # (n_blocks,) units along the columns
        sizes = np.diff(first_row, append=row_units[-1] + 1) * n_across
        begins = np.cumsum(sizes) - sizes  # (n_blocks,) where each block of units begins
        total = np.zeros(int(sizes.sum()))
        for runs, turned in ((_runs(values, by_row, row_units, column_units), False),
                             (_runs(values[turning], by_column, column_units, row_units), True)):
            row, column = (runs.other, runs.own) if turned else (runs.own, runs.other)
            place = begins[runs.block] + (row - first_row[runs.block]) * n_across[runs.block]
            place += column - first_column[runs.block]
            total += np.bincount(place, weights=runs.share, minlength=len(total))
        parts.append(total / 2)
    return np.concatenate(parts) if parts else np.empty(0)


@dataclass(frozen=True)
class _Runs:
    """Each token over each unit of the other side: a run of neighbouring cells."""

    own: Ints  # (n_runs,) the token's unit
    other: Ints  # (n_runs,) the unit of the other side
    block: Ints  # (n_runs,)
    share: NDArray[np.float64]  # (n_runs,) the greatest cell, divided by the number of the own unit's tokens


def _runs(values: Floats, layout: _Layout, own_unit: Ints, other_unit: Ints) -> _Runs:
    across = other_unit[layout.other]  # (n_cells,)
    starts = np.flatnonzero(np.r_[True, (layout.own[1:] != layout.own[:-1]) | (across[1:] != across[:-1])])
    token = layout.own[starts]
    unit = own_unit[token]
    return _Runs(unit, across[starts], layout.block[token],
                 np.maximum.reduceat(values, starts) / np.bincount(own_unit)[unit])


@dataclass(frozen=True)
class _Layout:
    """The cells of some blocks in an order that runs along one side: `own` tokens, each with all `other` ones."""

    own: Ints  # (n_cells,) number of the token whose line the cell is in
    other: Ints  # (n_cells,) number of the token on the other side
    starts: Ints  # (n_own,) where each token's line of cells begins
    block: Ints  # (n_own,) the block of each token
    first: Ints  # (n_blocks,) the first own token of each block


def _layouts(n_rows: Ints, n_columns: Ints) -> tuple[_Layout, _Layout, Ints]:
    """The cells in row-major order, in column-major order, and where each of the latter stands in the former."""
    by_row, by_column = _layout(n_rows, n_columns), _layout(n_columns, n_rows)
    place = by_column.own - by_column.first[by_column.block[by_column.own]]  # of the column within its block
    return by_row, by_column, by_row.starts[by_column.other] + place


def _layout(n_own: Ints, n_other: Ints) -> _Layout:
    block = np.repeat(np.arange(len(n_own)), n_own)
    length = n_other[block]  # (n_own,) cells in the line of each token
    starts = np.cumsum(length) - length
    own = np.repeat(np.arange(len(block)), length)
    first_other = np.cumsum(n_other) - n_other  # (n_blocks,)
    other = np.arange(len(own)) - starts[own] + first_other[block][own]
    return _Layout(own, other, starts, block, np.cumsum(n_own) - n_own)


def _best(values: Floats, layout: _Layout, barred: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.float64]]:
    """The first greatest cell of each line, as its place in the line and its value."""
    if barred.any():
        values = np.where(barred[layout.other], -np.inf, values)
    greatest = np.maximum.reduceat(values, layout.starts).astype(np.float64)
    cells = np.flatnonzero(values == greatest[layout.own])
    line = layout.own[cells]
    first = cells[np.r_[True, line[1:] != line[:-1]]]  # every line has its greatest somewhere
    none = np.isneginf(greatest)
    return np.where(none, NO_MATCH, first - layout.starts), np.where(none, np.nan, greatest)


def _parts(n_rows: Ints, n_columns: Ints) -> Iterator[tuple[slice, slice, slice, slice]]:
    """Runs of blocks of at most CELLS_AT_ONCE cells (or one block): the slices of blocks, cells, rows and columns."""
    ends = np.stack([np.cumsum(n_rows * n_columns), np.cumsum(n_rows), np.cumsum(n_columns)])  # (3, n_blocks)
    block, before = 0, np.zeros(3, dtype=np.int64)
    while block < len(n_rows):
        until = max(int(np.searchsorted(ends[0], before[0] + CELLS_AT_ONCE, side="right")), block + 1)
        after = ends[:, until - 1]
        cells, rows, columns = map(slice, before.tolist(), after.tolist())
        yield slice(block, until), cells, rows, columns
        block, before = until, after
