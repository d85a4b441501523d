"""How alike are two words of several tokens each? Similarities of words from those of their tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.measures.similarity_blocks import Ints, Lines, along_both_sides, parts


def word_similarities(
    similarity: NDArray[np.floating], n_rows: Ints, n_columns: Ints, row_word: Ints, column_word: Ints
) -> NDArray[np.float64]:
    """How alike are two words, each of one or more neighbouring tokens?

        sim(A, B) = ( mean_{a in A} max_{b in B} cos(a, b)  +  mean_{b in B} max_{a in A} cos(a, b) ) / 2

    Parameters
    ----------
    similarity : float (all cells,), the blocks of tokens end to end, each row-major (`similarity_blocks`).
    n_rows, n_columns : int64 (n_blocks,), the blocks' sizes, above 0.
    row_word, column_word : int64 (all rows,), (all columns,): the number of each token's word, counted on from 0
        through all blocks; it never falls, and no word reaches from one block into the next.

    Returns float64 (all cells,) of the blocks of words, laid out like those of tokens.

    Range: [-1, 1], no unit, higher is better: the cosine itself between words of one token each, 1 between equal
    ones. Edges: none, a word has a token; without blocks the result is empty. Raises nothing.

    Source: ours. BERTScore of one word against another (mean of recall and precision, Zhang et al. 2020, section 3):
    unlike the mean over all cosines it is 1 for a word and itself, and unlike the greatest it falls when a word has
    a piece that the other lacks.

    >>> two_pieces_and_one = np.array([1.0, 0.4])
    >>> word_similarities(two_pieces_and_one, np.array([2]), np.array([1]), np.array([0, 0]), np.array([0])).tolist()
    [0.85]
    """
    results: list[NDArray[np.float64]] = []
    for blocks, cells, rows, columns in parts(n_rows, n_columns):
        by_row, by_column, transposed = along_both_sides(n_rows[blocks], n_columns[blocks])
        values = similarity[cells].astype(np.float64)
        row_words, column_words = (words - words[0] for words in (row_word[rows], column_word[columns]))
        first_row, first_column = row_words[by_row.first], column_words[by_column.first]  # (n_blocks,) its first word
        n_across = np.diff(first_column, append=column_words[-1] + 1)  # (n_blocks,) words along the columns
        sizes = np.diff(first_row, append=row_words[-1] + 1) * n_across
        starts = np.cumsum(sizes) - sizes  # (n_blocks,) where each block of words begins
        total = np.zeros(int(sizes.sum()))
        for runs, is_transposed in (
            (_runs(values, by_row, row_words, column_words), False),
            (_runs(values[transposed], by_column, column_words, row_words), True),
        ):
            row, column = (runs.other, runs.own) if is_transposed else (runs.own, runs.other)
            cell = starts[runs.block] + (row - first_row[runs.block]) * n_across[runs.block]
            cell += column - first_column[runs.block]
            total += np.bincount(cell, weights=runs.share, minlength=len(total))
        results.append(total / 2)
    return np.concatenate(results) if results else np.empty(0)


@dataclass(frozen=True)
class _Runs:
    """Each token over each word of the other side: a run of neighbouring cells."""

    own: Ints  # (n_runs,) the token's word
    other: Ints  # (n_runs,) the word of the other side
    block: Ints  # (n_runs,)
    share: NDArray[np.float64]  # (n_runs,) the greatest cell, divided by the number of the own word's tokens


def _runs(values: NDArray[np.floating], lines: Lines, own_word: Ints, other_word: Ints) -> _Runs:
    across = other_word[lines.other]  # (n_cells,)
    starts = np.flatnonzero(np.r_[True, (lines.own[1:] != lines.own[:-1]) | (across[1:] != across[:-1])])
    token = lines.own[starts]
    word = own_word[token]
    return _Runs(
        word, across[starts], lines.block[token], np.maximum.reduceat(values, starts) / np.bincount(own_word)[word]
    )
