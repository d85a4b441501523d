"""Rank groups and ranges of ranks: by hand, and what must hold of any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.statistics.rank_groups import rank_groups, rank_ranges


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


def test_ranges_by_hand() -> None:
    # Of the sample of Clusters: the best differs from all others, and the second from the last alone.
    apart = symmetric(5, [(0, 1), (0, 2), (0, 3), (0, 4), (1, 4)])
    assert rank_ranges([1, 2, 3, 4, 5], apart) == [(1, 1), (2, 4), (2, 5), (2, 5), (3, 5)]
    # A group that compares with its best alone says that the last is apart from all.
    assert rank_groups([1.0, 2.0, 3.0, 4.0, 5.0], apart).tolist() == [1, 2, 2, 2, 3]
    # Who has no rank is not counted, whoever differs from it.
    assert rank_ranges([1, np.nan, 2], symmetric(3, [(0, 1), (1, 2)])) == [(1, 2), None, (1, 2)]
    assert rank_ranges([], np.zeros((0, 0))) == [] and rank_ranges([np.nan], [[False]]) == [None]


def test_equal_ranks_are_neither_better_nor_worse() -> None:
    assert rank_ranges([1, 1, 3], symmetric(3, [(0, 1), (1, 2)])) == [(1, 3), (1, 2), (2, 3)]


@settings(max_examples=100)
@given(st.integers(1, 7), st.integers(0, 10_000), st.booleans())
def test_ranges_are_those_of_the_comparisons(n: int, seed: int, tied: bool) -> None:
    random = np.random.default_rng(seed)
    scores = random.integers(0, n, n) if tied else random.permutation(n)
    ranks = 1.0 + (scores[None, :] < scores[:, None]).sum(axis=1)  # equal scores share the better rank
    without = random.random(n) < 0.2
    ranks = np.where(without, np.nan, ranks)
    ranks = np.where(without, np.nan, 1.0 + (ranks[None, :] < ranks[:, None]).sum(axis=1))
    n_ranked = int((~without).sum())
    apart = symmetric(n, [tuple(random.integers(0, n, 2)) for _ in range(n)])
    np.fill_diagonal(apart, False)
    ranges = rank_ranges(ranks, apart)
    assert [places is None for places in ranges] == without.tolist()
    for model, places in enumerate(ranges):
        if places is None:
            continue
        first, last = places
        assert 1 <= first <= ranks[model] <= last <= n_ranked
        others = [other for other in range(n) if ranges[other] is not None and ranks[other] != ranks[model]]
        # Whoever may have every place differs from nobody, and the other way round.
        assert (places == (1, n_ranked)) == (not any(apart[model, other] for other in others))
    order = random.permutation(n)
    assert rank_ranges(ranks[order], apart[np.ix_(order, order)]) == [ranges[model] for model in order]


@settings(max_examples=50)
@given(st.integers(1, 7), st.integers(0, 10_000))
def test_without_a_difference_every_place_is_possible_and_with_all_of_them_the_rank_alone(n: int, seed: int) -> None:
    ranks = np.random.default_rng(seed).permutation(n) + 1.0
    assert rank_ranges(ranks, np.zeros((n, n))) == [(1, n)] * n
    assert rank_ranges(ranks, ~np.eye(n, dtype=bool)) == [(rank, rank) for rank in ranks]


@settings(max_examples=50)
@given(st.integers(2, 7), st.integers(0, 10_000))
def test_one_place_each_says_that_every_two_models_differ(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    ranks = random.permutation(n) + 1.0
    apart = symmetric(n, [pair for pair in zip(*np.triu_indices(n, 1), strict=True) if random.random() < 0.9])
    is_one_place = all(places is not None and places[0] == places[1] for places in rank_ranges(ranks, apart))
    assert is_one_place == bool((apart | np.eye(n, dtype=bool)).all())


@pytest.mark.parametrize("table", [np.zeros((2, 2)), np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])])
def test_a_table_that_does_not_fit_gives_no_ranges(table: np.ndarray) -> None:
    with pytest.raises(InputError, match="symmetric table"):
        rank_ranges([1.0, 2.0, 3.0], table)
