"""The matched sample: by hand, against counting, and its balance."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.minimal_pairs.matched_sample import matched_sample, matched_spread

tokens = st.lists(st.tuples(st.integers(1, 7), st.integers(1, 7)), max_size=40)


def test_by_hand() -> None:
    # d = 0, +1, +1, +1, -1, +2, -3, 0: the equal two, the one -1, one of three +1; +2 and -3 have no counterpart
    a, u = [5, 5, 6, 7, 4, 7, 2, 3], [5, 4, 5, 6, 5, 5, 5, 3]
    kept = matched_sample(a, u)
    assert {0, 4, 7} < set(kept.tolist()) and len(kept) == 4 and not {5, 6} & set(kept.tolist())


def test_the_papers_counts_leave_what_the_smaller_side_has() -> None:
    # Ueda et al. 2024, table 2, JBLiMP under GPT-2: 147 equal, 65 A>U, 119 A<U. Were all differences of one token,
    # 65 of either side would be kept.
    a, u = np.repeat([7, 8, 7], [147, 65, 119]), np.repeat([7, 7, 8], [147, 65, 119])
    kept = matched_sample(a, u)
    assert len(kept) == 147 + 65 + 65


@settings(max_examples=80)
@given(rows=tokens, seed=st.integers(0, 99))
def test_as_many_of_each_size_on_either_side_and_no_more_could_be(rows: list[tuple[int, int]], seed: int) -> None:
    a, u = np.array([one for one, _ in rows], dtype=int), np.array([other for _, other in rows], dtype=int)
    kept = matched_sample(a, u, seed)
    assert kept.tolist() == sorted(set(kept.tolist()))
    given_, left = Counter((a - u).tolist()), Counter((a - u)[kept].tolist())
    assert left[0] == given_[0]
    for size in range(1, 7):
        assert left[size] == left[-size] == min(given_[size], given_[-size])
    np.testing.assert_array_equal(matched_sample(a, u, seed), kept)
    np.testing.assert_array_equal(matched_sample(u, a, seed).size, kept.size)


def test_another_seed_draws_others() -> None:
    a, u = [5] * 200 + [4], [4] * 200 + [5]
    assert len({tuple(matched_sample(a, u, seed)) for seed in range(5)}) > 1


def test_edges() -> None:
    assert matched_sample([], []).tolist() == []
    assert matched_sample([3, 4], [2, 2]).tolist() == []
    with pytest.raises(InputError, match="got 2 and 1"):
        matched_sample([1, 2], [1])


def every_draw(a: np.ndarray, u: np.ndarray) -> list[list[int]]:
    """All matched samples, by enumeration."""
    sides = {value: np.flatnonzero(a - u == value).tolist() for value in set((a - u).tolist())}
    choices = [
        [tuple(rows)] if value == 0 else list(combinations(rows, min(len(rows), len(sides.get(-value, [])))))
        for value, rows in sides.items()
    ]
    return [sorted(row for part in parts for row in part) for parts in product(*choices)]


@settings(max_examples=60)
@given(rows=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4), st.booleans()), min_size=1, max_size=12))
def test_the_spread_is_that_of_all_draws(rows: list[tuple[int, int, bool]]) -> None:
    a, u, right = (np.array(column) for column in zip(*rows, strict=True))
    accuracies = [right[kept].mean() for kept in every_draw(a, u) if kept]
    spread = matched_spread(a, u, right)
    if not accuracies:
        assert np.isnan(spread).all()
        return
    np.testing.assert_allclose(spread, (np.mean(accuracies), np.std(accuracies)), atol=1e-12)


def test_the_spread_by_hand() -> None:
    # d = +1 of four pairs, two of them right, and two of -1, both right: 2 of 4 are drawn. Right among these two are
    # 0, 1 or 2 with 1/6, 4/6, 1/6: of all four drawn 2, 3 or 4, mean 3/4, variance (1/6 + 1/6) / 16 = 1/48.
    spread = matched_spread([2] * 4 + [1] * 2, [1] * 4 + [2] * 2, [True, True, False, False, True, True])
    np.testing.assert_allclose(spread, (3 / 4, np.sqrt(1 / 48)))


def test_the_spread_is_what_many_seeds_have_also_in_a_category() -> None:
    random = np.random.default_rng(2)
    a, u = random.integers(5, 12, 900), random.integers(5, 10, 900)
    right, inside = random.random(900) < 0.3 + 0.4 * (a < u), random.random(900) < 0.4
    draws = [matched_sample(a, u, seed) for seed in range(3000)]
    for counted in (np.ones(900, dtype=bool), inside):
        accuracies = [right[kept][counted[kept]].mean() for kept in draws]
        spread = matched_spread(a, u, right, counted)
        # The standard error of a mean of 3,000, and of a standard deviation (1 / sqrt(2 * 3000) = 1.3%); five of them.
        assert abs(np.mean(accuracies) - spread.mean) < 5 * spread.deviation / np.sqrt(3000) + 1e-4
        assert np.std(accuracies) == pytest.approx(spread.deviation, rel=0.065)


def test_edges_of_the_spread() -> None:
    assert matched_spread([3, 4], [3, 4], [True, False]) == (0.5, 0.0)  # nothing to draw
    assert np.isnan(matched_spread([3, 4], [2, 2], [True, True])).all()
    assert np.isnan(matched_spread([3], [3], [True], [False])).all()
    with pytest.raises(InputError, match="got 2, 2 and 1"):
        matched_spread([1, 2], [1, 2], [True])
