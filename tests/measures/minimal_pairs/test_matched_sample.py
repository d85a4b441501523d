"""The matched sample: by hand, against counting, and its balance."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.minimal_pairs.matched_sample import matched_sample

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
