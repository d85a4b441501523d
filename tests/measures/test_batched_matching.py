"""engine.measures.batched_matching: the flat arithmetic equals `matching` of each pair, and words by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.measures import batched_matching as ragged
from engine.measures.batched_matching import best_of_blocks, unit_blocks
from engine.measures.matching import best_matches


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


def units(random: np.random.Generator, lengths: np.ndarray) -> np.ndarray:
    """A number of a unit for each token, never falling, none over two sentences."""
    begins = random.random(lengths.sum()) < 0.6
    begins[np.cumsum(lengths) - lengths] = True
    return np.cumsum(begins) - 1


@pytest.mark.parametrize("cells_at_once", [1, 40, 10**6])
@pytest.mark.parametrize("barred_share", [0.0, 0.4, 1.0])
def test_all_blocks_at_once_equal_each_by_itself(
    cells_at_once: int, barred_share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ragged, "CELLS_AT_ONCE", cells_at_once)
    blocks, n_rows, n_columns = made_up(1, 40)
    random = np.random.default_rng(2)
    rows, columns = (random.random(n.sum()) < barred_share for n in (n_rows, n_columns))
    given_similarity = flat(blocks)
    before = given_similarity.copy()
    found = best_of_blocks(given_similarity, n_rows, n_columns, rows, columns)
    np.testing.assert_array_equal(given_similarity, before)
    expected = [best_matches(block, row, column, match_special=False)
                for block, row, column in zip(blocks, parts(rows, n_rows), parts(columns, n_columns), strict=True)]
    for name, theirs in (("row_match", "reference_match"), ("row_similarity", "reference_similarity"),
                         ("column_match", "candidate_match"), ("column_similarity", "candidate_similarity")):
        np.testing.assert_array_equal(getattr(found, name), np.concatenate([getattr(one, theirs) for one in expected]))


def test_no_block_has_no_match() -> None:
    nothing, none = np.empty(0), np.empty(0, dtype=np.int64)
    found = best_of_blocks(nothing, none, none, none.astype(bool), none.astype(bool))
    assert len(found.row_match) == len(found.column_similarity) == 0
    assert len(unit_blocks(nothing, none, none, none, none)) == 0


def test_float32_stays_what_it_was() -> None:
    similarity = np.array([0.1, 0.7, 0.3], dtype=np.float32)
    found = best_of_blocks(similarity, np.array([1]), np.array([3]), np.zeros(1, bool), np.zeros(3, bool))
    assert found.row_similarity[0] == np.float64(np.float32(0.7))


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
    found = unit_blocks(similarity, np.array([3]), np.array([3]), np.array([0, 0, 1]), np.array([0, 1, 1]))
    assert found == pytest.approx([0.8, 0.325, 0.0, 0.75], abs=1e-15)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([7, 10**6]))
def test_properties_of_words(seed: int, cells_at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged, "CELLS_AT_ONCE", cells_at_once)
        blocks, n_rows, n_columns = made_up(seed, 12)
        random = np.random.default_rng(seed)
        row_unit, column_unit = units(random, n_rows), units(random, n_columns)
        found = unit_blocks(flat(blocks), n_rows, n_columns, row_unit, column_unit)
        assert (np.abs(found) <= 0.75).all()  # as the cosines
        # words of one piece are their pieces
        single = unit_blocks(flat(blocks), n_rows, n_columns, np.arange(n_rows.sum()), np.arange(n_columns.sum()))
        np.testing.assert_array_equal(single, flat(blocks))
        # the other way round it is the transposed block
        sizes = [len(np.unique(part)) for part in parts(row_unit, n_rows)], [
            len(np.unique(part)) for part in parts(column_unit, n_columns)]
        there = [part.reshape(n, m).T for part, n, m in
                 zip(parts(found, np.multiply(*sizes)), *sizes, strict=True)]
        back = unit_blocks(flat([block.T for block in blocks]), n_columns, n_rows, column_unit, row_unit)
        np.testing.assert_allclose(back, flat(there), atol=1e-15)


def test_a_word_and_itself_are_alike_by_1() -> None:
    # The pieces of a word are unlike each other, but each is there on the other side.
    pieces = np.array([[1.0, 0.2, 0.3], [0.2, 1.0, 0.1], [0.3, 0.1, 1.0]])
    one = np.zeros(3, dtype=np.int64)
    assert unit_blocks(pieces.ravel(), np.array([3]), np.array([3]), one, one).tolist() == [1.0]
