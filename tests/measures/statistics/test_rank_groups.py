"""Rank groups: by hand, and what must hold of any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.statistics.rank_groups import rank_groups


def symmetric(n: int, pairs: list[tuple[int, int]]) -> np.ndarray:
    table = np.zeros((n, n), dtype=bool)
    for a, b in pairs:
        table[a, b] = table[b, a] = True
    return table


def test_by_hand() -> None:
    # In order of score: 2 (10), 0 (11), 3 (12), 1 (15), 4 has none. 2 begins group 1; 0 is like it; 3 is not and begins
    # group 2; 1 differs from 2 and from 0 but not from 3, the best of group 2, and joins it.
    apart = symmetric(5, [(2, 3), (2, 1), (0, 1)])
    assert rank_groups([11.0, 15.0, 10.0, 12.0, np.nan], apart).tolist() == [1, 2, 1, 2, 0]


def test_a_member_need_only_be_like_the_best_of_its_group() -> None:
    assert rank_groups([1.0, 2.0, 3.0], symmetric(3, [(1, 2)])).tolist() == [1, 1, 1]


def test_all_apart_all_alike_and_none() -> None:
    assert rank_groups([3.0, 1.0, 2.0], ~np.eye(3, dtype=bool)).tolist() == [3, 1, 2]
    assert rank_groups([3.0, 1.0, 2.0], np.zeros((3, 3))).tolist() == [1, 1, 1]
    assert rank_groups([np.nan, np.nan], np.zeros((2, 2))).tolist() == [0, 0]
    assert rank_groups([], np.zeros((0, 0))).tolist() == []


@settings(max_examples=50)
@given(st.integers(1, 7), st.integers(0, 10_000))
def test_groups_are_runs_of_the_ranking_whatever_the_order_given(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.permutation(n).astype(float)
    apart = symmetric(n, [tuple(random.integers(0, n, 2)) for _ in range(n)])
    np.fill_diagonal(apart, False)
    groups = rank_groups(scores, apart)
    ranked = groups[np.argsort(scores)]
    assert ranked[0] == 1 and set(np.diff(ranked)) <= {0, 1}
    order = random.permutation(n)
    np.testing.assert_array_equal(rank_groups(scores[order], apart[np.ix_(order, order)]), groups[order])


@pytest.mark.parametrize("table", [np.zeros((2, 2)), np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])])
def test_a_table_that_does_not_fit_is_refused(table: np.ndarray) -> None:
    with pytest.raises(InputError, match="symmetric table"):
        rank_groups([1.0, 2.0, 3.0], table)
