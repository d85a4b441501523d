"""The best of several references: by hand, against a loop, and what does not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InputError
from engine.measures.best_reference import best_references, greatest_scores


def test_by_hand() -> None:
    # row 1: 0.2, 0.7, 0.7: the greatest is 0.7, of the second; row 2: nothing; row 3: nan, then -0.1
    scores, counts = [0.2, 0.7, 0.7, np.nan, np.nan, -0.1], [3, 1, 2]
    np.testing.assert_array_equal(greatest_scores(scores, counts), [0.7, np.nan, -0.1])
    assert best_references(scores, counts).tolist() == [1, 3, 5]


@given(st.lists(st.lists(st.sampled_from([np.nan, -1.0, 0.0, 0.5, 1.0]), min_size=1, max_size=4), max_size=6))
def test_each_row_is_decided_by_its_own_references(rows: list[list[float]]) -> None:
    scores = [score for row in rows for score in row]
    counts = [len(row) for row in rows]
    chosen, greatest = best_references(scores, counts), greatest_scores(scores, counts)
    start = 0
    for row, best, score in zip(rows, chosen, greatest, strict=True):
        real = [value for value in row if value == value]
        assert best - start == (row.index(max(real)) if real else 0)
        assert score == max(real) if real else np.isnan(score)
        start += len(row)


def test_what_does_not_fit_is_refused() -> None:
    for measure in (greatest_scores, best_references):
        for counts in ([1], [2, 0], [3]):
            with pytest.raises(InputError, match="2 scores do not fit rows of"):
                measure([0.1, 0.2], counts)
