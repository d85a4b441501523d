"""Similarities of words: by hand, against plain loops, by properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.measures import similarity_blocks
from engine.measures.word_similarity import word_similarities
from tests.measures import oracles


def made_up(seed: int, n_blocks: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Matrices with many ties, and the number of their rows and columns."""
    random = np.random.default_rng(seed)
    n_rows, n_columns = random.integers(1, 8, n_blocks), random.integers(1, 8, n_blocks)
    blocks = [random.integers(-3, 4, (n, m)) / 4 for n, m in zip(n_rows, n_columns, strict=True)]
    return blocks, n_rows, n_columns


def flat(blocks: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([block.ravel() for block in blocks])


def parts(values: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(lengths)[:-1])


def numbered(random: np.random.Generator, lengths: np.ndarray) -> np.ndarray:
    """A number of a word for each token, never falling, none over two sentences."""
    begins = random.random(lengths.sum()) < 0.6
    begins[np.cumsum(lengths) - lengths] = True
    return np.cumsum(begins) - 1


def members(words: np.ndarray) -> list[np.ndarray]:
    """The tokens of each word of one sentence."""
    return [np.flatnonzero(words == word) for word in np.unique(words)]


def word_blocks(
    values: np.ndarray, row_word: np.ndarray, n_rows: np.ndarray, column_word: np.ndarray, n_columns: np.ndarray
) -> list[np.ndarray]:
    """The matrices of words that lie end to end in `values`."""
    sizes = [
        np.array([len(np.unique(sentence)) for sentence in parts(words, lengths)])
        for words, lengths in ((row_word, n_rows), (column_word, n_columns))
    ]
    return [part.reshape(n, m) for part, n, m in zip(parts(values, np.multiply(*sizes)), *sizes, strict=True)]


def test_no_pair_has_no_word() -> None:
    none = np.empty(0, dtype=np.int64)
    assert len(word_similarities(np.empty(0), none, none, none, none)) == 0


def test_words_by_hand() -> None:
    # Reference pieces a1 a2 | b, candidate pieces c | d1 d2:
    #         c    d1   d2
    #   a1   0.9  0.2  0.1
    #   a2   0.5  0.3  0.4
    #   b    0.0  0.8  0.6
    # sim(A, C): pieces of A find 0.9 and 0.5 in C, mean 0.7; C finds 0.9 in A:            (0.7 + 0.9) / 2  = 0.8
    # sim(A, D): A finds 0.2 and 0.4, mean 0.3; d1 finds 0.3 and d2 0.4 in A, mean 0.35:  (0.3 + 0.35) / 2 = 0.325
    # sim(B, C): one piece each: the cosine, 0.0
    # sim(B, D): B finds 0.8; d1 finds 0.8 and d2 0.6, mean 0.7:                          (0.8 + 0.7) / 2  = 0.75
    similarity = np.array([0.9, 0.2, 0.1, 0.5, 0.3, 0.4, 0.0, 0.8, 0.6])
    words = word_similarities(similarity, np.array([3]), np.array([3]), np.array([0, 0, 1]), np.array([0, 1, 1]))
    assert words == pytest.approx([0.8, 0.325, 0.0, 0.75], abs=1e-15)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([7, 10**6]))
def test_properties_of_words(seed: int, cells_at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similarity_blocks, "CELLS_AT_ONCE", cells_at_once)
        blocks, n_rows, n_columns = made_up(seed, 12)
        random = np.random.default_rng(seed)
        row_word, column_word = numbered(random, n_rows), numbered(random, n_columns)
        words = word_similarities(flat(blocks), n_rows, n_columns, row_word, column_word)
        for block, word_block, own, other in zip(
            blocks,
            word_blocks(words, row_word, n_rows, column_word, n_columns),
            parts(row_word, n_rows),
            parts(column_word, n_columns),
            strict=True,
        ):
            expected = oracles.word_matrix(block, members(own), members(other))
            np.testing.assert_allclose(word_block, expected, atol=1e-15)  # sums in another order
        assert (np.abs(words) <= 0.75).all()  # as the cosines
        # words of one piece are their pieces
        single = word_similarities(flat(blocks), n_rows, n_columns, np.arange(n_rows.sum()), np.arange(n_columns.sum()))
        np.testing.assert_array_equal(single, flat(blocks))
        # the other way round it is the transposed block
        there = [block.T for block in word_blocks(words, row_word, n_rows, column_word, n_columns)]
        back = word_similarities(flat([block.T for block in blocks]), n_columns, n_rows, column_word, row_word)
        np.testing.assert_allclose(back, flat(there), atol=1e-15)


def test_a_word_and_itself_are_alike_by_1() -> None:
    # The pieces of a word are unlike each other, but each is there on the other side.
    pieces = np.array([[1.0, 0.2, 0.3], [0.2, 1.0, 0.1], [0.3, 0.1, 1.0]])
    word = np.zeros(3, dtype=np.int64)
    assert word_similarities(pieces.ravel(), np.array([3]), np.array([3]), word, word).tolist() == [1.0]
